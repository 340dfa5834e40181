package asoresource

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// CheckManifests returns all errors in the manifests of the object.
func CheckManifests(in Input) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]Manifest{}
	for _, m := range in.OwnManifests() {
		if wrong := checkResourceName(m); wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		id, err := in.ResourceID(m)
		if err != nil {
			wrong, _ := toFieldError(err, m.Path)
			if wrong != nil {
				errs = append(errs, wrong)
			}
			_, _, more := in.buildBody(m, "")
			errs = append(errs, more...)
			continue
		}
		if other, twice := seen[id.Key()]; twice {
			errs = append(errs, field.Duplicate(m.Path, fmt.Sprintf("the resource %s, which %s has, too", id.ShortName(), other)))
			continue
		}
		seen[id.Key()] = m
		if taken := in.checkSharedPool(m, id); taken != nil {
			errs = append(errs, taken)
			continue
		}
		_, _, wrong := in.buildBody(m, id)
		errs = append(errs, wrong...)
	}
	return append(errs, checkDestinationCollisions(in.OwnManifests(), in.Cluster)...)
}

// BuildPlan returns the desired state of the manifests of the object. An error means an inconsistent graph, which is a bug and not
// invalid input.
func BuildPlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	lastApplied := LastApplied(in)
	for _, m := range in.OwnManifests() {
		if id, err := in.ResourceID(m); err == nil && !g.Has(id) {
			g.Add(in.buildNode(m, id, lastApplied))
		}
	}
	addDependencies(in, g)
	lastApplied.AddRemovals(g)
	return g, g.Validate()
}

// ListWaitingForID returns the manifests of the object whose resource has no ID yet, with the reason.
func ListWaitingForID(in Input) map[string]string {
	out := map[string]string{}
	for _, m := range in.OwnManifests() {
		if _, err := in.ResourceID(m); err != nil {
			if wrong, waits := toFieldError(err, m.Path); wrong == nil {
				out[m.Key()] = waits
			}
		}
	}
	return out
}

// buildNode returns the node of a manifest.
func (in Input) buildNode(m Manifest, id arm.ID, lastApplied applied.State) arm.Node {
	node := arm.Node{ID: id, Policy: arm.Repair, Foreign: in.foreignAction(id), Group: infrav1.ResourcesReadyCondition}
	switch m.Annotations[PolicyAnnotation] {
	case PolicySkip:
		return arm.Node{ID: id, Policy: arm.Observe, Detached: true, Group: infrav1.ResourcesReadyCondition, Blocked: in.waitReason(m, id),
			Refused: in.readRefusalReason(id)}
	case PolicyDetach:
		node.Detached = true
	}
	body, blocked, errs := in.buildBody(m, id)
	if len(errs) > 0 {
		node.Refused = errs.ToAggregate().Error()
		return node
	}
	if node.Blocked = in.waitReason(m, id); node.Blocked == "" {
		node.Blocked = blocked
	}
	node.PlannedWithTag = in.addOwnershipTags(id, body.Properties)
	in.setBody(m, lastApplied, &node, body.Properties)
	return node
}

func toObject(value any) map[string]any {
	out, _ := value.(map[string]any)
	return out
}

// buildBody returns the completed body of a manifest, and the reason to wait if it refers to something that does not exist yet.
func (in Input) buildBody(m Manifest, id arm.ID) (body aso.Body, blocked string, errs field.ErrorList) {
	if wrong := in.checkUncheckedKind(m); wrong != nil {
		return aso.Body{}, "", field.ErrorList{wrong}
	}
	m.Spec = jsonpath.CloneObject(m.Spec)
	resourceType, _ := m.ResourceType()
	first := in.isFirst(m)
	switch resourceType {
	case types.ManagedCluster:
		if first {
			errs = in.completeManagedCluster(m, id)
		}
		setWantedVersion(m, "kubernetesVersion", managedcluster.Observe(in.observedResource(id)).Version())
	case types.AgentPool:
		if first {
			errs = in.completeAgentPool(m, id)
		}
		setWantedVersion(m, "orchestratorVersion", agentpool.Observe(in.observedResource(id)).Version())
	}
	body, wrong := in.TranslateManifest(m, &in.Values)
	switch properties := toObject(body.Properties["properties"]); {
	case resourceType == types.AgentPool:
		errs = append(errs, in.checkAgentPool(m, id, properties)...)
	case resourceType == types.ManagedCluster && !first: // The first one must not have profiles.
		errs = append(errs, in.checkProfiles(m, id, properties)...)
	}
	for _, key := range slices.Sorted(maps.Keys(toObject(body.Properties["tags"]))) {
		if infrav1.Marks(key) {
			wrong = append(wrong, field.Forbidden(m.Path.Child("spec", "tags").Key(key),
				"is an ownership tag, which only the provider sets. Leave it out."))
		}
	}
	if len(body.Missing) > 0 {
		blocked = "waits for " + strings.Join(body.Missing, "; ")
	}
	return body, blocked, append(errs, wrong...)
}

// foreignAction returns the action for an existing resource: a group is used, other resources are adopted. With an identity of
// another namespace both are refused.
func (in Input) foreignAction(id arm.ID) arm.ForeignAction {
	switch {
	case in.UsesLentIdentity():
		return arm.RefuseForeign
	case id.Type() == types.ResourceGroup:
		return arm.UseForeign
	}
	return arm.AdoptForeign
}

// addOwnershipTags adds the ownership tags if the resource is new or has the Cluster's tag already, and reports whether it did. An
// adopted resource gets no tag, so that adopting a resource that equals its manifest writes nothing.
func (in Input) addOwnershipTags(id arm.ID, body map[string]any) bool {
	row, err := types.ForID(id)
	if err != nil || !row.Taggable {
		return false
	}
	marks := in.ownershipTags()
	have := readTags(in.observedResource(id))
	if len(in.observedResource(id)) > 0 && !ownership.HasClusterTag(have, in.Cluster) && in.foreignAction(id) == arm.AdoptForeign {
		return false
	}
	tags := maps.Clone(toObject(body["tags"]))
	if tags == nil {
		tags = map[string]any{}
	}
	for key, value := range marks {
		tags[key] = value
	}
	body["tags"] = tags
	return true
}

func readTags(raw json.RawMessage) map[string]string {
	var out struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(raw, &out) // An unreadable resource has no tags.
	return out.Tags
}

// waitReason returns the reason why a manifest waits for resources of other objects: its owner, and those that it refers to. It is
// "" if it need not wait.
func (in Input) waitReason(m Manifest, id arm.ID) string {
	for _, needed := range append([]arm.ID{id.Parent()}, in.referencedIDs(m, id)...) {
		raw, asked := in.Facts[needed.Key()]
		switch {
		case !asked || in.declares(in.ObjectKey, needed):
		case len(raw) == 0:
			return fmt.Sprintf("waits for %s to be created", needed.ShortName())
		case needed.Equal(id.Parent()) && id.Type() != types.AgentPool && !managedcluster.IsInTerminalState(raw):
			return fmt.Sprintf("waits for %s: an operation of Azure is in progress", needed.ShortName())
		case needed.Equal(id.Parent()) && in.UsesLentIdentity() && !in.hasClusterTags(needed):
			return fmt.Sprintf("waits for %s to belong to the Cluster: with an AzureClusterIdentity of another namespace, manifests cannot create resources elsewhere", needed.ShortName())
		}
	}
	return ""
}

// addDependencies makes nodes depend on the nodes that their bodies refer to.
func addDependencies(in Input, g *arm.Graph) {
	for _, m := range in.OwnManifests() {
		id, err := in.ResourceID(m)
		node := g.Node(id)
		if err != nil || node == nil {
			continue
		}
		seen := map[string]bool{}
		for _, mentioned := range in.referencedIDs(m, id) {
			for target := mentioned; target != ""; target = target.Parent() {
				if seen[target.Key()] {
					break
				}
				before := g.Node(target)
				if before != nil && !id.IsWithin(target) && !target.IsWithin(id) && target.Type() != types.ResourceGroup {
					seen[target.Key()] = true
					node.After = append(node.After, before.ID)
					break
				}
			}
		}
	}
}

// setBody sets the body of a node, for AKS clusters and pools by the rules of AKS. A cluster is created with its pools, and a pool waits
// for its cluster. Nothing in a stopped cluster is written.
func (in Input) setBody(m Manifest, lastApplied applied.State, node *arm.Node, body map[string]any) {
	apiVersion, _ := m.APIVersion()
	switch observed := in.observedResource(node.ID); node.ID.Type() {
	case types.ManagedCluster:
		have := managedcluster.Observe(observed)
		managedcluster.SetBody(node, lastApplied, apiVersion, have, body)
		if !have.NeedsPools() {
			return
		}
		definition, _ := findDefinition(m)
		profiles, blocked, refused := in.buildPoolProfiles(node.ID, definition, body)
		node.Refused, node.Blocked = refused, cmp.Or(node.Blocked, blocked)
		managedcluster.AddProfiles(node, profiles)
	case types.AgentPool:
		have := agentpool.Observe(observed)
		power := ""
		if m.DeclaredIn == in.ObjectKey && in.isFirst(m) {
			power = in.PowerState
		}
		cluster := managedcluster.Observe(in.observedResource(node.ID.Parent()))
		agentpool.SetBody(node, lastApplied, apiVersion, cluster, have, body, power)
		node.Refused = in.versionTooNewReason(m, node.ID.Parent())
		if cluster.Exists && node.Blocked == "" {
			node.Blocked = agentpool.WaitReason(node.ID.Parent().Name(), cluster, have,
				jsonpath.GetText(body, "properties.orchestratorVersion"))
		}
	default:
		node.Body, node.PlannedBody = body, body
		if cluster := node.ID.Parent(); cluster.Type() == types.ManagedCluster {
			node.WriteBlocked = managedcluster.Observe(in.observedResource(cluster)).WriteBlockedReason(cluster.Name())
		}
	}
}
