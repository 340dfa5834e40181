package access

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// IdentityUsers finds the objects of one kind that refer to an identity, so that a correction of the identity or of its Secret takes
// effect at once.
type IdentityUsers struct {
	Client client.Reader
	// NewList returns an empty list of the kind. IdentityRef returns the spec.identityRef of an object.
	NewList     func() client.ObjectList
	IdentityRef func(obj client.Object) *corev1.ObjectReference
}

// AzureClusterUsers finds the AzureClusters that refer to an identity.
func AzureClusterUsers(kubernetes client.Reader) IdentityUsers {
	return IdentityUsers{
		Client:      kubernetes,
		NewList:     func() client.ObjectList { return &infrav1.AzureClusterList{} },
		IdentityRef: func(obj client.Object) *corev1.ObjectReference { return obj.(*infrav1.AzureCluster).Spec.IdentityRef },
	}
}

// ControlPlaneUsers finds the AzureManagedControlPlanes that refer to an identity.
func ControlPlaneUsers(kubernetes client.Reader) IdentityUsers {
	return IdentityUsers{
		Client:  kubernetes,
		NewList: func() client.ObjectList { return &infrav1.AzureManagedControlPlaneList{} },
		IdentityRef: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureManagedControlPlane).Spec.IdentityRef
		},
	}
}

// MapIdentity returns the users of an AzureClusterIdentity.
func (u IdentityUsers) MapIdentity(ctx context.Context, named client.Object) []ctrl.Request {
	list := u.NewList()
	if err := u.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the users of an AzureClusterIdentity")
		return nil
	}
	var out []ctrl.Request
	// The only possible error is one that the function returns.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(client.Object)
		ref := u.IdentityRef(obj)
		if ref != nil && ref.Name == named.GetName() && cmp.Or(ref.Namespace, obj.GetNamespace()) == named.GetNamespace() {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
		}
		return nil
	})
	return out
}

// MapSecret returns the users of the identities that read their credential from a Secret.
func (u IdentityUsers) MapSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	identities, err := identity.FindBySecret(ctx, u.Client, client.ObjectKeyFromObject(secret))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the AzureClusterIdentities of a Secret")
	}
	var out []ctrl.Request
	for _, item := range identities {
		out = append(out, u.MapIdentity(ctx, &item)...)
	}
	return out
}
