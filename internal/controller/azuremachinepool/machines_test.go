package azuremachinepool

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestMachineStatus reports the state of a VM on an AzureMachinePoolMachine that the established provider left.
func TestMachineStatus(t *testing.T) {
	const name = "CAPZ.Linux.Bootstrapping"
	for reason, test := range map[string]struct {
		vm        pool.Instance
		addresses []clusterv1.MachineAddress
		// bootstrap is the status and reason of BootstrapSucceeded, "" for none.
		bootstrap, message string
	}{
		"no extensions, nothing is known of bootstrapping": {vm: pool.Instance{ProvisioningState: "Succeeded"}},
		"the computer has a name": {vm: pool.Instance{ComputerName: "p000007"},
			addresses: []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: "p000007"}}},
		"the VM still boots": {vm: pool.Instance{Extensions: []pool.Extension{{Name: "custom", State: "Succeeded"},
			{Name: name, State: "Creating"}}},
			bootstrap: "False Creating", message: "Azure has extension CAPZ.Linux.Bootstrapping in state Creating"},
		"it did not come up": {vm: pool.Instance{Extensions: []pool.Extension{{Name: "custom", State: "Creating"},
			{Name: name, State: "Failed"}}},
			bootstrap: "False Failed",
			message:   "extension CAPZ.Linux.Bootstrapping is in state Failed; its output is in the instance view of the VM"},
		"all came up": {vm: pool.Instance{Extensions: []pool.Extension{{Name: name, State: "succeeded"}}}, bootstrap: "True Ready"},
	} {
		t.Run(reason, func(t *testing.T) {
			vm := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("p-7")}
			vm.Status.Conditions = []metav1.Condition{{Type: infrav1.BootstrapSucceededCondition, Status: metav1.ConditionTrue},
				{Type: "OnlyThere", Status: metav1.ConditionTrue}}
			k := &Kind{Client: storetest.NewClient(t, vm)}
			if err := k.updateMachineStatus(t.Context(), &input{cluster: &clusterv1.Cluster{}, azurePool: &infrav1.AzureMachinePool{}}, member{vm: vm}, test.vm); err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureMachinePoolMachine{}
			if err := k.Client.Get(t.Context(), client.ObjectKeyFromObject(vm), stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{infrav1.MachinePoolMachineFinalizer}, stored.Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.addresses, stored.Status.Addresses); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
			bootstrap, message := "", ""
			for _, condition := range stored.Status.Conditions {
				if condition.Reason == "" || condition.Type == "OnlyThere" {
					t.Errorf("the condition did not change: %+v", condition)
				}
				if condition.Type == infrav1.BootstrapSucceededCondition {
					bootstrap, message = string(condition.Status)+" "+condition.Reason, condition.Message
				}
			}
			if bootstrap != test.bootstrap || message != test.message {
				t.Errorf("%q %q, want %q %q", bootstrap, message, test.bootstrap, test.message)
			}
		})
	}
}

// TestOwnerIsRestored updates AzureMachinePoolMachines whose owner references are not those that the pool writes.
func TestOwnerIsRestored(t *testing.T) {
	owner := metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureMachinePool", Name: "p", UID: "pool", BlockOwnerDeletion: new(true)}
	machine := metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: "m", UID: "machine"}
	with := func(change func(*metav1.OwnerReference)) metav1.OwnerReference {
		out := owner
		change(&out)
		return out
	}
	controller := with(func(r *metav1.OwnerReference) { r.Controller = new(true) })
	for name, test := range map[string]struct {
		reason    string
		has, want []metav1.OwnerReference
	}{
		"none":                {"a backup restores objects without owners", nil, []metav1.OwnerReference{owner}},
		"another owner":       {"owners of others stay", []metav1.OwnerReference{machine}, []metav1.OwnerReference{machine, owner}},
		"another UID":         {"the pool of the name was deleted", []metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.UID = "old" })}, []metav1.OwnerReference{owner}},
		"another API version": {"the version may be removed", []metav1.OwnerReference{with(func(r *metav1.OwnerReference) { r.APIVersion = infrav1.GroupVersion.Group + "/v1alpha4" })}, []metav1.OwnerReference{owner}},
		"another flag":        {"it names the pool, so it is not written", []metav1.OwnerReference{controller}, []metav1.OwnerReference{controller}},
	} {
		t.Run(name, func(t *testing.T) {
			vm := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("p-7")}
			vm.OwnerReferences = test.has
			k := &Kind{Client: storetest.NewClient(t, vm)}
			in := &input{cluster: &clusterv1.Cluster{}, azurePool: &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "pool"}}}
			if err := k.updateMachineStatus(t.Context(), in, member{vm: vm}, pool.Instance{}); err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureMachinePoolMachine{}
			if err := k.Client.Get(t.Context(), client.ObjectKeyFromObject(vm), stored); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, stored.OwnerReferences); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestRunningCondition checks that the condition of a VM says what happens to it: Azure deletes it again after a failure, or it is replaced,
// which is not so if an autoscaler owns the number of VMs.
func TestRunningCondition(t *testing.T) {
	busy := &arm.Error{Method: "POST", ID: "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p",
		Code: "OperationPreempted", Message: "Another one."}
	for reason, test := range map[string]struct {
		vm        pool.Instance
		again     error
		elsewhere bool
		reason    string
		message   string
	}{
		"it runs":                    {vm: pool.Instance{ProvisioningState: "Succeeded"}, reason: infrav1.ReadyReason},
		"it runs while another goes": {vm: pool.Instance{ProvisioningState: "Succeeded"}, again: busy, reason: infrav1.ReadyReason},
		"it is deleted": {vm: pool.Instance{ProvisioningState: "Deleting"}, reason: infrav1.VMDeletingReason,
			message: "Azure deletes the VM"},
		"it is deleted for the next time": {vm: pool.Instance{ProvisioningState: "Deleting"}, again: busy, reason: infrav1.VMDeletingReason,
			message: "Azure deletes the VM, again after: " + busy.Error()},
		"it was stopped": {vm: pool.Instance{ProvisioningState: "Succeeded", PowerState: "deallocated"}, reason: infrav1.VMStoppedReason,
			message: "it is deallocated; it is replaced within the limits of spec.strategy"},
		"it was stopped, and an autoscaler owns the size": {vm: pool.Instance{ProvisioningState: "Succeeded", PowerState: "deallocated"},
			elsewhere: true, reason: infrav1.VMStoppedReason,
			message: "it is deallocated; an autoscaler owns the number of VMs, so it is not replaced: delete its Machine"},
		"it was evicted": {vm: pool.Instance{ProvisioningState: "Succeeded", PowerState: "deallocated", Spot: true}, reason: infrav1.SpotVMEvictedReason,
			message: "the spot VM is deallocated: Azure evicted it, or it was stopped; it is replaced within the limits of spec.strategy"},
		"it is being evicted": {vm: pool.Instance{ProvisioningState: "Updating", PowerState: "deallocating", Spot: true}, reason: infrav1.VMStoppedReason,
			message: "it is deallocating; it is replaced within the limits of spec.strategy"},
		"it failed, and is deallocated": {vm: pool.Instance{ProvisioningState: "Failed", PowerState: "deallocated", Spot: true}, reason: infrav1.VMFailedReason,
			message: "Azure has it in state Failed; it is replaced within the limits of spec.strategy"},
		"it failed": {vm: pool.Instance{ProvisioningState: "Failed"}, reason: infrav1.VMFailedReason,
			message: "Azure has it in state Failed; it is replaced within the limits of spec.strategy"},
		"it failed, and an autoscaler owns the size": {vm: pool.Instance{ProvisioningState: "Failed"}, elsewhere: true,
			reason:  infrav1.VMFailedReason,
			message: "Azure has it in state Failed; an autoscaler owns the number of VMs, so it is not replaced: delete its Machine"},
	} {
		if got := runningCondition(test.vm, test.again, nil, test.elsewhere); got.Reason != test.reason || got.Message != test.message {
			t.Errorf("%s: %s %q, want %s %q", reason, got.Reason, got.Message, test.reason, test.message)
		}
	}
}

// TestWatchLabelIsInherited checks that the object of a VM has the watch label of its pool and so belongs to the same manager, also if the
// pool got the label later.
func TestWatchLabelIsInherited(t *testing.T) {
	azurePool := &infrav1.AzureMachinePool{ObjectMeta: storetest.NewMeta("p")}
	azurePool.Labels = map[string]string{clusterv1.WatchLabel: "red", "team": "a"}
	old := &infrav1.AzureMachinePoolMachine{ObjectMeta: storetest.NewMeta("p-7")}
	k := &Kind{Client: storetest.NewClient(t, old)}
	in := &input{cluster: &clusterv1.Cluster{}, machinePool: &clusterv1.MachinePool{}, azurePool: azurePool}
	if err := k.updateMachineStatus(t.Context(), in, member{vm: old}, pool.Instance{}); err != nil {
		t.Fatal(err)
	}
	if err := k.createMachine(t.Context(), in, pool.Instance{ID: "/vmss/p/virtualMachines/p_8"}); err != nil {
		t.Fatal(err)
	}
	stored := &infrav1.AzureMachinePoolMachineList{}
	if err := k.Client.List(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	for _, object := range stored.Items {
		if object.Labels[clusterv1.WatchLabel] != "red" || object.Labels["team"] != "" {
			t.Errorf("%s has the labels %v, want the watch label of its pool", object.Name, object.Labels)
		}
	}
	if len(stored.Items) != 2 {
		t.Errorf("%d objects, want 2", len(stored.Items))
	}
}

// TestDesiredReplicasCondition promises no replacement of broken VMs if an autoscaler owns their number, and has the reason of the worst of them.
func TestDesiredReplicasCondition(t *testing.T) {
	stopped := pool.Instance{Name: "p_0", ProvisioningState: "Succeeded", PowerState: "deallocated"}
	evicted := pool.Instance{Name: "p_1", ProvisioningState: "Succeeded", PowerState: "deallocated", Spot: true}
	failed := pool.Instance{Name: "p_2", ProvisioningState: "Failed"}
	for name, test := range map[string]struct {
		there, wanted   int
		broken          []pool.Instance
		elsewhere       bool
		reason, message string
	}{
		"as wanted": {2, 2, nil, false, infrav1.ReadyReason, ""},
		"too few": {1, 2, []pool.Instance{stopped}, false, infrav1.ScaleSetScalingUpReason,
			"the scale set has 1 of 2 requested VMs; to be replaced: p_0: it is deallocated"},
		"too few, with an autoscaler": {1, 2, []pool.Instance{stopped}, true, infrav1.ScaleSetScalingUpReason,
			"the scale set has 1 of 2 requested VMs; an autoscaler owns the number of VMs, so Machines of broken ones have to be deleted: p_0: it is deallocated"},
		"stopped": {2, 2, []pool.Instance{stopped}, false, infrav1.VMStoppedReason, "to be replaced: p_0: it is deallocated"},
		"evicted": {2, 2, []pool.Instance{evicted}, false, infrav1.SpotVMEvictedReason,
			"to be replaced: p_1: the spot VM is deallocated: Azure evicted it, or it was stopped"},
		"evicted and failed": {2, 2, []pool.Instance{evicted, failed}, false, infrav1.VMFailedReason,
			"to be replaced: p_1: the spot VM is deallocated: Azure evicted it, or it was stopped, p_2: Azure has it in state Failed"},
		"many": {5, 5, []pool.Instance{stopped, stopped, stopped, stopped, failed}, false, infrav1.VMFailedReason,
			"to be replaced: p_0: it is deallocated, p_0: it is deallocated, p_0: it is deallocated, p_0: it is deallocated"},
	} {
		if got := desiredReplicasCondition(test.there, test.wanted, test.broken, test.elsewhere); got.Reason != test.reason || got.Message != test.message {
			t.Errorf("%s: %s %q, want %s %q", name, got.Reason, got.Message, test.reason, test.message)
		}
	}
}
