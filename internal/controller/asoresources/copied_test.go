package asoresources

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestGatherMembersReturnsCopies gathers the members of one of two Clusters of a namespace by their labels: the lists are not copied, and
// the members are copies, so that callers cannot change the cache.
func TestGatherMembersReturnsCopies(t *testing.T) {
	labelled := func(name, cluster string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name,
			Labels: map[string]string{"of": "cache", clusterv1.ClusterNameLabel: cluster}}
	}
	var objects []client.Object
	for _, name := range []string{"other", "mine"} {
		objects = append(objects, &infrav1.AzureASOManagedCluster{ObjectMeta: labelled(name, name)},
			&infrav1.AzureASOManagedControlPlane{ObjectMeta: labelled(name, name)},
			&infrav1.AzureASOManagedMachinePool{ObjectMeta: labelled(name, name)},
			&clusterv1.MachinePool{ObjectMeta: labelled(name, name),
				Spec: clusterv1.MachinePoolSpec{ClusterName: name, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
					InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: MachinePoolKind,
						Name: name}}}}})
	}
	cache := storetest.NewSharedCache(objects...)
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "mine"}}
	for range 2 {
		members, err := GatherMembers(t.Context(), cache, cluster)
		if err != nil {
			t.Fatal(err)
		}
		if members.Infrastructure == nil || members.ControlPlane == nil || len(members.Pools) != 1 || members.Pools[0].MachinePool == nil {
			t.Fatalf("members are missing: %+v", members)
		}
		pool := members.Pools[0]
		for _, object := range []client.Object{members.Infrastructure, members.ControlPlane, pool.Pool, pool.MachinePool} {
			if of := object.GetLabels()["of"]; of != "cache" || object.GetName() != "mine" {
				t.Errorf("%T %s: a change of the returned object changed the cache: %q", object, object.GetName(), of)
			}
			object.GetLabels()["of"] = "reconciliation"
		}
	}
}

// TestCredentialIsFoundWithoutCopies searches all manifests of a namespace for the name of a Secret.
func TestCredentialIsFoundWithoutCopies(t *testing.T) {
	cache := storetest.NewSharedCache(&infrav1.AzureASOManagedCluster{})
	for name, want := range map[string]bool{DefaultCredential: true, "another": false} {
		named, err := IsNamedAsCredential(t.Context(), cache, client.ObjectKey{Namespace: "ns", Name: name})
		if err != nil || named != want {
			t.Errorf("Secret %s is named: %v, %v, want %v", name, named, err, want)
		}
	}
}
