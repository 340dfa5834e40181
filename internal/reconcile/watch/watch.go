// Package watch says which changes of an object are worth a pass, of itself and of those that depend on it. What
// controllers write into a status wakes nobody who does not read it: a pass that says something new would otherwise lead to
// the next one, and that to the next.
//
// The predicates are about updates. What comes into being, goes, or is there when the manager starts always counts.
package watch

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// OwnChanges is for the objects that a controller reconciles: everything but the status. Of that the Paused condition counts,
// because Cluster API's library ends the pass that writes it and expects another one.
func OwnChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return specChanged(before, after) || !slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
			!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences()) ||
			conditionChanged(before, after, clusterv1.PausedCondition)
	})
}

// SpecChanges is for objects of which others read the spec, labels and annotations, and whether they are being deleted.
func SpecChanges() predicate.Predicate { return onUpdate(specChanged) }

// GenerationChanges is for objects of which others read the spec only. Controllers write annotations again and again while something is
// made.
func GenerationChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
	})
}

// SpecOrStatusChanges is Spec for objects of which others read something of the status as well: what read returns of it.
func SpecOrStatusChanges[T client.Object](read func(obj T) any) predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, ok := before.(T)
		is, too := after.(T)
		return specChanged(before, after) || ok && too && !equality.Semantic.DeepEqual(read(was), read(is))
	})
}

// IdentityChanges is for the AzureClusterIdentities that objects ask Azure as: what it says of itself and whether it is Ready, and
// not who else uses it, which its finalizers tell.
func IdentityChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return specChanged(before, after) || conditionChanged(before, after, infrav1.ReadyCondition)
	})
}

// LabelChanges is for Namespaces, whose labels decide which identities their objects may use. One that comes into being has no
// objects yet.
func LabelChanges() predicate.TypedFuncs[*metav1.PartialObjectMetadata] {
	return predicate.TypedFuncs[*metav1.PartialObjectMetadata]{
		CreateFunc:  func(event.TypedCreateEvent[*metav1.PartialObjectMetadata]) bool { return false },
		DeleteFunc:  func(event.TypedDeleteEvent[*metav1.PartialObjectMetadata]) bool { return false },
		GenericFunc: func(event.TypedGenericEvent[*metav1.PartialObjectMetadata]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*metav1.PartialObjectMetadata]) bool {
			return e.ObjectOld == nil || e.ObjectNew == nil || !maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels)
		},
	}
}

func onUpdate(counts func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld == nil || e.ObjectNew == nil || counts(e.ObjectOld, e.ObjectNew)
	}}
}

func specChanged(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

// conditionChanged tells whether a condition says something else than before.
func conditionChanged(before, after client.Object, conditionType string) bool {
	of := func(obj client.Object) *metav1.Condition {
		getter, ok := obj.(conditions.Getter)
		if !ok {
			return nil
		}
		return conditions.Get(getter, conditionType)
	}
	was, is := of(before), of(after)
	if was == nil || is == nil {
		return was != is
	}
	return was.Status != is.Status || was.Reason != is.Reason || was.Message != is.Message
}
