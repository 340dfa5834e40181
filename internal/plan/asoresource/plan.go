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

// Check finds everything that cannot be right in the documents of the object.
func Check(in Input) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]Document{}
	for _, d := range in.Mine() {
		if wrong := misnamed(d); wrong != nil {
			errs = append(errs, wrong)
			continue
		}
		id, err := in.ID(d)
		if err != nil {
			wrong, _ := fieldError(err, d.Path)
			if wrong != nil {
				errs = append(errs, wrong)
			}
			_, _, more := in.body(d, "")
			errs = append(errs, more...)
			continue
		}
		if other, twice := seen[id.Key()]; twice {
			errs = append(errs, field.Duplicate(d.Path, fmt.Sprintf("the resource %s, which is that of %s, too", id.ShortName(), other)))
			continue
		}
		seen[id.Key()] = d
		_, _, wrong := in.body(d, id)
		errs = append(errs, wrong...)
	}
	return append(errs, colliding(in.Mine(), in.Cluster)...)
}

// Plan is the desired state of the documents of the object. The error is that of a graph that does not hold together, which is
// a bug and not bad input.
func Plan(in Input) (*arm.Graph, error) {
	g := &arm.Graph{}
	sent := Memory(in)
	for _, d := range in.Mine() {
		if id, err := in.ID(d); err == nil && !g.Has(id) {
			g.Add(in.node(d, id, sent))
		}
	}
	edges(in, g)
	sent.Apply(g)
	return g, g.Validate()
}

// Unplaced are the documents of the object whose resource has no ID yet, with what each waits for.
func Unplaced(in Input) map[string]string {
	out := map[string]string{}
	for _, d := range in.Mine() {
		if _, err := in.ID(d); err != nil {
			if wrong, waits := fieldError(err, d.Path); wrong == nil {
				out[d.Key()] = waits
			}
		}
	}
	return out
}

// node is the node of a document.
func (in Input) node(d Document, id arm.ID, sent memory.Memory) arm.Node {
	node := arm.Node{ID: id, Policy: arm.Repair, Foreign: in.foreign(id), Group: infrav1.ResourcesReadyCondition}
	switch d.Annotations[PolicyAnnotation] {
	case Skip:
		return arm.Node{ID: id, Policy: arm.Observe, Group: infrav1.ResourcesReadyCondition, Blocked: in.waits(d, id), Refused: in.unreadable(id)}
	case Detach:
		node.Detached = true
	}
	body, blocked, errs := in.body(d, id)
	if len(errs) > 0 {
		node.Refused = errs.ToAggregate().Error()
		return node
	}
	if node.Blocked = in.waits(d, id); node.Blocked == "" {
		node.Blocked = blocked
	}
	if id.Type() == types.AgentPool && node.Blocked == "" {
		version, _ := object(body.Properties["properties"])["orchestratorVersion"].(string)
		node.Blocked = aks.Outruns(id.Parent().Name(), aks.Observe(in.fact(id.Parent())), version)
	}
	if id.Type() == types.ManagedCluster && len(aks.Observe(in.fact(id)).Properties.AgentPoolProfiles) == 0 {
		definition, _ := definitionOf(d)
		profiles, blocked, refused := in.profiles(id, definition)
		if node.Refused = refused; node.Blocked == "" {
			node.Blocked = blocked
		}
		body.Properties["properties"] = joined(object(body.Properties["properties"]), "agentPoolProfiles", profiles)
	}
	node.PlannedWithTag = in.tag(id, body.Properties)
	retract(d, sent, &node, body.Properties, len(in.fact(id)) > 0)
	return node
}

func object(value any) map[string]any {
	out, _ := value.(map[string]any)
	return out
}

func definitionOf(d Document) (schema.Definition, bool) {
	resourceType, _ := d.Type()
	apiVersion, _ := d.APIVersion()
	return schema.NearestDefinition(resourceType, apiVersion)
}

// body is the completed body of a document, and what it waits for.
func (in Input) body(d Document, id arm.ID) (body Body, blocked string, errs field.ErrorList) {
	d.Spec = copied(d.Spec).(map[string]any)
	resourceType, _ := d.Type()
	if in.isFirst(d) {
		switch resourceType {
		case types.ManagedCluster:
			errs = in.cluster(d)
			if version, ok := d.Spec["kubernetesVersion"].(string); ok {
				have := aks.Observe(in.fact(id)).Properties
				if d.Spec["kubernetesVersion"] = aks.Alias(version, have.KubernetesVersion, have.CurrentKubernetesVersion); upgrades(d) {
					d.Spec["kubernetesVersion"] = runs(version, have.KubernetesVersion, have.CurrentKubernetesVersion)
				}
			}
		case types.AgentPool:
			errs = in.pool(d, id)
		}
	}
	body, wrong := in.Translate(d, &in.Values)
	for key := range object(body.Properties["tags"]) {
		if infrav1.Marks(key) {
			wrong = append(wrong, field.Forbidden(d.Path.Child("spec", "tags").Key(key), "tells whose a resource is, which the provider says"))
		}
	}
	if len(body.Waits) > 0 {
		blocked = "waits for " + strings.Join(body.Waits, "; ")
	}
	return body, blocked, append(errs, wrong...)
}

// upgrades tells whether AKS raises the version of a cluster by itself.
func upgrades(d Document) bool {
	channel, _ := object(d.Spec["autoUpgradeProfile"])["upgradeChannel"].(string)
	return channel != "" && channel != "none" && channel != "node-image"
}

// foreign says what becomes of a resource that is there already: a group is used as it is, everything else is adopted. An
// identity of another namespace must not reach either.
func (in Input) foreign(id arm.ID) arm.ForeignAction {
	switch {
	case in.Bound():
		return arm.RefuseForeign
	case id.Type() == types.ResourceGroup:
		return arm.UseForeign
	}
	return arm.AdoptForeign
}

// tag marks a resource as the Cluster's where it is new or is marked already, and tells whether it has. One that is adopted gets no
// mark, so that adopting what is as its document says writes nothing.
func (in Input) tag(id arm.ID, body map[string]any) bool {
	row, err := types.ForID(id)
	if err != nil || !row.Taggable {
		return false
	}
	marks := in.marks()
	have := tagsOf(in.fact(id))
	if len(in.fact(id)) > 0 && !marked(have, in.Cluster) && in.foreign(id) == arm.AdoptForeign {
		return false
	}
	tags := maps.Clone(object(body["tags"]))
	if tags == nil {
		tags = map[string]any{}
	}
	for key, value := range marks {
		tags[key] = value
	}
	body["tags"] = tags
	return true
}

func marked(tags map[string]string, cluster string) bool {
	for key, value := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(cluster)) && value == infrav1.TagOwned {
			return true
		}
	}
	return false
}

func tagsOf(raw json.RawMessage) map[string]string {
	var out struct {
		Tags map[string]string `json:"tags"`
	}
	_ = json.Unmarshal(raw, &out) // What cannot be read has no tags.
	return out.Tags
}

// waits is what a document waits for in what other objects make: its owner, and what it refers to.
func (in Input) waits(d Document, id arm.ID) string {
	for _, needed := range append([]arm.ID{id.Parent()}, in.mentions(d, id)...) {
		raw, asked := in.Facts[needed.Key()]
		switch {
		case !asked || in.documented(in.Holder, needed):
		case len(raw) == 0:
			return fmt.Sprintf("waits for %s to be made", needed.ShortName())
		case needed.Equal(id.Parent()) && !aks.Settled(raw):
			return fmt.Sprintf("waits for %s: Azure is at work on it", needed.ShortName())
		case needed.Equal(id.Parent()) && in.Bound() && !in.own(needed):
			return fmt.Sprintf("waits for %s to be the Cluster's: with an AzureClusterIdentity of another namespace, documents make nothing outside of that", needed.ShortName())
		}
	}
	return ""
}

// edges has nodes come after those that their bodies mention.
func edges(in Input, g *arm.Graph) {
	for _, d := range in.Mine() {
		id, err := in.ID(d)
		node := g.Node(id)
		if err != nil || node == nil {
			continue
		}
		seen := map[string]bool{}
		for _, mentioned := range in.mentions(d, id) {
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

// keeps are the types that keep what a request leaves out, so that its absence has to be said.
var keeps = map[string]armschema.Kind{types.ManagedCluster: armschema.ManagedCluster, types.AgentPool: armschema.AgentPool}

// retract gives a node its body, which takes back what earlier plans sent and it has not.
func retract(d Document, sent memory.Memory, node *arm.Node, body map[string]any, exists bool) {
	node.Body, node.PlannedBody = body, body
	kind, ok := keeps[node.ID.Type()]
	if !ok || !exists {
		return
	}
	dropped := slices.DeleteFunc(sent.Dropped(node), func(path string) bool { return strings.HasPrefix(path, "/tags/") })
	apiVersion, _ := d.APIVersion()
	node.Body, node.UnremovablePaths = armschema.Retract(kind, apiVersion, body, dropped)
}

func copied(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			out[key] = copied(inner)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, inner := range value {
			out[i] = copied(inner)
		}
		return out
	}
	return value
}
