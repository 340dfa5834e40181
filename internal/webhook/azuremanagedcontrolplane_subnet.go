package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// keepSubnetName replaces a missing name of the subnet by the stored one. The established provider fills in the name of a template, so
// templates of it, and the clusters that were made from them, have that name. Both keep it: a manifest without the name can be applied
// again, and a template without it can replace the former one. nameOf returns the field of an object.
func keepSubnetName[T client.Object](ctx context.Context, obj T, nameOf func(T) *string) {
	if stored, name := empty[T](), nameOf(obj); *name == "" && isUpdateOf(ctx, stored) {
		*name = *nameOf(stored)
	}
}
