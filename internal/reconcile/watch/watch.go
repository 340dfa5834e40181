// Package watch decides which changes of an object are worth a reconciliation, of itself and of the objects that depend on it. A status
// that controllers write wakes only its readers: otherwise a reconciliation that changes the status would cause the next one.
//
// The predicates filter updates. Creations, deletions and the objects that exist at the start of the manager always pass.
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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// OwnChanges is for the objects that a controller reconciles: everything but the status, which the controller writes itself.
func OwnChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return specChanged(before, after) || !slices.Equal(before.GetFinalizers(), after.GetFinalizers()) ||
			!equality.Semantic.DeepEqual(before.GetOwnerReferences(), after.GetOwnerReferences())
	})
}

// SpecChanges is for objects of which others read the spec, labels, annotations and the deletion timestamp.
func SpecChanges() predicate.Predicate { return onUpdate(specChanged) }

// GenerationChanges is for objects of which others read only the spec. Controllers write annotations often while resources are created.
func GenerationChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
	})
}

// SpecOrStatusChanges is SpecChanges for objects of which others also read a part of the status, which read returns.
func SpecOrStatusChanges[T client.Object](read func(obj T) any) predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, ok := before.(T)
		is, too := after.(T)
		return specChanged(before, after) || ok && too && !equality.Semantic.DeepEqual(read(was), read(is))
	})
}

// InfrastructureChanges is for objects of which the machines and pools of a cluster read the spec, labels, deletion timestamp, and a part
// of the status, which read returns. Of the annotations it counts the owner ID and the subscription: the object stores others while its
// resources are created and changed, and each would wake all machines of the cluster.
func InfrastructureChanges[T client.Object](read func(obj T) any) predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		was, ok := before.(T)
		is, too := after.(T)
		return changedBesidesAnnotations(before, after) || ownerChanged(before, after) ||
			ok && too && !equality.Semantic.DeepEqual(read(was), read(is))
	})
}

// ownerChanged reports whether the owner ID or the recorded subscription changed.
func ownerChanged(before, after client.Object) bool {
	if !annotationChanged(before, after, infrav1.AppliedAnnotation) {
		return false
	}
	was, is := applied.Read(before.GetAnnotations()), applied.Read(after.GetAnnotations())
	return was.OwnerID != is.OwnerID || was.Subscription != is.Subscription
}

// MachineChanges is SpecChanges for Machines. Of the status it counts whether the Node is Ready, while MachineHealthChecks skip the
// Machine: that ends when the Node is back after a stop.
func MachineChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		_, skipped := after.GetAnnotations()[clusterv1.MachineSkipRemediationAnnotation]
		return specChanged(before, after) || skipped && conditionChanged(before, after, clusterv1.MachineNodeReadyCondition)
	})
}

// IdentityChanges is for the AzureClusterIdentities of objects. Spec, metadata and Ready count; finalizers do not, which only show the
// other users.
func IdentityChanges() predicate.Predicate {
	return onUpdate(func(before, after client.Object) bool {
		return specChanged(before, after) || conditionChanged(before, after, infrav1.ReadyCondition)
	})
}

// ModeChanges is for Clusters, whose annotations decide whether their objects are observed and whether their VMs are stopped.
func ModeChanges() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return e.ObjectOld != nil && e.ObjectNew != nil &&
				slices.ContainsFunc(modeAnnotations, func(name string) bool { return annotationChanged(e.ObjectOld, e.ObjectNew, name) })
		},
	}
}

// modeAnnotations are the annotations on a Cluster that count for its objects.
var modeAnnotations = []string{infrav1.ObserveAnnotation, infrav1.StopAnnotation, infrav1.StopScheduleAnnotation}

// annotationChanged reports whether an annotation changed.
func annotationChanged(before, after metav1.Object, name string) bool {
	was, had := before.GetAnnotations()[name]
	is, has := after.GetAnnotations()[name]
	return had != has || was != is
}

// NamespaceChanges is for Namespaces. Their labels decide which identities their objects may use, and an annotation whether their objects
// are observed. A new Namespace has no objects yet.
func NamespaceChanges() predicate.TypedFuncs[*metav1.PartialObjectMetadata] {
	return predicate.TypedFuncs[*metav1.PartialObjectMetadata]{
		CreateFunc:  func(event.TypedCreateEvent[*metav1.PartialObjectMetadata]) bool { return false },
		DeleteFunc:  func(event.TypedDeleteEvent[*metav1.PartialObjectMetadata]) bool { return false },
		GenericFunc: func(event.TypedGenericEvent[*metav1.PartialObjectMetadata]) bool { return false },
		UpdateFunc: func(e event.TypedUpdateEvent[*metav1.PartialObjectMetadata]) bool {
			return e.ObjectOld == nil || e.ObjectNew == nil || !maps.Equal(e.ObjectOld.Labels, e.ObjectNew.Labels) ||
				annotationChanged(e.ObjectOld, e.ObjectNew, infrav1.ObserveAnnotation)
		},
	}
}

func onUpdate(counts func(before, after client.Object) bool) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld == nil || e.ObjectNew == nil || counts(e.ObjectOld, e.ObjectNew)
	}}
}

func specChanged(before, after client.Object) bool {
	return changedBesidesAnnotations(before, after) || !maps.Equal(before.GetAnnotations(), after.GetAnnotations())
}

func changedBesidesAnnotations(before, after client.Object) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID() ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero() || !maps.Equal(before.GetLabels(), after.GetLabels())
}

// conditionChanged reports whether the status, reason or message of a condition changed.
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
