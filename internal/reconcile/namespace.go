package reconcile

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
)

// namespaceSource wakes the objects of a Namespace whose labels changed, because labels may decide which identities the objects may
// use, or whose annotation decides about observing. It is a separate source, because Namespaces do not have the watch-filter label.
// loadObject leaves the objects of other managers alone.
func (r *Runner[O, I]) namespaceSource(mgr ctrl.Manager) (source.Source, error) {
	kind, err := apiutil.GVKForObject(newObject[O](), mgr.GetScheme())
	if err != nil {
		return nil, err
	}
	kind.Kind += "List"
	empty, err := mgr.GetScheme().New(kind)
	if err != nil {
		return nil, fmt.Errorf("list of %s: %w", r.declaration.Name, err)
	}
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	objects := func(ctx context.Context, changed *metav1.PartialObjectMetadata) []ctrl.Request {
		list := empty.DeepCopyObject().(client.ObjectList)
		if err := r.Client.List(ctx, list, client.InNamespace(changed.Name), client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "list the objects of a Namespace")
			return nil
		}
		var out []ctrl.Request
		// The only possible error is one that the function returns.
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(item.(client.Object))})
			return nil
		})
		return out
	}
	return source.Kind(mgr.GetCache(), namespace, handler.TypedEnqueueRequestsFromMapFunc(objects), watch.NamespaceChanges()), nil
}
