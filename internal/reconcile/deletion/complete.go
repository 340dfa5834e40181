package deletion

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// CompleteDeletion lets an object go that holds an identity: release frees that, and the finalizers go with the pass, which changes
// follow. That nothing is left in Azure is stored before: the identity may be gone as soon as nobody holds it.
func CompleteDeletion(ctx context.Context, changes *patch.Changes, obj client.Object, release func() error, finalizers ...string) error {
	if markNothingLeft(obj) {
		if err := changes.Write(ctx); err != nil {
			return fmt.Errorf("remember that nothing is left: %w", err)
		}
	}
	if err := release(); err != nil {
		return fmt.Errorf("release the identity: %w", err)
	}
	for _, finalizer := range finalizers {
		controllerutil.RemoveFinalizer(obj, finalizer)
	}
	return nil
}
