package asoresource

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/memory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Origin is what an object with documents tells about its own origin.
type Origin struct {
	// Created is metadata.creationTimestamp. The API server sets it, in whole seconds, and takes it from nobody.
	Created time.Time
	// OwnedKinds is the annotation with the kinds that the established provider applied, "" on objects of this provider. Everybody who
	// may write the object may write it.
	OwnedKinds string
}

// OriginOf returns the origin of an object.
func OriginOf(obj metav1.Object) Origin {
	return Origin{Created: obj.GetCreationTimestamp().Time, OwnedKinds: obj.GetAnnotations()[infrav1.OwnedASOKindsAnnotation]}
}

// applied tells whether the annotation lists the kind of a resource type.
func (o Origin) applied(resourceType string) bool {
	for each := range strings.SplitSeq(o.OwnedKinds, ";") {
		// Kind.version.group
		parts := strings.SplitN(strings.TrimSpace(each), ".", 3)
		if len(parts) != 3 {
			continue
		}
		if of, ok := (Document{Kind: parts[0], Group: parts[2]}).Type(); ok && of == resourceType {
			return true
		}
	}
	return false
}

// createdAfter tells whether Azure created a resource after the object was created. creationTimestamp is cut to seconds.
func (o Origin) createdAfter(created time.Time) bool {
	return !o.Created.IsZero() && created.After(o.Created.Add(time.Second))
}

// Listed is what a list of Resource Manager shows of a resource.
type Listed struct {
	ID arm.ID
	// Created is when Azure created the resource, the zero value where the list does not tell.
	Created time.Time
	Tags    map[string]string
}

// ReadListed decodes elements of lists of resources or resource groups that were asked for createdTime, by the key of their ID.
func ReadListed(items []json.RawMessage) map[string]Listed {
	out := map[string]Listed{}
	for _, item := range items {
		var row struct {
			ID          arm.ID            `json:"id"`
			CreatedTime string            `json:"createdTime"`
			Tags        map[string]string `json:"tags"`
		}
		if json.Unmarshal(item, &row) != nil || row.ID == "" {
			continue
		}
		created, _ := time.Parse(time.RFC3339Nano, row.CreatedTime) // Without a time nothing is proven.
		out[row.ID.Key()] = Listed{ID: row.ID, Created: created, Tags: row.Tags}
	}
	return out
}

// Datable are the resource groups whose contents have to be listed to prove what was made for the object under the established provider,
// and whether the groups themselves have to be listed as well. An object of this provider needs neither. With an identity of another
// namespace nothing is proven, because it reaches resources of others.
func Datable(in Input) (contents []arm.ID, groups bool) {
	if in.Origins[in.Holder].OwnedKinds == "" || in.Bound() {
		return nil, false
	}
	for _, id := range in.candidates() {
		groups = groups || rootOf(id).Type() == types.ResourceGroup
		group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
		if id.ResourceGroup() != "" && !slices.ContainsFunc(contents, group.Equal) {
			contents = append(contents, group)
		}
	}
	return contents, groups
}

// candidates are the resources that the established provider may have made for the object: those of its documents, and those of
// documents that it has had.
func (in Input) candidates() []arm.ID {
	var out []arm.ID
	add := func(id arm.ID) {
		if in.Origins[in.Holder].applied(id.Type()) && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	for _, d := range in.Mine() {
		if id, err := in.ID(d); err == nil && goesWithObject(d) {
			add(id)
		}
	}
	for _, id := range memory.Remembered(in.Object.GetAnnotations(), in.SubscriptionID()) {
		if len(in.With(id)) == 0 {
			add(id)
		}
	}
	return out
}

// goesWithObject tells whether the policy of a document has its resource deleted with it.
func goesWithObject(d Document) bool {
	policy := d.Annotations[PolicyAnnotation]
	return policy != Skip && policy != Detach
}

// Migrated splits the resources that the established provider applied for the object and that carry no ownership tag. proven are those of which
// Azure shows that they were created after the object, so that they were created for it: they are deleted with it. unproven may have
// been there before it, so they stay.
func Migrated(in Input) (proven, unproven []arm.ID) {
	if in.Origins[in.Holder].OwnedKinds == "" {
		return nil, nil
	}
	for _, id := range in.candidates() {
		root := rootOf(id)
		listed, shown := in.Listed[root.Key()]
		tags := listed.Tags
		if !shown {
			tags = tagsOf(in.fact(root))
		}
		switch {
		case in.tagged(tags) || in.detached(id):
			// The tags or the user decide.
		case in.proven(id) && (id.Type() != types.ResourceGroup || len(Unproven(in, id)) == 0):
			proven = append(proven, id)
		case len(in.fact(id)) > 0:
			unproven = append(unproven, id)
		}
	}
	return proven, unproven
}

// detached tells whether the policy of a document has a resource stay: its own, that of what it is below, or of a resource in a group.
func (in Input) detached(id arm.ID) bool {
	for _, d := range in.Documents() {
		other, err := in.ID(d)
		if err == nil && !goesWithObject(d) && (id.IsWithin(other) || id.Type() == types.ResourceGroup && other.IsWithin(id)) {
			return true
		}
	}
	return false
}

func (in Input) ownership() ownership.Owner {
	return ownership.Owner{Cluster: in.Cluster, ID: ownership.Value(in.Owner, in.Cluster)}
}

// tagged tells whether tags say whose a resource is: the Cluster's, another owner's, or no longer the Cluster's.
func (in Input) tagged(tags map[string]string) bool {
	for key := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(in.Cluster)) {
			return true
		}
	}
	return in.ownership().Others(tags) != ""
}

// Unproven are the resources in a resource group that are not proven to be the Cluster's. While there is one, the group stays.
func Unproven(in Input, group arm.ID) []arm.ID {
	var out []arm.ID
	for _, listed := range in.Listed {
		if id := listed.ID; id.IsWithin(group) && !id.Equal(group) && !in.ownership().Owns(listed.Tags) && !in.proven(id) {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// rootOf is the resource whose time of creation and tags count for a resource: itself, or the nearest one above it that carries tags.
// The lists of Resource Manager have those only.
func rootOf(id arm.ID) arm.ID {
	all := above(id)
	if len(all) == 0 {
		return id
	}
	return all[len(all)-1]
}

// proven tells whether a resource was created for an object of the Cluster under the established provider. That an object lists the kind
// proves nothing. The proof is that Azure created the resource after Kubernetes created the object whose document it is:
// both times are set by those who keep them, and a resource that was adopted is older than its object. Below a resource that is
// proven, everything of a document is.
func (in Input) proven(id arm.ID) bool {
	root := rootOf(id)
	listed, ok := in.Listed[root.Key()]
	if !ok || in.Bound() || in.tagged(listed.Tags) {
		return false
	}
	documents := in.With(root)
	if len(documents) == 0 {
		// The object has had a document of it.
		return slices.ContainsFunc(memory.Remembered(in.Object.GetAnnotations(), in.SubscriptionID()), root.Equal) && in.Origins[in.Holder].applied(root.Type()) && in.Origins[in.Holder].createdAfter(listed.Created)
	}
	return !slices.ContainsFunc(documents, func(d Document) bool {
		origin := in.Origins[d.Holder]
		return !goesWithObject(d) || !origin.applied(root.Type()) || !origin.createdAfter(listed.Created)
	})
}
