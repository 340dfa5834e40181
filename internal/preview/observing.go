package preview

import (
	"fmt"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// endObserving returns the objects without annotations that have them observed, and those that have one.
func endObserving(objects []client.Object) (out, annotated []client.Object) {
	out = slices.Clone(objects)
	for i, object := range objects {
		if !reconcile.IsObserved(object) {
			continue
		}
		annotated = append(annotated, object)
		out[i] = object.DeepCopyObject().(client.Object)
		annotations := out[i].GetAnnotations()
		delete(annotations, infrav1.ObserveAnnotation)
		out[i].SetAnnotations(annotations)
	}
	return out, annotated
}

// findObserved returns the annotations that have objects observed, by kind and key of the object. all are the objects of a plan.
func findObserved(annotated, all []client.Object) map[string][]string {
	out := map[string][]string{}
	for _, object := range all {
		key := kindOf(object) + " " + client.ObjectKeyFromObject(object).String()
		if len(out[key]) > 0 {
			continue
		}
		for _, by := range annotated {
			if hasObserved(by, object) {
				out[key] = append(out[key], fmt.Sprintf("the annotation %s on %s %s", infrav1.ObserveAnnotation, kindOf(by), by.GetName()))
			}
		}
	}
	return out
}

// hasObserved reports whether an annotation on one object has another one observed: the same, its Cluster or its namespace.
func hasObserved(by, object client.Object) bool {
	switch kindOf(by) {
	case "Namespace":
		return by.GetName() == object.GetNamespace()
	case "Cluster":
		return by.GetNamespace() == object.GetNamespace() && (object.GetLabels()[clusterv1.ClusterNameLabel] == by.GetName() ||
			owner.HasCluster(object, by.GetName()))
	}
	return kindOf(by) == kindOf(object) && client.ObjectKeyFromObject(by) == client.ObjectKeyFromObject(object)
}
