// Package ownership makes the value of the tag that tells owners apart whose Clusters have the same name: in two namespaces, or
// in two management clusters.
//
// It is made from an ID in an annotation of the AzureCluster or AzureManagedControlPlane, which moves with the object, and from
// the object's namespace and the name of its Cluster. So a moved object is the same owner, and a copy elsewhere is another.
// Neither the tag nor what conditions say of it tells the ID, so nobody can be the owner who has only seen those.
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
)

// maxReadableLength is how much of namespace and name the value has: tag values have 256 characters at most, of which the hash and what
// parts it off take 17. https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const maxReadableLength = 239

// OwnerTagValue is what the tag says for the Cluster whose AzureCluster or AzureManagedControlPlane is holder, as in
// "default/c1/8c1f2a0f5d3b9e64"; "" for one that has no ID.
func OwnerTagValue(holder metav1.Object, cluster string) string {
	if holder == nil {
		return ""
	}
	id := holder.GetAnnotations()[infrav1.OwnerIDAnnotation]
	if id == "" {
		return ""
	}
	name := holder.GetNamespace() + "/" + cluster
	sum := sha256.Sum256([]byte(id + "/" + name))
	return fmt.Sprintf("%s/%x", name[:min(len(name), maxReadableLength)], sum[:8])
}

// Owner is whose the resources of a Cluster are, and the tags by which they are known.
type Owner struct {
	// Cluster is the name of the Cluster, and ID the value of Value, "" if that is not known.
	Cluster, ID string
}

// OwnsTags tells whether tags mark a resource as the owner's. Resources from before there were IDs have only the Cluster's tag.
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

// FindOtherOwnersTag is the key of the first tag that marks a resource as another owner's, "" if there is none.
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

// FindForgedNodes are the nodes of a plan that would be written with a tag that marks a resource as another owner's, and the key of that tag.
func (o Owner) FindForgedNodes(g *arm.Graph) map[*arm.Node]string {
	out := map[*arm.Node]string{}
	for _, node := range g.Nodes() {
		if node.Body == nil || node.Policy == arm.Observe {
			continue
		}
		body, err := g.DecodedBody(node)
		if err != nil {
			continue // The engine says so.
		}
		if key := o.findForgedTag(body); key != "" {
			out[node] = key
		}
	}
	return out
}

// findForgedTag is the key of a tag of others in a body. Azure passes on tags that are further down, as those of an agent pool.
func (o Owner) findForgedTag(value any) string {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if key := o.findForgedTag(item); key != "" {
				return key
			}
		}
	case map[string]any:
		tags := map[string]string{}
		object, _ := value["tags"].(map[string]any)
		for key, tag := range object {
			tags[key], _ = tag.(string)
		}
		if key := o.FindOtherOwnersTag(tags); key != "" {
			return key
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if found := o.findForgedTag(value[key]); found != "" {
				return found
			}
		}
	}
	return ""
}
