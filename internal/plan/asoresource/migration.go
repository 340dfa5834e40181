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

// ReadOrigin returns the origin of an object.
func ReadOrigin(obj metav1.Object) Origin {
	return Origin{Created: obj.GetCreationTimestamp().Time, OwnedKinds: obj.GetAnnotations()[infrav1.OwnedASOKindsAnnotation]}
}

// listsKindOf tells whether the annotation lists the kind of a resource type.
func (o Origin) listsKindOf(resourceType string) bool {
	for each := range strings.SplitSeq(o.OwnedKinds, ";") {
		// Kind.version.group
		parts := strings.SplitN(strings.TrimSpace(each), ".", 3)
		if len(parts) != 3 {
			continue
		}
		if of, ok := (Manifest{Kind: parts[0], Group: parts[2]}).ResourceType(); ok && of == resourceType {
			return true
		}
	}
	return false
}

// isBefore tells whether Azure created a resource after the object was created. creationTimestamp is cut to seconds.
func (o Origin) isBefore(created time.Time) bool {
	return !o.Created.IsZero() && created.After(o.Created.Add(time.Second))
}

// ListedResource is what a list of Resource Manager shows of a resource.
type ListedResource struct {
	ID arm.ID
	// Created is when Azure created the resource, the zero value where the list does not tell.
	Created time.Time
	Tags    map[string]string
}

// ReadListedResources decodes elements of lists of resources or resource groups that were asked for createdTime, by the key of their ID.
func ReadListedResources(items []json.RawMessage) map[string]ListedResource {
	out := map[string]ListedResource{}
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
		out[row.ID.Key()] = ListedResource{ID: row.ID, Created: created, Tags: row.Tags}
	}
	return out
}

// GroupsToList are the resource groups whose contents have to be listed to prove what was made for the object under the established provider,
// and whether the groups themselves have to be listed as well. An object of this provider needs neither. With an identity of another
// namespace nothing is proven, because it reaches resources of others.
func GroupsToList(in Input) (contents []arm.ID, groups bool) {
	if in.Origins[in.ObjectKey].OwnedKinds == "" || in.UsesLentIdentity() {
		return nil, false
	}
	for _, id := range in.migrationCandidates() {
		groups = groups || taggedAncestor(id).Type() == types.ResourceGroup
		group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup())
		if id.ResourceGroup() != "" && !slices.ContainsFunc(contents, group.Equal) {
			contents = append(contents, group)
		}
	}
	return contents, groups
}

// migrationCandidates are the resources that the established provider may have made for the object: those of its documents, and those of
// documents that it has had.
func (in Input) migrationCandidates() []arm.ID {
	var out []arm.ID
	add := func(id arm.ID) {
		if in.Origins[in.ObjectKey].listsKindOf(id.Type()) && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	for _, d := range in.OwnManifests() {
		if id, err := in.ResourceID(d); err == nil && isDeletedWithObject(d) {
			add(id)
		}
	}
	for _, id := range memory.Remembered(in.Object.GetAnnotations(), in.SubscriptionID()) {
		if len(in.ManifestsOf(id)) == 0 {
			add(id)
		}
	}
	return out
}

// isDeletedWithObject tells whether the policy of a document has its resource deleted with it.
func isDeletedWithObject(d Manifest) bool {
	policy := d.Annotations[PolicyAnnotation]
	return policy != PolicySkip && policy != PolicyDetach
}

// SplitMigrated splits the resources that the established provider applied for the object and that carry no ownership tag. proven are those of which
// Azure shows that they were created after the object, so that they were created for it: they are deleted with it. unproven may have
// been there before it, so they stay.
func SplitMigrated(in Input) (proven, unproven []arm.ID) {
	if in.Origins[in.ObjectKey].OwnedKinds == "" {
		return nil, nil
	}
	for _, id := range in.migrationCandidates() {
		root := taggedAncestor(id)
		listed, shown := in.ListedResources[root.Key()]
		tags := listed.Tags
		if !shown {
			tags = readTags(in.observedResource(root))
		}
		switch {
		case in.hasOwnershipTag(tags) || in.isKeptByPolicy(id):
			// The tags or the user decide.
		case in.isProven(id) && (id.Type() != types.ResourceGroup || len(UnprovenInGroup(in, id)) == 0):
			proven = append(proven, id)
		case len(in.observedResource(id)) > 0:
			unproven = append(unproven, id)
		}
	}
	return proven, unproven
}

// isKeptByPolicy tells whether the policy of a document has a resource stay: its own, that of what it is below, or of a resource in a group.
func (in Input) isKeptByPolicy(id arm.ID) bool {
	for _, d := range in.Manifests() {
		other, err := in.ResourceID(d)
		if err == nil && !isDeletedWithObject(d) && (id.IsWithin(other) || id.Type() == types.ResourceGroup && other.IsWithin(id)) {
			return true
		}
	}
	return false
}

func (in Input) clusterOwner() ownership.Owner {
	return ownership.Owner{Cluster: in.Cluster, ID: ownership.Value(in.Owner, in.Cluster)}
}

// hasOwnershipTag tells whether tags say whose a resource is: the Cluster's, another owner's, or no longer the Cluster's.
func (in Input) hasOwnershipTag(tags map[string]string) bool {
	for key := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(in.Cluster)) {
			return true
		}
	}
	return in.clusterOwner().Others(tags) != ""
}

// UnprovenInGroup are the resources in a resource group that are not proven to be the Cluster's. While there is one, the group stays.
func UnprovenInGroup(in Input, group arm.ID) []arm.ID {
	var out []arm.ID
	for _, listed := range in.ListedResources {
		if id := listed.ID; id.IsWithin(group) && !id.Equal(group) && !in.clusterOwner().Owns(listed.Tags) && !in.isProven(id) {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// taggedAncestor is the resource whose time of creation and tags count for a resource: itself, or the nearest one above it that carries tags.
// The lists of Resource Manager have those only.
func taggedAncestor(id arm.ID) arm.ID {
	all := selfAndAncestors(id)
	if len(all) == 0 {
		return id
	}
	return all[len(all)-1]
}

// isProven tells whether a resource was created for an object of the Cluster under the established provider. That an object lists the kind
// proves nothing. The proof is that Azure created the resource after Kubernetes created the object whose document it is:
// both times are set by those who keep them, and a resource that was adopted is older than its object. Below a resource that is
// proven, everything of a document is.
func (in Input) isProven(id arm.ID) bool {
	root := taggedAncestor(id)
	listed, ok := in.ListedResources[root.Key()]
	if !ok || in.UsesLentIdentity() || in.hasOwnershipTag(listed.Tags) {
		return false
	}
	documents := in.ManifestsOf(root)
	if len(documents) == 0 {
		// The object has had a document of it.
		return slices.ContainsFunc(memory.Remembered(in.Object.GetAnnotations(), in.SubscriptionID()), root.Equal) && in.Origins[in.ObjectKey].listsKindOf(root.Type()) && in.Origins[in.ObjectKey].isBefore(listed.Created)
	}
	return !slices.ContainsFunc(documents, func(d Manifest) bool {
		origin := in.Origins[d.DeclaredIn]
		return !isDeletedWithObject(d) || !origin.listsKindOf(root.Type()) || !origin.isBefore(listed.Created)
	})
}
