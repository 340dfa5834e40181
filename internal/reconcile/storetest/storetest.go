// Package storetest gives unit tests of controllers a fake Kubernetes client. The behaviour of a real API server is tested in
// test/integration.
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

// Namespace is the namespace of test objects.
const Namespace = "ns"

// NewClient returns a fake client with these objects.
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

// NewMeta returns the metadata of an object in Namespace.
func NewMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: Namespace, Name: name}
}

// NewOwnedMeta is NewMeta for an object with the Cluster named owner as its owner.
func NewOwnedMeta(name, owner string) metav1.ObjectMeta {
	meta := NewMeta(name)
	meta.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: owner, UID: "u"}}
	return meta
}

// NewCluster returns a Cluster that refers to infrastructure of a kind and name.
func NewCluster(name, kind, infrastructure string) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: NewMeta(name), Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: infrastructure},
	}}
}

// NameOf returns the name of an object, or "" for nil.
func NameOf[T any, P interface {
	*T
	client.Object
}](object P) string {
	if object == nil {
		return ""
	}
	return object.GetName()
}

// MarkDeleting turns object into one that is being deleted and has a finalizer.
func MarkDeleting[O client.Object](object O) O {
	object.SetFinalizers(append(object.GetFinalizers(), "example.com/keeps"))
	object.SetDeletionTimestamp(&metav1.Time{Time: metav1.Now().Rfc3339Copy().Time})
	return object
}
