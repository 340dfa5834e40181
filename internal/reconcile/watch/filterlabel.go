package watch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels"
)

// InheritFilterLabel sets the watch label of the owner on an object that the provider makes, because a manager with a watch filter ignores
// events of objects without it. It reports whether the object has changed.
func InheritFilterLabel(owner, object metav1.Object) (changed bool) {
	value, ok := owner.GetLabels()[clusterv1.WatchLabel]
	return ok && labels.AddLabels(object, map[string]string{clusterv1.WatchLabel: value})
}
