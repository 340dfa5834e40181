package patch

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// RemoveFinalizer removes a finalizer from a stored object of another kind than the reconciled one, and returns true if it had the finalizer.
// It fails if others changed the object since it was read: the patch has the whole list, and would remove finalizers that they added. An object
// that is gone is no error.
func RemoveFinalizer(ctx context.Context, c client.Client, object client.Object, finalizer string) (bool, error) {
	before := object.DeepCopyObject().(client.Object)
	if !controllerutil.RemoveFinalizer(object, finalizer) {
		return false, nil
	}
	err := c.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("remove the finalizer of %s: %w", object.GetName(), err)
	}
	return err == nil, nil
}
