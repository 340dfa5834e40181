package deletion

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
)

// deleteForMove is set on objects that clusterctl deletes after it has moved them to another management cluster.
const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// IsMoved reports whether obj is deleted because another management cluster now has it. Nothing is deleted in Azure then.
func IsMoved(obj client.Object) bool {
	_, moved := obj.GetAnnotations()[deleteForMove]
	return moved
}

// MovedCondition returns the condition of an object of a kind that a move or transfer deletes and that still has finalizers of the provider,
// because the move was interrupted.
func MovedCondition(obj client.Object, kind string, finalizers ...string) metav1.Condition {
	return metav1.Condition{
		Status: metav1.ConditionFalse, Reason: infrav1.MovedReason,
		Message: fmt.Sprintf("The annotation %s shows that clusterctl move or kubectl capz convert transfer deletes the object. Another object may have its resources, so nothing is deleted in Azure. "+
			"If there is one, for example in another management cluster, repeat the move or remove the finalizers: %s. "+
			"If there is none and the resources are to be deleted in Azure, remove the annotation: kubectl annotate -n %s %s/%s %s-",
			deleteForMove, RemoveFinalizersCommand(obj, kind, finalizers...), obj.GetNamespace(), strings.ToLower(kind), obj.GetName(), deleteForMove),
	}
}

// SubstituteCluster returns a substitute for the Cluster of an object that is being deleted after its Cluster, for example because
// finalizers were removed by hand. The Cluster's name is enough to find everything in Azure. It returns nil for an object that is not
// being deleted, and for one that clusterctl moved.
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

// ClusterName returns the name of the Cluster of obj, by owner reference or label, or "".
func ClusterName(obj client.Object) string {
	if name := owner.FindName(obj, clusterv1.ClusterKind); name != "" {
		return name
	}
	return obj.GetLabels()[clusterv1.ClusterNameLabel]
}
