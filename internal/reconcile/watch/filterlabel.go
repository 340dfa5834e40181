package watch

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/labels"
)

// MatchesFilter reports whether a manager with this value of --watch-filter reconciles the object. Events of other objects, such as a shared
// identity or a Namespace, and earlier requests in the queue also cause reconciliations, so each one has to check its object.
func MatchesFilter(object metav1.Object, watchFilter string) bool {
	return watchFilter == "" || labels.HasWatchLabel(object, watchFilter)
}

// InheritFilterLabel sets the watch label of the owner on an object that the provider makes, because a manager with a watch filter ignores
// events of objects without it. It reports whether the object has changed.
func InheritFilterLabel(owner, object metav1.Object) (changed bool) {
	value, ok := owner.GetLabels()[clusterv1.WatchLabel]
	return ok && labels.AddLabels(object, map[string]string{clusterv1.WatchLabel: value})
}
