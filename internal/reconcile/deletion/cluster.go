package deletion

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deleteForMove is on objects that clusterctl deletes because it has moved them to another management cluster.
const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// IsMoved tells whether obj goes because another management cluster has it: nothing of it is deleted in Azure.
func IsMoved(obj client.Object) bool {
	_, moved := obj.GetAnnotations()[deleteForMove]
	return moved
}

// SubstituteCluster stands for the Cluster of an object that is being deleted after its Cluster was, which takes a person to
// remove finalizers: everything in Azure is known by the Cluster's name, so the object can go all the same. It is nil for
// an object that stays, and for one that clusterctl has moved elsewhere.
func SubstituteCluster(obj client.Object) *clusterv1.Cluster {
	if obj.GetDeletionTimestamp().IsZero() || IsMoved(obj) {
		return nil
	}
	name := ClusterName(obj)
	if name == "" {
		name = obj.GetName()
	}
	now := metav1.Now()
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: name, DeletionTimestamp: &now}}
}

// ClusterName is the name of the Cluster that obj belongs to by its owner or its label, "" for none.
func ClusterName(obj client.Object) string {
	if name := ownerName(obj, "Cluster"); name != "" {
		return name
	}
	return obj.GetLabels()[clusterv1.ClusterNameLabel]
}

// ownerName is the name of the owner of this kind, "" for none.
func ownerName(obj client.Object, kind string) string {
	for _, owner := range obj.GetOwnerReferences() {
		if owner.Kind == kind {
			return owner.Name
		}
	}
	return ""
}
