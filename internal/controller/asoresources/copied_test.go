package asoresources

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// uncopied is a cache that returns its own objects without copies, and fails if a caller lists with copies.
type uncopied struct {
	client.Reader
	clusters      []infrav1.AzureASOManagedCluster
	controlPlanes []infrav1.AzureASOManagedControlPlane
	pools         []infrav1.AzureASOManagedMachinePool
	machinePools  []clusterv1.MachinePool
}

// List implements client.Reader.
func (u *uncopied) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	if asked.UnsafeDisableDeepCopy == nil || !*asked.UnsafeDisableDeepCopy {
		return fmt.Errorf("%T: all objects of namespace %s are copied", list, asked.Namespace)
	}
	switch list := list.(type) {
	case *infrav1.AzureASOManagedClusterList:
		list.Items = append(list.Items, u.clusters...)
	case *infrav1.AzureASOManagedControlPlaneList:
		list.Items = append(list.Items, u.controlPlanes...)
	case *infrav1.AzureASOManagedMachinePoolList:
		list.Items = append(list.Items, u.pools...)
	case *clusterv1.MachinePoolList:
		list.Items = append(list.Items, u.machinePools...)
	}
	return nil
}

// TestGatherMembersReturnsCopies gathers the members of one of two Clusters of a namespace by their labels: the lists are not copied, and
// the members are copies, so that callers cannot change the cache.
func TestGatherMembersReturnsCopies(t *testing.T) {
	labelled := func(name, cluster string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "ns", Name: name,
			Labels: map[string]string{"of": "cache", clusterv1.ClusterNameLabel: cluster}}
	}
	cache := &uncopied{}
	for _, name := range []string{"other", "mine"} {
		cache.clusters = append(cache.clusters, infrav1.AzureASOManagedCluster{ObjectMeta: labelled(name, name)})
		cache.controlPlanes = append(cache.controlPlanes, infrav1.AzureASOManagedControlPlane{ObjectMeta: labelled(name, name)})
		cache.pools = append(cache.pools, infrav1.AzureASOManagedMachinePool{ObjectMeta: labelled(name, name)})
		cache.machinePools = append(cache.machinePools, clusterv1.MachinePool{ObjectMeta: labelled(name, name),
			Spec: clusterv1.MachinePoolSpec{ClusterName: name, Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: MachinePoolKind,
					Name: name}}}}})
	}
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
	cache := &uncopied{clusters: make([]infrav1.AzureASOManagedCluster, 1)}
	for name, want := range map[string]bool{DefaultCredential: true, "another": false} {
		named, err := IsNamedAsCredential(t.Context(), cache, client.ObjectKey{Namespace: "ns", Name: name})
		if err != nil || named != want {
			t.Errorf("Secret %s is named: %v, %v, want %v", name, named, err, want)
		}
	}
}
