package asoresource

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
)

// CheckManifests finds everything that cannot be right in the documents of the object.
func CheckManifests(in Input) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]Manifest{}
	for _, d := range in.OwnManifests() {
		if wrong := checkResourceName(d); wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		id, err := in.ResourceID(d)
		if err != nil {
			wrong, _ := toFieldError(err, d.Path)
			if wrong != nil {
				errs = append(errs, wrong)
			}
			_, _, more := in.buildBody(d, "")
			errs = append(errs, more...)
			continue
		}
		if other, twice := seen[id.Key()]; twice {
			errs = append(errs, field.Duplicate(d.Path, fmt.Sprintf("the resource %s, which is that of %s, too", id.ShortName(), other)))
			continue
		}
		seen[id.Key()] = d
		_, _, wrong := in.buildBody(d, id)
		errs = append(errs, wrong...)
	}
	return append(errs, checkDestinationCollisions(in.OwnManifests(), in.Cluster)...)
}

// BuildPlan is the desired state of the documents of the object. The error is that of a graph that does not hold together, which is
// a bug and not bad input.
func BuildPlan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	lastApplied := LastApplied(in)
	for _, d := range in.OwnManifests() {
		if id, err := in.ResourceID(d); err == nil && !g.Has(id) {
			g.Add(in.buildNode(d, id, lastApplied))
		}
	}
	addDependencies(in, g)
	lastApplied.Apply(g)
	return g, g.Validate()
}

// ListWaitingForID are the documents of the object whose resource has no ID yet, with what each waits for.
func ListWaitingForID(in Input) map[string]string {
	out := map[string]string{}
	for _, d := range in.OwnManifests() {
		if _, err := in.ResourceID(d); err != nil {
			if wrong, waits := toFieldError(err, d.Path); wrong == nil {
				out[d.Key()] = waits
			}
		}
	}
	return out
}

// buildNode is the node of a document.
func (in Input) buildNode(d Manifest, id arm.ID, lastApplied memory.Memory) arm.Node {
	node := arm.Node{ID: id, Policy: arm.Repair, Foreign: in.foreignAction(id), Group: infrav1.ResourcesReadyCondition}
	switch d.Annotations[PolicyAnnotation] {
	case PolicySkip:
		return arm.Node{ID: id, Policy: arm.Observe, Group: infrav1.ResourcesReadyCondition, Blocked: in.waitReason(d, id), Refused: in.readRefusalReason(id)}
	case PolicyDetach:
		node.Detached = true
	}
	body, blocked, errs := in.buildBody(d, id)
	if len(errs) > 0 {
		node.Refused = errs.ToAggregate().Error()
		return node
	}
	if node.Blocked = in.waitReason(d, id); node.Blocked == "" {
		node.Blocked = blocked
	}
	if id.Type() == types.AgentPool && node.Blocked == "" {
		version, _ := toObject(body.Properties["properties"])["orchestratorVersion"].(string)
		node.Blocked = aks.VersionWaitReason(id.Parent().Name(), aks.ObserveCluster(in.observedResource(id.Parent())), version)
	}
	if id.Type() == types.ManagedCluster && len(aks.ObserveCluster(in.observedResource(id)).Properties.AgentPoolProfiles) == 0 {
		definition, _ := findDefinition(d)
		profiles, blocked, refused := in.buildPoolProfiles(id, definition)
		if node.Refused = refused; node.Blocked == "" {
			node.Blocked = blocked
		}
		body.Properties["properties"] = withProperty(toObject(body.Properties["properties"]), "agentPoolProfiles", profiles)
	}
	node.PlannedWithTag = in.addOwnershipTags(id, body.Properties)
	setBody(d, lastApplied, &node, body.Properties, len(in.observedResource(id)) > 0)
	return node
}

func toObject(value any) map[string]any {
	out, _ := value.(map[string]any)
	return out
}

func findDefinition(d Manifest) (schema.Definition, bool) {
	resourceType, _ := d.ResourceType()
	apiVersion, _ := d.APIVersion()
	return schema.NearestDefinition(resourceType, apiVersion)
}

// buildBody is the completed body of a document, and what it waits for.
func (in Input) buildBody(d Manifest, id arm.ID) (body Body, blocked string, errs field.ErrorList) {
	d.Spec = deepCopy(d.Spec).(map[string]any)
	resourceType, _ := d.ResourceType()
	if in.isFirst(d) {
		switch resourceType {
		case types.ManagedCluster:
			errs = in.completeManagedCluster(d)
			if version, ok := d.Spec["kubernetesVersion"].(string); ok {
				have := aks.ObserveCluster(in.observedResource(id)).Properties
				if d.Spec["kubernetesVersion"] = aks.KeepVersionAlias(version, have.KubernetesVersion, have.CurrentKubernetesVersion); upgradesAutomatically(d) {
					d.Spec["kubernetesVersion"] = wantedVersion(version, have.KubernetesVersion, have.CurrentKubernetesVersion)
				}
			}
		case types.AgentPool:
			errs = in.completeAgentPool(d, id)
		}
	}
	body, wrong := in.TranslateManifest(d, &in.Values)
	for key := range toObject(body.Properties["tags"]) {
		if infrav1.Marks(key) {
			wrong = append(wrong, field.Forbidden(d.Path.Child("spec", "tags").Key(key), "tells whose a resource is, which the provider says"))
		}
	}
	if len(body.Missing) > 0 {
		blocked = "waits for " + strings.Join(body.Missing, "; ")
	}
	return body, blocked, append(errs, wrong...)
}

// upgradesAutomatically tells whether AKS raises the version of a cluster by itself.
func upgradesAutomatically(d Manifest) bool {
	channel, _ := toObject(d.Spec["autoUpgradeProfile"])["upgradeChannel"].(string)
	return channel != "" && channel != "none" && channel != "node-image"
}

// foreignAction says what becomes of a resource that is there already: a group is used as it is, everything else is adopted. An
// identity of another namespace must not reach either.
func (in Input) foreignAction(id arm.ID) arm.ForeignAction {
	switch {
	case in.UsesLentIdentity():
		return arm.RefuseForeign
	case id.Type() == types.ResourceGroup:
		return arm.UseForeign
	}
	return arm.AdoptForeign
}

// addOwnershipTags marks a resource as the Cluster's where it is new or is marked already, and tells whether it has. One that is adopted gets no
// mark, so that adopting what is as its document says writes nothing.
func (in Input) addOwnershipTags(id arm.ID, body map[string]any) bool {
	row, err := types.ForID(id)
	if err != nil || !row.Taggable {
		return false
	}
	marks := in.ownershipTags()
	have := readTags(in.observedResource(id))
	if len(in.observedResource(id)) > 0 && !hasClusterTag(have, in.Cluster) && in.foreignAction(id) == arm.AdoptForeign {
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

func hasClusterTag(tags map[string]string, cluster string) bool {
	for key, value := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(cluster)) && value == infrav1.TagOwned {
			return true
		}
	}
	return false
}

func readTags(raw json.RawMessage) map[string]string {
	var out struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(raw, &out) // What cannot be read has no tags.
	return out.Tags
}

// waitReason is what a document waits for in what other objects make: its owner, and what it refers to.
func (in Input) waitReason(d Manifest, id arm.ID) string {
	for _, needed := range append([]arm.ID{id.Parent()}, in.referencedIDs(d, id)...) {
		raw, asked := in.Facts[needed.Key()]
		switch {
		case !asked || in.declares(in.ObjectKey, needed):
		case len(raw) == 0:
			return fmt.Sprintf("waits for %s to be made", needed.ShortName())
		case needed.Equal(id.Parent()) && !aks.IsInTerminalState(raw):
			return fmt.Sprintf("waits for %s: Azure is at work on it", needed.ShortName())
		case needed.Equal(id.Parent()) && in.UsesLentIdentity() && !in.hasClusterTags(needed):
			return fmt.Sprintf("waits for %s to be the Cluster's: with an AzureClusterIdentity of another namespace, documents make nothing outside of that", needed.ShortName())
		}
	}
	return ""
}

// addDependencies has nodes come after those that their bodies mention.
func addDependencies(in Input, g *arm.Graph) {
	for _, d := range in.OwnManifests() {
		id, err := in.ResourceID(d)
		node := g.Node(id)
		if err != nil || node == nil {
			continue
		}
		seen := map[string]bool{}
		for _, mentioned := range in.referencedIDs(d, id) {
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

// patchedTypes are the types that keep what a request leaves out, so that its absence has to be said.
var patchedTypes = map[string]armschema.Kind{types.ManagedCluster: armschema.ManagedCluster, types.AgentPool: armschema.AgentPool}

// setBody gives a node its body, which takes back what earlier plans sent and it has not.
func setBody(d Manifest, lastApplied memory.Memory, node *arm.Node, body map[string]any, exists bool) {
	node.Body, node.PlannedBody = body, body
	kind, ok := patchedTypes[node.ID.Type()]
	if !ok || !exists {
		return
	}
	dropped := slices.DeleteFunc(lastApplied.Dropped(node), func(path string) bool { return strings.HasPrefix(path, "/tags/") })
	apiVersion, _ := d.APIVersion()
	node.Body, node.UnremovablePaths = armschema.ResetDropped(kind, apiVersion, body, dropped)
}

func deepCopy(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			out[key] = deepCopy(inner)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			out[i] = deepCopy(inner)
		}
		return out
	}
	return value
}
