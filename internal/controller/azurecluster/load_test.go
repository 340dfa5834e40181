package azurecluster

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestClusterOf(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	azureCluster := func(owner string) *infrav1.AzureCluster {
		object := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "network"}}
		if owner != "" {
			object.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: owner}}
		}
		return object
	}
	cluster := func(namespace, name, kind, ref string) *clusterv1.Cluster {
		return &clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
				Kind: kind, Name: ref}},
		}
	}
	tests := map[string]struct {
		reason   string
		owner    string
		clusters []client.Object
		want     string
	}{
		"owner": {"the owner reference decides", "mine",
			[]client.Object{cluster("ns", "mine", "AzureCluster", "network"), cluster("ns", "a", "AzureCluster", "network")}, "mine"},
		"not yet owned": {"the Cluster that refers to it will own it", "", []client.Object{cluster("ns", "mine", "AzureCluster", "network")},
			"mine"},
		"other namespace": {"references do not cross namespaces", "", []client.Object{cluster("other", "mine", "AzureCluster", "network")}, ""},
		"other name":      {"the reference is to another network", "", []client.Object{cluster("ns", "mine", "AzureCluster", "other")}, ""},
		"other kind": {"an AKS cluster may have the same name", "",
			[]client.Object{cluster("ns", "mine", "AzureManagedCluster", "network")}, ""},
		"no reference yet": {"no Cluster refers to the object yet", "", nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := &Kind{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.clusters...).Build()}
			got, err := k.findCluster(context.Background(), azureCluster(test.owner))
			if err != nil {
				t.Fatal(err)
			}
			name := ""
			if got != nil {
				name = got.Name
			}
			if name != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, name, test.want)
			}
		})
	}
}
