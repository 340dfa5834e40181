package access

import (
	"cmp"
	"context"
	"fmt"

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
	// Kind names the kind, as in AzureCluster. Finalizer is the prefix of the finalizers that its objects put on
	// identities.
	Kind, Finalizer string
	// NewList returns an empty list of the kind. IdentityRef returns the spec.identityRef of an object.
	NewList     func() client.ObjectList
	IdentityRef func(obj client.Object) *corev1.ObjectReference
}

// UsersOfAllKinds finds the objects that refer to an identity, of each kind that can.
func UsersOfAllKinds(kubernetes client.Reader) []IdentityUsers {
	return []IdentityUsers{AzureClusterUsers(kubernetes), ControlPlaneUsers(kubernetes), ASOManagedClusterUsers(kubernetes)}
}

// AzureClusterUsers finds the AzureClusters that refer to an identity.
func AzureClusterUsers(kubernetes client.Reader) IdentityUsers {
	return IdentityUsers{
		Client: kubernetes, Kind: "AzureCluster", Finalizer: infrav1.ClusterFinalizer,
		NewList:     func() client.ObjectList { return &infrav1.AzureClusterList{} },
		IdentityRef: func(obj client.Object) *corev1.ObjectReference { return obj.(*infrav1.AzureCluster).Spec.IdentityRef },
	}
}

// ControlPlaneUsers finds the AzureManagedControlPlanes that refer to an identity.
func ControlPlaneUsers(kubernetes client.Reader) IdentityUsers {
	return IdentityUsers{
		Client: kubernetes, Kind: "AzureManagedControlPlane",
		Finalizer: infrav1.ManagedControlPlaneFinalizer,
		NewList:   func() client.ObjectList { return &infrav1.AzureManagedControlPlaneList{} },
		IdentityRef: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureManagedControlPlane).Spec.IdentityRef
		},
	}
}

// ASOManagedClusterUsers finds the AzureASOManagedClusters that refer to an identity.
func ASOManagedClusterUsers(kubernetes client.Reader) IdentityUsers {
	return IdentityUsers{
		Client: kubernetes, Kind: "AzureASOManagedCluster", Finalizer: infrav1.ASOManagedFinalizer,
		NewList: func() client.ObjectList { return &infrav1.AzureASOManagedClusterList{} },
		IdentityRef: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureASOManagedCluster).Spec.IdentityRef
		},
	}
}

// List returns all objects of the kind.
func (u IdentityUsers) List(ctx context.Context) ([]client.Object, error) {
	list := u.NewList()
	if err := u.Client.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list %ss: %w", u.Kind, err)
	}
	var out []client.Object
	// The only possible error is one that the function returns.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		out = append(out, item.(client.Object))
		return nil
	})
	return out, nil
}

// refersTo reports whether an object of the kind refers to an identity.
func (u IdentityUsers) refersTo(obj, named client.Object) bool {
	ref := u.IdentityRef(obj)
	return ref != nil && ref.Name == named.GetName() && cmp.Or(ref.Namespace, obj.GetNamespace()) == named.GetNamespace()
}

// MapIdentity returns the users of an AzureClusterIdentity.
func (u IdentityUsers) MapIdentity(ctx context.Context, named client.Object) []ctrl.Request {
	list, err := u.List(ctx)
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the users of an AzureClusterIdentity")
		return nil
	}
	var out []ctrl.Request
	for _, obj := range list {
		if u.refersTo(obj, named) {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
		}
	}
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
