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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// readable is how much of namespace and name the value has: tag values have 256 characters at most, of which the hash and what
// parts it off take 17. https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
const readable = 239

// Value is what the tag says for the Cluster whose AzureCluster or AzureManagedControlPlane is holder, as in
// "default/c1/8c1f2a0f5d3b9e64"; "" for one that has no ID.
func Value(holder metav1.Object, cluster string) string {
	if holder == nil {
		return ""
	}
	id := holder.GetAnnotations()[infrav1.OwnerIDAnnotation]
	if id == "" {
		return ""
	}
	name := holder.GetNamespace() + "/" + cluster
	sum := sha256.Sum256([]byte(id + "/" + name))
	return fmt.Sprintf("%s/%x", name[:min(len(name), readable)], sum[:8])
}
