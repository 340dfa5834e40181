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
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// MigrationOrigin is the data of an object that its migration depends on.
type MigrationOrigin struct {
	// Created is metadata.creationTimestamp. Only the API server sets it, in whole seconds.
	Created time.Time
	// OwnedKinds is the annotation with the kinds that the established provider applied, "" on objects of this provider. Any writer
	// of the object can set it.
	OwnedKinds string
}

// ReadMigrationOrigin returns the MigrationOrigin of an object.
func ReadMigrationOrigin(obj metav1.Object) MigrationOrigin {
	return MigrationOrigin{Created: obj.GetCreationTimestamp().Time, OwnedKinds: obj.GetAnnotations()[infrav1.OwnedASOKindsAnnotation]}
}

// listsKindOf reports whether the annotation lists the kind of a resource type.
func (o MigrationOrigin) listsKindOf(resourceType string) bool {
	for each := range strings.SplitSeq(o.OwnedKinds, ";") {
		// Kind.version.group
		parts := strings.SplitN(strings.TrimSpace(each), ".", 3)
		if len(parts) != 3 {
			continue
		}
		if of, ok := aso.ResourceTypeOf(parts[2], parts[0]); ok && of == resourceType {
			return true
		}
	}
	return false
}

// isBefore reports whether the object was created before a resource in Azure. creationTimestamp is truncated to seconds.
func (o MigrationOrigin) isBefore(created time.Time) bool {
	return !o.Created.IsZero() && created.After(o.Created.Add(time.Second))
}

// ListedResource is a resource in a list of Resource Manager.
type ListedResource struct {
	ID arm.ID
	// Created is the time of creation in Azure, zero if the list does not contain it.
	Created time.Time
	Tags    map[string]string
}

// ReadListedResources decodes the elements of lists of resources or resource groups with createdTime, by the key of their ID.
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
		created, _ := time.Parse(time.RFC3339Nano, row.CreatedTime) // The zero time proves nothing.
		out[row.ID.Key()] = ListedResource{ID: row.ID, Created: created, Tags: row.Tags}
	}
	return out
}

// GroupsToList returns the resource groups whose contents are needed to prove which resources were created for the object under the
// established provider, and whether the list of groups is needed, too. Objects of this provider need neither. With an identity of
// another namespace nothing can be proven, because it can reach resources of others.
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

// migrationCandidates returns the resources that the established provider may have created for the object: those of its current
// manifests, and those of removed ones.
func (in Input) migrationCandidates() []arm.ID {
	var out []arm.ID
	add := func(id arm.ID) {
		if in.Origins[in.ObjectKey].listsKindOf(id.Type()) && !slices.ContainsFunc(out, id.Equal) {
			out = append(out, id)
		}
	}
	for _, m := range in.OwnManifests() {
		if id, err := in.ResourceID(m); err == nil && isDeletedWithObject(m) {
			add(id)
		}
	}
	for _, id := range applied.AppliedResources(in.Object.GetAnnotations(), in.SubscriptionID()) {
		if len(in.ManifestsOf(id)) == 0 {
			add(id)
		}
	}
	return out
}

// isDeletedWithObject reports whether the policy of a manifest lets its resource be deleted with it.
func isDeletedWithObject(m Manifest) bool {
	policy := m.Annotations[PolicyAnnotation]
	return policy != PolicySkip && policy != PolicyDetach
}

// SplitMigrated returns the resources without ownership tag that the established provider applied for the object. Azure shows that
// the proven ones were created after the object, so they were created for it and are deleted with it. The unproven ones may be
// older, so they are kept.
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
			// The tags or the policy decide.
		case in.isProven(id) && (id.Type() != types.ResourceGroup || len(UnprovenInGroup(in, id)) == 0):
			proven = append(proven, id)
		case len(in.observedResource(id)) > 0:
			unproven = append(unproven, id)
		}
	}
	return proven, unproven
}

// isKeptByPolicy reports whether the policy of a manifest keeps a resource: its own manifest, that of a parent, or for a group that
// of a resource in it.
func (in Input) isKeptByPolicy(id arm.ID) bool {
	for _, m := range in.Manifests() {
		other, err := in.ResourceID(m)
		if err == nil && !isDeletedWithObject(m) && (id.IsWithin(other) || id.Type() == types.ResourceGroup && other.IsWithin(id)) {
			return true
		}
	}
	return false
}

func (in Input) clusterOwner() ownership.Owner {
	return ownership.Owner{Cluster: in.Cluster, ID: ownership.OwnerTagValue(in.Owner, in.Cluster)}
}

// hasOwnershipTag reports whether the tags determine the owner of a resource: the Cluster, another owner, or a former tag of the
// Cluster.
func (in Input) hasOwnershipTag(tags map[string]string) bool {
	for key := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(in.Cluster)) {
			return true
		}
	}
	return in.clusterOwner().FindOtherOwnersTag(tags) != ""
}

// UnprovenInGroup returns the resources in a resource group that are not proven to belong to the Cluster. While there is one, the
// group is kept.
func UnprovenInGroup(in Input, group arm.ID) []arm.ID {
	var out []arm.ID
	for _, listed := range in.ListedResources {
		if id := listed.ID; id.IsWithin(group) && !id.Equal(group) && !in.clusterOwner().OwnsTags(listed.Tags) && !in.isProven(id) {
			out = append(out, id)
		}
	}
	slices.SortFunc(out, func(a, b arm.ID) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// taggedAncestor returns the resource whose tags and time of creation count for a resource: itself or the nearest parent that can
// carry tags. The lists of Resource Manager contain only such resources.
func taggedAncestor(id arm.ID) arm.ID {
	all := selfAndAncestors(id)
	if len(all) == 0 {
		return id
	}
	return all[len(all)-1]
}

// isProven reports whether a resource was created for an object of the Cluster under the established provider. The list of kinds on
// the object proves nothing. The proof is that Azure created the resource after Kubernetes created the object with its manifest:
// users can set neither time, and an adopted resource is older than its object. All resources of manifests below a proven resource
// are proven.
func (in Input) isProven(id arm.ID) bool {
	root := taggedAncestor(id)
	listed, ok := in.ListedResources[root.Key()]
	if !ok || in.UsesLentIdentity() || in.hasOwnershipTag(listed.Tags) {
		return false
	}
	manifests := in.ManifestsOf(root)
	if len(manifests) == 0 {
		// The object had a manifest of the resource.
		return slices.ContainsFunc(applied.AppliedResources(in.Object.GetAnnotations(), in.SubscriptionID()), root.Equal) &&
			in.Origins[in.ObjectKey].listsKindOf(root.Type()) && in.Origins[in.ObjectKey].isBefore(listed.Created)
	}
	return !slices.ContainsFunc(manifests, func(m Manifest) bool {
		origin := in.Origins[m.DeclaredIn]
		return !isDeletedWithObject(m) || !origin.listsKindOf(root.Type()) || !origin.isBefore(listed.Created)
	})
}
