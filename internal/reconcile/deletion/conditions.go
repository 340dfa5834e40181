// Package deletion has the parts of a deletion that are the same for every kind: the conditions of an object while it waits, the ways
// out of a blocked deletion, and the substitute for a Cluster that is gone.
//
// It asks Azure nothing. Its functions change objects in memory only, and may be repeated.
package deletion

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Object has conditions.
type Object interface {
	client.Object
	conditions.Setter
}

// ReplaceConditions sets Ready and the conditions of the types in also to condition, and removes all others, which are outdated while
// the deletion waits.
func ReplaceConditions(obj Object, condition metav1.Condition, also ...string) {
	types := append([]string{infrav1.ReadyCondition}, also...)
	KeepConditions(obj, types...)
	for _, conditionType := range types {
		condition.Type = conditionType
		conditions.Set(obj, condition)
	}
}

// KeepConditions removes all conditions of obj except those of the types in keep, Paused, Drifted, Reconciling and Stalled.
func KeepConditions(obj Object, keep ...string) {
	keep = append(slices.Clone(keep), infrav1.ProgressConditions...)
	kept := slices.DeleteFunc(slices.Clone(obj.GetConditions()), func(condition metav1.Condition) bool {
		return condition.Type != clusterv1.PausedCondition && condition.Type != infrav1.DriftedCondition &&
			!slices.Contains(keep, condition.Type)
	})
	if len(kept) < len(obj.GetConditions()) {
		obj.SetConditions(kept)
	}
}
