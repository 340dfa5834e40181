// Package ownership builds and reads the owner tag. It distinguishes the owners of clusters with the same name in two
// namespaces or two management clusters.
//
// The value is computed from an ID in the applied annotation of the AzureCluster, AzureManagedControlPlane or AzureASOManagedCluster, which moves with the
// object, from the object's namespace and from the name of its Cluster. So a moved object stays the same owner, and a copy
// elsewhere is another owner. Neither the tag nor conditions contain the ID, so knowing them is not enough to become the
// owner.
//
// It is pure.
package ownership

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// maxReadableLength is the maximum length of namespace and name in the value. Tag values have at most 256 characters, of
// which the hash and its separator take 17.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const maxReadableLength = 239

// OwnerOf returns the owner of the resources of a Cluster. holder is its AzureCluster or AzureManagedControlPlane.
func OwnerOf(holder metav1.Object, cluster string) Owner {
	return Owner{Cluster: cluster, ID: OwnerTagValue(holder, cluster)}
}

// OwnerTagValue returns the value of the owner tag for a Cluster, as in "default/c1/8c1f2a0f5d3b9e64". holder is its
// AzureCluster or AzureManagedControlPlane. The value is "" if holder has no ID.
func OwnerTagValue(holder metav1.Object, cluster string) string {
	if holder == nil {
		return ""
	}
	id := applied.ReadOwnerID(holder.GetAnnotations())
	if id == "" {
		return ""
	}
	name := holder.GetNamespace() + "/" + cluster
	sum := sha256.Sum256([]byte(id + "/" + name))
	return fmt.Sprintf("%s/%x", name[:min(len(name), maxReadableLength)], sum[:8])
}

// Owner identifies the resources of a Cluster by their tags.
type Owner struct {
	// Cluster is the name of the Cluster. ID is its OwnerTagValue, "" if that is unknown.
	Cluster, ID string
}

// OwnsTags returns true if the tags mark a resource as the owner's. Resources that were created before there were owner
// tags have only the ownership tag.
func (o Owner) OwnsTags(tags map[string]string) bool {
	marked := false
	for key, value := range tags {
		switch {
		case strings.EqualFold(key, infrav1.OwnerTag):
			if value != "" && value != o.ID {
				return false
			}
		case strings.EqualFold(key, infrav1.ClusterTagKey(o.Cluster)):
			marked = value == infrav1.TagOwned
		}
	}
	return marked
}

// HasClusterTag reports whether the tags have the ownership tag of a Cluster of this name. Tag names in Azure ignore case.
func HasClusterTag(tags map[string]string, cluster string) bool {
	for key, value := range tags {
		if strings.EqualFold(key, infrav1.ClusterTagKey(cluster)) && value == infrav1.TagOwned {
			return true
		}
	}
	return false
}

// FindOtherOwnersTag returns the key of the first tag that marks a resource as another owner's; "" if there is none.
func (o Owner) FindOtherOwnersTag(tags map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		value := tags[key]
		switch {
		case !infrav1.Marks(key) || strings.EqualFold(key, infrav1.ClusterTagKey(o.Cluster)):
		case strings.EqualFold(key, infrav1.OwnerTag):
			if value != "" && value != o.ID {
				return key
			}
		case strings.EqualFold(value, infrav1.TagOwned):
			return key
		}
	}
	return ""
}

// FindForgedNodes returns the nodes of a plan that would be written with a tag that marks a resource as another owner's,
// with the key of that tag.
func (o Owner) FindForgedNodes(g *arm.Graph) map[*arm.Node]string {
	out := map[*arm.Node]string{}
	for _, node := range g.Nodes() {
		if node.Body == nil || node.Policy == arm.Observe {
			continue
		}
		body, err := g.DecodedBody(node)
		if err != nil {
			continue // The engine reports bodies that cannot be decoded.
		}
		if key := o.findForgedTag(body); key != "" {
			out[node] = key
		}
	}
	return out
}

// findForgedTag returns the key of another owner's tag at any depth of a body. Azure passes on nested tags, such as those
// of an agent pool.
func (o Owner) findForgedTag(body any) string {
	found := ""
	jsonpath.Walk(body, func(_ jsonpath.Path, value any) bool {
		object, _ := value.(map[string]any)
		if nested, _ := object["tags"].(map[string]any); found == "" && len(nested) > 0 {
			tags := map[string]string{}
			for key, tag := range nested {
				tags[key], _ = tag.(string)
			}
			found = o.FindOtherOwnersTag(tags)
		}
		return found == ""
	})
	return found
}
