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

// Users finds the objects of one kind that ask Azure as an identity, so that a correction of the identity or of its
// Secret takes effect at once.
type Users struct {
	Kubernetes client.Reader
	// List makes an empty list of the kind, and Ref is the spec.identityRef of an object of it.
	List func() client.ObjectList
	Ref  func(obj client.Object) *corev1.ObjectReference
}

// AzureClusters finds the AzureClusters that ask Azure as an identity.
func AzureClusters(kubernetes client.Reader) Users {
	return Users{
		Kubernetes: kubernetes,
		List:       func() client.ObjectList { return &infrav1.AzureClusterList{} },
		Ref:        func(obj client.Object) *corev1.ObjectReference { return obj.(*infrav1.AzureCluster).Spec.IdentityRef },
	}
}

// ControlPlanes finds the AzureManagedControlPlanes that ask Azure as an identity.
func ControlPlanes(kubernetes client.Reader) Users {
	return Users{
		Kubernetes: kubernetes,
		List:       func() client.ObjectList { return &infrav1.AzureManagedControlPlaneList{} },
		Ref: func(obj client.Object) *corev1.ObjectReference {
			return obj.(*infrav1.AzureManagedControlPlane).Spec.IdentityRef
		},
	}
}

// OfIdentity are the users of an AzureClusterIdentity.
func (u Users) OfIdentity(ctx context.Context, named client.Object) []ctrl.Request {
	list := u.List()
	if err := u.Kubernetes.List(ctx, list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "list the users of an AzureClusterIdentity")
		return nil
	}
	var out []ctrl.Request
	// An error could only come from the function.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		obj := item.(client.Object)
		ref := u.Ref(obj)
		if ref != nil && ref.Name == named.GetName() && cmp.Or(ref.Namespace, obj.GetNamespace()) == named.GetNamespace() {
			out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
		}
		return nil
	})
	return out
}

// OfSecret are the users of the identities that take their credential from a Secret.
func (u Users) OfSecret(ctx context.Context, secret client.Object) []ctrl.Request {
	identities, err := identity.Of(ctx, u.Kubernetes, client.ObjectKeyFromObject(secret))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "find the AzureClusterIdentities of a Secret")
	}
	var out []ctrl.Request
	for _, item := range identities {
		out = append(out, u.OfIdentity(ctx, &item)...)
	}
	return out
}
