package azuremachinepool

import (
	"context"
	"testing"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestOnlyMembersAreCopied loads the members of a pool from a cache that refuses to copy all Machines of the Cluster. It expects a copy of
// the Machine of the pool.
func TestOnlyMembersAreCopied(t *testing.T) {
	machine := func(name, kind string) *clusterv1.Machine {
		out := &clusterv1.Machine{ObjectMeta: storetest.NewMeta(name)}
		out.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
		out.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
		return out
	}
	vm := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("vm")}
	vm.Labels = map[string]string{infrav1.MachinePoolNameLabel: "pool"}
	own := machine("vm", machineKind)
	in := &input{cluster: &clusterv1.Cluster{ObjectMeta: storetest.NewMeta("c1")},
		azurePool: &infrav1.AzureMachinePool{ObjectMeta: storetest.NewMeta("pool")}}
	cache := storetest.NewSharedCache(own, machine("other", "AzureMachine"), machine("pool2-vm", machineKind))
	kind := &Kind{Client: listing{storetest.NewClient(t), cache, storetest.NewClient(t, vm)}}
	if err := kind.loadMembers(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	if len(in.members) != 1 || in.members[0].machine == nil || in.members[0].machine == own {
		t.Fatalf("the members are %v", in.members)
	}
	in.members[0].machine.Labels["a"] = "b"
	if own.Labels["a"] != "" {
		t.Error("the Machine of the cache was changed")
	}
}

// listing is a client that lists Machines from a cache.
type listing struct {
	client.Client
	cache, store client.Reader
}

// List implements client.Reader.
func (l listing) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, is := list.(*clusterv1.MachineList); is {
		return l.cache.List(ctx, list, options...)
	}
	return l.store.List(ctx, list, options...)
}
