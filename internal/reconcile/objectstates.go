package reconcile

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// ListObjectStates returns the states of the objects of some kinds that a manager with this watch filter reconciles, for metrics. Of kinds
// that cannot be listed it returns the errors. The reader is a cache: objects are not copied.
func ListObjectStates(ctx context.Context, reader client.Reader, watchFilter string, kinds []client.ObjectList) (out []metrics.ObjectState,
	err error) {
	for _, kind := range kinds {
		list := kind.DeepCopyObject().(client.ObjectList)
		if failed := reader.List(ctx, list, client.UnsafeDisableDeepCopy); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		name := strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List")
		err = errors.Join(err, meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(Object)
			if !ok || annotations.IsExternallyManaged(object) || !watch.MatchesFilter(object, watchFilter) {
				return nil
			}
			of := status.Summarize(object, object.GetObserved().ObservedGeneration)
			out = append(out, metrics.ObjectState{Kind: name, State: string(of.State), Reason: of.Reason, Since: of.Since, Drifted: of.Drifted})
			return nil
		}))
	}
	return out, err
}
