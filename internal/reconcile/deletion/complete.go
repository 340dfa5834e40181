package deletion

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// CompleteDeletion ends the deletion of an object that uses an identity: release removes the finalizer from the identity, and then the
// finalizers of obj are removed in memory. Before that, an annotation records that nothing is left in Azure, because the identity may
// be gone as soon as it is released.
func CompleteDeletion(ctx context.Context, changes *patch.Changes, obj client.Object, release func() error, finalizers ...string) error {
	if markNothingLeft(obj) {
		if err := changes.Write(ctx); err != nil {
			return fmt.Errorf("record that nothing is left: %w", err)
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
