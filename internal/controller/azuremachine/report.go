package azuremachine

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// conditionGroups are the conditions of an AzureMachine, in their order of display.
var conditionGroups = []string{
	infrav1.VMRunningCondition,
	infrav1.NetworkInterfacesReadyCondition,
	infrav1.InboundNATRulesReadyCondition,
	infrav1.AvailabilitySetReadyCondition,
	infrav1.DisksReadyCondition,
	infrav1.PublicIPsReadyCondition,
	infrav1.RoleAssignmentReadyCondition,
	infrav1.BootstrapSucceededCondition,
}

// Report implements reconcile.Kind. Once the VM runs, it sets the fields of the status that Cluster API reads.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.azureMachine.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	found := describeVM(groupConditions(outcome), in, outcome)
	if in.missingIdentities != nil {
		found = append(found, *in.missingIdentities)
	}
	reportGroups(in, outcome, found)
	reportVM(in, outcome)
	return 0, nil
}

// reportVM copies the state of the VM in Azure to the status.
func reportVM(in *input, outcome arm.Outcome) {
	vm, ok := outcome.Result(plan.VMID(in.planned))
	if !ok || len(vm.Observed) == 0 {
		return
	}
	status := &in.azureMachine.Status
	status.VMState = machine.VMState(vm.Observed)
	status.Addresses = machine.MachineAddresses(in.planned, outcome)
	if !vm.IsDone() {
		return
	}
	if in.azureMachine.Spec.ProviderID == nil {
		in.azureMachine.Spec.ProviderID = new(plan.ProviderID(vm.ID))
	}
	metav1.SetMetaDataAnnotation(&in.azureMachine.ObjectMeta, infrav1.AzureMachineAnnotation, "true")
	status.FailureDomain = machine.Zone(vm.Observed)
	if outcome.IsDone() {
		status.Initialization.Provisioned = new(true)
		status.Ready = !isStopped(in.planned) && (!in.power.IsRequested() || in.isRunning())
	}
}

// reportDeletion sets the status while the deletion progresses.
func reportDeletion(in *input, outcome arm.Outcome) {
	reportGroups(in, outcome, groupConditions(outcome))
	if !outcome.IsDeleted() {
		in.azureMachine.Status.VMState = infrav1.VMStateDeleting
	}
}

// vmReasons are the reasons of VMRunning while an operation on the VM runs.
var vmReasons = map[string]string{
	infrav1.CreatingReason: infrav1.VMCreatingReason,
	infrav1.UpdatingReason: infrav1.VMUpdatingReason,
	infrav1.DeletingReason: infrav1.VMDeletingReason,
}

// groupConditions returns the conditions of the outcome.
func groupConditions(outcome arm.Outcome) []metav1.Condition {
	found := status.GroupConditions(outcome, conditionGroups, machine.ConditionForPruned)
	for i := range found {
		if reason, ok := vmReasons[found[i].Reason]; ok && found[i].Type == infrav1.VMRunningCondition {
			found[i].Reason = reason
		}
	}
	return found
}

// describeVM adds details to the condition of the VM: that Azure has the VM in state Failed, the requested capacity, and that the VM
// was stopped or evicted.
func describeVM(found []metav1.Condition, in *input, outcome arm.Outcome) []metav1.Condition {
	planned := in.planned
	i := slices.IndexFunc(found, func(c metav1.Condition) bool { return c.Type == infrav1.VMRunningCondition })
	if i < 0 {
		return found
	}
	vm := &found[i]
	switch {
	case vm.Reason == infrav1.WaitingReason && planned.BootstrapData == nil && !planned.MachineFacts.VMExists:
		vm.Reason = infrav1.WaitingForBootstrapDataReason
	case vm.Reason == infrav1.FailedReason && isVMFailed(outcome):
		vm.Reason = infrav1.VMFailedReason
	case vm.Reason == infrav1.QuotaExceededReason || vm.Reason == infrav1.CapacityUnavailableReason:
		vm.Message = "asked for " + machine.DescribeRequest(planned) + ": " + vm.Message
	case in.powerProblem != nil:
		*vm = *in.powerProblem
	case vm.Status == metav1.ConditionTrue && in.power.IsRequested() && !in.isRunning():
		vm.Status, vm.Reason, vm.Message = metav1.ConditionFalse, in.power.Reason(), in.power.Describe()
	case vm.Status == metav1.ConditionTrue && isStopped(planned):
		// Azure does not start it again by itself.
		state := planned.MachineFacts.PowerState
		vm.Status, vm.Reason = metav1.ConditionFalse, infrav1.VMStoppedReason
		vm.Message = "The VM is " + state + ": it was stopped."
		if planned.AzureMachine.Spec.SpotVMOptions != nil && state == "deallocated" {
			vm.Reason = infrav1.SpotVMEvictedReason
			vm.Message = "The spot VM is deallocated: Azure evicted it, or it was stopped."
		}
		vm.Message += " Start it in Azure, delete the Machine, or let a MachineHealthCheck replace it"
	}
	return found
}

// isStopped reports whether the VM is stopped or about to be.
func isStopped(planned plan.MachineInput) bool {
	return slices.Contains([]string{"stopping", "stopped", "deallocating", "deallocated"}, planned.MachineFacts.PowerState)
}

// isRunning reports whether the VM runs although it has to stop, which Azure cannot do, or again after a stop.
func (in *input) isRunning() bool {
	return in.planned.MachineFacts.PowerState == "running" &&
		(in.power.Starting || in.planned.AzureMachine.Spec.OSDisk.DiffDiskSettings != nil)
}

// reportGroups sets the conditions found, and removes those of groups that the machine does not have.
func reportGroups(in *input, outcome arm.Outcome, found []metav1.Condition) {
	found = status.SetConditions(in.azureMachine, append([]string{infrav1.VMIdentitiesReadyCondition}, conditionGroups...), found)
	status.SetCondition(in.azureMachine, status.SummaryCondition(infrav1.ReadyCondition, found))
	in.azureMachine.Status.Resources = status.ResourceStatuses(outcome)
}

// isVMFailed reports whether Azure has the VM in the state Failed, and did not merely refuse to create it.
func isVMFailed(outcome arm.Outcome) bool {
	return slices.ContainsFunc(outcome.Results, func(result arm.Result) bool {
		return result.Group == infrav1.VMRunningCondition && strings.EqualFold(machine.VMState(result.Observed), "Failed")
	})
}

const notMadeAgain = " It is not created again: delete the Machine, or let a MachineHealthCheck replace it"

// reportVMGone reports a VM that was deleted outside, or evicted with the eviction policy Delete. It is not created again: Cluster API
// replaces the Machine.
func reportVMGone(in *input) {
	in.azureMachine.Status.VMState = infrav1.VMStateDeleted
	in.azureMachine.Status.Ready = false
	condition := metav1.Condition{
		Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse, Reason: infrav1.VMDeletedReason,
		Message: "The VM " + *in.azureMachine.Spec.ProviderID + " no longer exists." + notMadeAgain,
	}
	if spot := in.planned.AzureMachine.Spec.SpotVMOptions; spot != nil && spot.EvictionPolicy != nil &&
		*spot.EvictionPolicy == infrav1.SpotEvictionPolicyDelete {
		condition.Reason = infrav1.SpotVMEvictedReason
		condition.Message = "The spot VM " + *in.azureMachine.Spec.ProviderID + " no longer exists: Azure evicted it, or it was deleted." + notMadeAgain
	}
	conditions.Set(in.azureMachine, condition)
	condition.Type = infrav1.ReadyCondition
	conditions.Set(in.azureMachine, condition)
}
