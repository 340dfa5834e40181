package pools_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestBadInput creates pools that lack a setting, or that exceed a limit; it expects that the condition of each names the error, and that
// the pool is created once that is corrected.
func TestBadInput(t *testing.T) {
	t.Parallel()
	stage := newStage(t)

	alone := stage.AzureMachinePool("c1", "alone")
	stage.CreateObject(alone)
	stage.CreatePool(stage.AzureMachinePool("c1", "unbooted"), 1)
	secret := &corev1.Secret{}
	stage.ReadObject(secret, "unbooted")
	if err := stage.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	old := stage.AzureMachinePool("c1", "old")
	old.Spec.OrchestrationMode = infrav1.FlexibleOrchestration
	stage.CreatePool(old, 1)
	version := func(version string) {
		harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "old"}},
			func(p *clusterv1.MachinePool) { p.Spec.Template.Spec.Version = version })
	}
	version("v1.25.16")
	if err := stage.Azure.AddFault(fault.Rule{Method: "PUT", ID: "*/virtualmachinescalesets/greedy", Count: -1,
		Kind: fault.Quota}); err != nil {
		t.Fatal(err)
	}
	stage.CreatePool(stage.AzureMachinePool("c1", "greedy"), 1)
	stage.WaitClusterProvisioned("c1")

	for name, want := range map[string]string{
		"unbooted": "the Secret with the bootstrap data does not exist yet",
		"old":      "spec.orchestrationMode",
		"greedy":   "OperationNotAllowed",
	} {
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, name, "with the message "+want, func(p *infrav1.AzureMachinePool) bool {
			running := harness.FindCondition(p, infrav1.ScaleSetRunningCondition)
			return running.Status == metav1.ConditionFalse && strings.Contains(running.Message, want)
		})
	}
	const missing = "no MachinePool owns the AzureMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "alone", "shown to lack a MachinePool", func(p *infrav1.AzureMachinePool) bool {
		ready := harness.FindCondition(p, infrav1.ReadyCondition)
		return ready.Status == metav1.ConditionFalse && ready.Reason == infrav1.OwnerRefNotSetReason && ready.Message == missing
	})
	stage.Eventually("an event names the MachinePool that is missing", func() bool {
		return slices.ContainsFunc(stage.ListEvents("AzureMachinePool", "alone"), func(event string) bool { return strings.Contains(event, missing) })
	})

	stage.Azure.ClearFaults()
	version("v1.33.2")
	stage.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "unbooted"}, Data: secret.Data})
	for _, name := range []string{"unbooted", "old", "greedy"} {
		harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(p *infrav1.AzureMachinePool) {
			if p.Annotations == nil {
				p.Annotations = map[string]string{}
			}
			p.Annotations[infrav1.ReconcileRequestedAnnotation] = "now"
		})
		stage.WaitPool(name, 1)
	}
}

// TestMachineInScaleSetOfPool names the scale set of a pool in an AzureMachine. Its VM is not created, and the pool keeps its own.
func TestMachineInScaleSetOfPool(t *testing.T) {
	t.Parallel()
	stage := newStage(t)
	azurePool := stage.AzureMachinePool("c1", "pool")
	azurePool.Spec.OrchestrationMode = infrav1.FlexibleOrchestration
	stage.CreatePool(azurePool, 1)
	stage.WaitClusterProvisioned("c1")
	providerIDs := stage.WaitPool("pool", 1).Spec.ProviderIDList
	azureMachine := stage.AzureMachine("c1", "m1")
	azureMachine.Spec.VirtualMachineScaleSetID = new("/subscriptions/" + stage.Azure.SubscriptionID + "/" + scaleSet("Pool"))
	stage.CreateMachine(azureMachine, harness.Worker, "")
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "refused", func(m *infrav1.AzureMachine) bool {
		running := harness.FindCondition(m, infrav1.VMRunningCondition)
		return running.Status == metav1.ConditionFalse &&
			strings.Contains(running.Message, "is the scale set of AzureMachinePool pool, which creates and deletes its VMs itself")
	})
	if got := stage.WaitPool("pool", 1).Spec.ProviderIDList; !slices.Equal(got, providerIDs) {
		t.Errorf("VMs of the pool are %v, and were %v", got, providerIDs)
	}
}
