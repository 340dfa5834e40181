// Package deletion has what is the same for every kind about objects that are being deleted: what they say while they wait,
// the ways out of what holds them up, and what stands in for a Cluster that is gone before them.
//
// It decides nothing about Azure and asks it nothing. Its functions change objects in memory only, and may be repeated.
package deletion

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Object is of a kind with conditions.
type Object interface {
	client.Object
	conditions.Setter
}

// ReplaceConditions makes condition the Ready condition of obj, and the condition of each type in also. Whatever other conditions said
// goes: it is from before, and nobody looks at it as long as the deletion waits.
func ReplaceConditions(obj Object, condition metav1.Condition, also ...string) {
	types := append([]string{infrav1.ReadyCondition}, also...)
	KeepConditions(obj, types...)
	for _, conditionType := range types {
		condition.Type = conditionType
		conditions.Set(obj, condition)
	}
}

// KeepConditions takes the conditions of obj away but those of the types in keep, and Paused, which every pass looks at.
func KeepConditions(obj Object, keep ...string) {
	kept := slices.DeleteFunc(slices.Clone(obj.GetConditions()), func(condition metav1.Condition) bool {
		return condition.Type != clusterv1.PausedCondition && !slices.Contains(keep, condition.Type)
	})
	if len(kept) < len(obj.GetConditions()) {
		obj.SetConditions(kept)
	}
}
