// Package storetest gives tests of what controllers decide a store with objects in it, without an API server. What an API
// server does with them is the affair of test/integration.
package storetest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Namespace is where the objects of tests are.
const Namespace = "ns"

// NewClient is a store with these objects.
func NewClient(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).Build()
}

// NewMeta is the metadata of an object in Namespace.
func NewMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: Namespace, Name: name}
}

// NewOwnedMeta is Meta of an object that the Cluster with the name owner owns.
func NewOwnedMeta(name, owner string) metav1.ObjectMeta {
	meta := NewMeta(name)
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: owner, UID: "u"}}
	return meta
}

// NewCluster is a Cluster with infrastructure of a kind and a name.
func NewCluster(name, kind, infrastructure string) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: NewMeta(name), Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: infrastructure},
	}}
}

// NameOf is the name of an object that may be missing, "" then.
func NameOf[T any, P interface {
	*T
	client.Object
}](object P) string {
	if object == nil {
		return ""
	}
	return object.GetName()
}

// MarkDeleting is an object that is being deleted and that a finalizer keeps.
func MarkDeleting[O client.Object](object O) O {
	object.SetFinalizers(append(object.GetFinalizers(), "example.com/keeps"))
	object.SetDeletionTimestamp(&metav1.Time{Time: metav1.Now().Rfc3339Copy().Time})
	return object
}
