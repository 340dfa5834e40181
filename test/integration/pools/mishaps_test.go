package pools_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const computeVersion = "2025-04-01"

func scaleSet(pool string) string {
	return "resourceGroups/c1/providers/Microsoft.Compute/virtualMachineScaleSets/" + pool
}

// mishaps are events in a pool of two VMs, of which the first has the number 0. Each ends with two working VMs.
var mishaps = map[string]struct {
	reason string
	happen func(stage *harness.Stage, pool string)
	// stays is set if the first VM still exists afterwards.
	stays bool
}{
	"deleted": {reason: "a user deleted a VM in Azure: the provider creates another one", happen: func(stage *harness.Stage, pool string) {
		stage.Azure.DeleteResource(scaleSet(pool)+"/virtualMachines/0", computeVersion)
	}},
	"stopped": {reason: "a VM that was deallocated, and whose node is not Ready, is of no use",
		happen: func(stage *harness.Stage, pool string) {
			stage.Azure.PostAction(scaleSet(pool)+"/virtualMachines/0/deallocate", computeVersion)
			machine := &clusterv1.Machine{}
			stage.ReadObject(machine, pool+"-0")
			before := machine.DeepCopy()
			conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionFalse,
				Reason: clusterv1.MachineNodeNotReadyReason})
			if err := stage.Client.Status().Patch(stage.T.Context(), machine, client.MergeFrom(before)); err != nil {
				stage.T.Fatal(err)
			}
		}},
	"unlisted": {reason: "one list leaves out an existing VM: the provider reads it by itself, and nothing happens to its Machine", stays: true,
		happen: func(stage *harness.Stage, pool string) {
			rule := fault.Rule{Kind: fault.Omit, Method: "GET", ID: "*/virtualmachinescalesets/" + pool + "/virtualmachines",
				Target: "/virtualMachines/0"}
			if err := stage.Azure.AddFault(rule); err != nil {
				stage.T.Fatal(err)
			}
		}},
	"leaving": {reason: "lists leave a VM out whose Machine is deleted: it is asked for by itself, and deleted",
		happen: func(stage *harness.Stage, pool string) {
			rule := fault.Rule{Kind: fault.Omit, Method: "GET", ID: "*/virtualmachinescalesets/" + pool + "/virtualmachines",
				Target: "/virtualMachines/0", Count: -1}
			if err := stage.Azure.AddFault(rule); err != nil {
				stage.T.Fatal(err)
			}
			machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: pool + "-0"}}
			if err := stage.Client.Delete(stage.T.Context(), machine); err != nil {
				stage.T.Fatal(err)
			}
		}},
	"running": {reason: "a VM whose node is Ready is of use, whatever its state in Azure", stays: true,
		happen: func(stage *harness.Stage, pool string) {
			stage.Azure.PostAction(scaleSet(pool)+"/virtualMachines/0/deallocate", computeVersion)
		}},
	"marked": {reason: "an annotation alone does nothing: it orders VMs when the pool gets smaller", stays: true,
		happen: func(stage *harness.Stage, pool string) {
			harness.ChangeObject(stage, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: pool + "-0"}}, func(m *clusterv1.Machine) {
				m.Annotations = map[string]string{clusterv1.DeleteMachineAnnotation: ""}
			})
		}},
	"object": {reason: "a user who deletes the object of a VM wants the VM to be deleted", happen: func(stage *harness.Stage, pool string) {
		vm := &infrav1.AzureMachinePoolMachine{}
		stage.ReadObject(vm, pool+"-0")
		if err := stage.Client.Delete(stage.T.Context(), vm); err != nil {
			stage.T.Fatal(err)
		}
	}},
	"token": {reason: "new bootstrap data are for VMs to come", stays: true, happen: func(stage *harness.Stage, pool string) {
		harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}, func(p *clusterv1.MachinePool) {
			p.Spec.Template.Spec.Bootstrap.DataSecretName = new("other")
		})
	}},
}

// TestMishaps lets one mishap happen to each pool.
func TestMishaps(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	stage.WaitClusterProvisioned("c1")
	for name := range mishaps {
		stage.CreatePool(stage.AzureMachinePool("c1", name), 2)
	}
	first := map[string]string{}
	for name := range mishaps {
		first[name] = stage.WaitPool(name, 2).Spec.ProviderIDList[0]
	}
	waitNodes(stage, 2*len(mishaps), 2*len(mishaps))
	mark := stage.Azure.MarkRequests()
	for name, test := range mishaps {
		test.happen(stage, name)
		stage.WakeControllers(&infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	for name, test := range mishaps {
		if !test.stays {
			harness.WaitFor(stage, &infrav1.AzureMachinePool{}, name, "whole again: "+test.reason, func(p *infrav1.AzureMachinePool) bool {
				return harness.IsReady(p) && len(p.Spec.ProviderIDList) == 2 && !slices.Contains(p.Spec.ProviderIDList, first[name])
			})
		}
	}
	stage.Eventually("the VM that a list left out is asked for by itself", func() bool {
		return slices.ContainsFunc(stage.Azure.RequestsSince(mark), func(request string) bool {
			return strings.HasPrefix(request, "GET ") && strings.Contains(request, "virtualMachineScaleSets/unlisted/virtualMachines/0 200")
		})
	})
	for name, test := range mishaps {
		pool := stage.WaitPool(name, 2)
		if stays := slices.Contains(pool.Spec.ProviderIDList, first[name]); stays != test.stays {
			t.Errorf("%s: %s: the first VM exists: %t, want %t", name, test.reason, stays, test.stays)
		}
		if status, _ := stage.Azure.GetResource(scaleSet(name)+"/virtualMachines/0", computeVersion); (status == http.StatusOK) != test.stays {
			t.Errorf("%s: %s: GET of the first VM: %d", name, test.reason, status)
		}
		for _, write := range stage.Azure.WritesSince(mark) {
			if test.stays && strings.HasPrefix(write, "PUT") && strings.Contains(write, "virtualMachineScaleSets/"+name) {
				t.Errorf("%s: %s: %s", name, test.reason, write)
			}
		}
	}
	// The VM that Azure has deallocated is not replaced as long as its node is Ready, and its object does not become Ready.
	waitNodes(stage, 2*len(mishaps)-1, 2*len(mishaps))
}

// waitNodes waits until that many VMs of so many have Ready nodes, and no object represents a VM that no longer exists.
func waitNodes(stage *harness.Stage, want, of int) {
	stage.T.Helper()
	stage.Eventually("the VMs are Ready", func() bool {
		vms := &infrav1.AzureMachinePoolMachineList{}
		if err := stage.Client.List(stage.T.Context(), vms, client.InNamespace(stage.Namespace)); err != nil {
			return false
		}
		ready := 0
		for _, vm := range vms.Items {
			if vm.Status.Ready && vm.DeletionTimestamp.IsZero() {
				ready++
			}
		}
		return ready == want && len(vms.Items) == of
	})
}

// TestAutoscaled lets an autoscaler add a VM in Azure; it expects that the MachinePool follows, and that the size stays.
func TestAutoscaled(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	stage.WaitClusterProvisioned("c1")
	stage.CreatePool(stage.AzureMachinePool("c1", "pool"), 1)
	stage.WaitPool("pool", 1)
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}, func(p *clusterv1.MachinePool) {
		p.Annotations = map[string]string{clusterv1.ReplicasManagedByAnnotation: "keda"}
	})
	_, shown := stage.Azure.GetResource(scaleSet("pool"), computeVersion)
	stage.Azure.PutResource(scaleSet("pool"), computeVersion,
		map[string]any{"location": shown["location"], "tags": shown["tags"],
			"sku": map[string]any{"name": "Standard_D2s_v3", "tier": "Standard", "capacity": 2}})
	stage.WakeControllers(&infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}})
	harness.WaitFor(stage, &clusterv1.MachinePool{}, "pool", "as large as the scale set",
		func(p *clusterv1.MachinePool) bool { return *p.Spec.Replicas == 2 })
	stage.WaitPool("pool", 2)
}

// TestUnavailableSize gives pools a size that the region does not have, and deletes a Machine of each. The VM of the Machine goes, the
// other one stays, and the condition has the reason why no VM replaces it.
func TestUnavailableSize(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	stage.WaitClusterProvisioned("c1")
	modes := map[string]infrav1.OrchestrationMode{"uniform": infrav1.UniformOrchestration, "flexible": infrav1.FlexibleOrchestration}
	for name, mode := range modes {
		azurePool := stage.AzureMachinePool("c1", name)
		azurePool.Spec.OrchestrationMode = mode
		stage.CreatePool(azurePool, 2)
	}
	setSize := func(name, size string) {
		harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}},
			func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = size })
	}
	for name := range modes {
		providerIDs := stage.WaitPool(name, 2).Spec.ProviderIDList
		setSize(name, "Standard_D2s_v33")
		isRefused := func(p *infrav1.AzureMachinePool) bool {
			running := harness.FindCondition(p, infrav1.ScaleSetRunningCondition)
			return strings.Contains(running.Message, `spec.template.vmSize: Invalid value: "Standard_D2s_v33"`)
		}
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, name, "refused", isRefused)
		leaving := findPoolMachine(stage, providerIDs[0])
		machine := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: leaving}}
		if err := stage.Client.Delete(t.Context(), machine); err != nil {
			t.Fatal(err)
		}
		stage.WaitGone(&infrav1.AzureMachinePoolMachine{}, leaving)
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, name, "without the VM", func(p *infrav1.AzureMachinePool) bool {
			return isRefused(p) && slices.Equal(p.Spec.ProviderIDList, providerIDs[1:])
		})
		setSize(name, "Standard_D2s_v3")
		stage.WaitPool(name, 2)
	}
}

// findPoolMachine returns the name of the AzureMachinePoolMachine of a VM.
func findPoolMachine(stage *harness.Stage, providerID string) string {
	stage.T.Helper()
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := stage.Client.List(stage.T.Context(), vms, client.InNamespace(stage.Namespace)); err != nil {
		stage.T.Fatal(err)
	}
	for _, vm := range vms.Items {
		if vm.Spec.ProviderID == providerID {
			return vm.Name
		}
	}
	stage.T.Fatalf("no AzureMachinePoolMachine has the provider ID %s", providerID)
	return ""
}

// TestRefusedPools creates scale sets that Azure refuses, or that belong to another owner; it expects that the condition names the error,
// and that created VMs are used.
func TestRefusedPools(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	stage.WaitClusterProvisioned("c1")

	windows := stage.AzureMachinePool("c1", "windows-0")
	windows.Spec.Template.OSDisk.OSType, windows.Spec.Template.OSDisk.DiskSizeGB = infrav1.WindowsOS, new(int32(128))
	stage.CreatePool(windows, 1)
	stage.CreatePool(stage.AzureMachinePool("c1", "model"), 0)
	stage.WaitPool("model", 0)
	stage.CreatePool(stage.AzureMachinePool("c1", "growing"), 1)
	stage.WaitPool("growing", 1)
	if err := stage.Azure.AddFault(fault.Rule{Method: "PUT", ID: "*/virtualmachinescalesets/growing", Count: -1,
		Kind: fault.Allocate}); err != nil {
		t.Fatal(err)
	}
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "growing"}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "growing", "refused", func(p *infrav1.AzureMachinePool) bool {
		running := harness.FindCondition(p, infrav1.ScaleSetRunningCondition)
		return running.Status == metav1.ConditionFalse && strings.Contains(running.Message, "AllocationFailed") && !harness.IsReady(p) &&
			len(p.Spec.ProviderIDList) >= 1
	})
	stage.Azure.ClearFaults()
	stage.WakeControllers(&infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "growing"}})
	harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "growing"}}, func(p *infrav1.AzureMachinePool) {
		if p.Annotations == nil {
			p.Annotations = map[string]string{}
		}
		p.Annotations[infrav1.ReconcileRequestedAnnotation] = "now"
	})
	stage.WaitPool("growing", 3)

	// Azure demands a password of Windows VMs; users need not set one.
	stage.WaitPool("windows-0", 1)
	_, made := stage.Azure.GetResource(scaleSet("model"), computeVersion)
	made["tags"] = map[string]any{"whose": "theirs"}
	for _, key := range []string{"id", "name", "type", "etag"} {
		delete(made, key)
	}
	stage.Azure.PutResource(scaleSet("other"), computeVersion, made)
	mark := stage.Azure.MarkRequests()
	stage.CreatePool(stage.AzureMachinePool("c1", "other"), 1)
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "other", "refused", func(p *infrav1.AzureMachinePool) bool {
		return harness.FindCondition(p, infrav1.ScaleSetRunningCondition).Reason == infrav1.ResourceExistsNotOwnedReason
	})
	for _, write := range stage.Azure.WritesSince(mark) {
		if strings.Contains(write, "virtualMachineScaleSets/other") {
			t.Errorf("a scale set of another owner got %s", write)
		}
	}
}
