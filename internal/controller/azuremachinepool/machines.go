package azuremachinepool

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/watch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// reconcileMachines keeps an AzureMachinePoolMachine with the state of each VM, deletes the Machines of VMs that have to go, and
// releases objects whose VM is gone. The Machine of an observed pool stays, because Cluster API drains its Node.
func (k *Kind) reconcileMachines(ctx context.Context, session reconcile.Session, in *input) error {
	members := in.membersByProviderID()
	for _, vm := range in.vms {
		m, known := members[strings.ToLower(vm.ProviderID)]
		if !known {
			if vm.IsDeleting() {
				continue
			}
			if err := k.createMachine(ctx, in, vm); err != nil {
				return err
			}
			continue
		}
		if err := k.updateMachineStatus(ctx, in, m, vm); err != nil {
			return err
		}
		if m.readState().Paused {
			continue
		}
		if !m.vm.DeletionTimestamp.IsZero() || slices.Contains(in.actions.Retire, string(vm.ID)) {
			// The deletion of an AzureMachinePoolMachine deletes its Machine too, so that hooks of the Machine run before the VM goes. The
			// node is drained only if the Machine is deleted first: Cluster API skips that for an AzureMachinePoolMachine being deleted.
			if session.Observing {
				session.Intend("drain and delete " + vm.ID.ShortName())
				continue
			}
			if err := k.deleteMachine(ctx, m); err != nil {
				return err
			}
		}
	}
	for _, m := range in.orphanedMembers() {
		if err := k.releaseMachine(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// machineName returns the name of the object for a VM: the pool's name and the VM's name in the scale set.
func machineName(in *input, vm pool.Instance) string {
	return in.azurePool.Name + "-" + strings.ReplaceAll(vm.ID.Name(), "_", "-")
}

func (k *Kind) createMachine(ctx context.Context, in *input, vm pool.Instance) error {
	machine := &infrav1.AzureMachinePoolMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: in.azurePool.Namespace, Name: machineName(in, vm), Labels: in.machineLabels(),
			Finalizers: []string{infrav1.MachinePoolMachineFinalizer}, OwnerReferences: []metav1.OwnerReference{in.poolReference()},
		},
		Spec: infrav1.AzureMachinePoolMachineSpec{ProviderID: vm.ProviderID, InstanceID: vm.InstanceID},
	}
	watch.InheritFilterLabel(in.azurePool, machine)
	if err := k.Client.Create(ctx, machine); err != nil {
		if apierrors.IsAlreadyExists(err) {
			// The cache is outdated. The event of the existing object wakes the pool.
			return nil
		}
		return fmt.Errorf("create AzureMachinePoolMachine %s: %w", machine.Name, err)
	}
	in.members = append(in.members, member{vm: machine})
	return k.updateMachineStatus(ctx, in, in.members[len(in.members)-1], vm)
}

// poolReference returns the owner reference of AzureMachinePoolMachines. With it, Kubernetes deletes them with the pool, and clusterctl move moves
// them.
func (in *input) poolReference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureMachinePool", Name: in.azurePool.Name,
		UID: in.azurePool.UID, BlockOwnerDeletion: new(true)}
}

// updateMachineStatus writes the state of a VM into the status of its object, and adds a missing finalizer, owner and watch label: without
// the finalizer the object could go before its VM, and backups restore objects without owners. For a paused object it only updates the
// Paused condition.
func (k *Kind) updateMachineStatus(ctx context.Context, in *input, m member, vm pool.Instance) error {
	before := m.vm.DeepCopy()
	changes := patch.TrackRelatedChanges(k.Client, m.vm)
	if !lifecycle.UpdatePausedCondition(m.vm, machineKind, in.cluster) {
		m.reportVM(vm, in.lastDeletionFailure, in.power, in.isScaledElsewhere())
		if m.vm.DeletionTimestamp.IsZero() {
			controllerutil.AddFinalizer(m.vm, infrav1.MachinePoolMachineFinalizer)
			watch.InheritFilterLabel(in.azurePool, m.vm)
			// An owner with another UID is a deleted pool of the same name. One with another API version was written before an upgrade.
			owner := in.poolReference()
			if !slices.ContainsFunc(m.vm.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner.UID && r.APIVersion == owner.APIVersion }) {
				m.vm.OwnerReferences = util.EnsureOwnerRef(m.vm.OwnerReferences, owner)
			}
		}
	}
	return writeIfChanged(ctx, m, before, changes)
}

// writeIfChanged writes the object if its status, its labels, its finalizers or its owners differ from before.
func writeIfChanged(ctx context.Context, m member, before *infrav1.AzureMachinePoolMachine, changes *patch.Changes) error {
	if equality.Semantic.DeepEqual(before.Status, m.vm.Status) && slices.Equal(before.Finalizers, m.vm.Finalizers) &&
		maps.Equal(before.Labels, m.vm.Labels) &&
		equality.Semantic.DeepEqual(before.OwnerReferences, m.vm.OwnerReferences) {
		return nil
	}
	if err := changes.Write(ctx); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("AzureMachinePoolMachine: %w", err)
	}
	return nil
}

// reportVM sets the status by the state of the VM. again is why the last deletion of VMs failed, power what annotations ask of the VMs.
// With scaledElsewhere no VM is replaced.
func (m member) reportVM(vm pool.Instance, again error, power *reconcile.Power, scaledElsewhere bool) {
	known, machineStatus := m.readState(), &m.vm.Status
	machineStatus.ObservedGeneration = m.vm.Generation
	machineStatus.ProvisioningState, machineStatus.InstanceName, machineStatus.FailureDomain = vm.ProvisioningState, vm.Name, vm.Zone
	machineStatus.LatestModelApplied = !vm.Outdated
	machineStatus.Addresses = machineAddresses(vm)
	machineStatus.NodeRef, machineStatus.Version = newNodeRef(known.Node), known.Version
	if strings.EqualFold(vm.ProvisioningState, "Succeeded") {
		machineStatus.Initialization.Provisioned = new(true)
	}
	machineStatus.Ready = known.Ready && vm.BrokenReason() == "" && !vm.IsStopped() && !vm.IsDeleting()
	node := metav1.Condition{Type: infrav1.NodeHealthyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	switch {
	case known.Node == "":
		node.Status, node.Reason, node.Message = metav1.ConditionFalse, infrav1.NodeProvisioningReason, "the VM has no Node yet"
	case !known.Ready:
		node.Status, node.Reason, node.Message = metav1.ConditionFalse, infrav1.NodeConditionsFailedReason,
			"Node "+known.Node+" is not Ready, see the conditions of Machine "+m.machine.Name
	}
	running := runningCondition(vm, again, power, scaledElsewhere)
	ready := running
	if ready.Status == metav1.ConditionTrue {
		ready = node
	}
	ready.Type = infrav1.ReadyCondition
	found := []metav1.Condition{running, node}
	if len(vm.Extensions) > 0 {
		found = append(found, bootstrapCondition(vm))
	}
	status.SetConditions(m.vm, []string{infrav1.BootstrapSucceededCondition}, found)
	conditions.Set(m.vm, ready)
}

// machineAddresses returns the addresses in the list of VMs. Those of interfaces would need another list, and the Node has them.
func machineAddresses(vm pool.Instance) []clusterv1.MachineAddress {
	if vm.ComputerName == "" {
		return nil
	}
	return []clusterv1.MachineAddress{{Type: clusterv1.MachineHostName, Address: vm.ComputerName}}
}

// bootstrapCondition returns the state of the extensions of a VM, one of which waits for the bootstrap.
func bootstrapCondition(vm pool.Instance) metav1.Condition {
	out := metav1.Condition{Type: infrav1.BootstrapSucceededCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	for _, extension := range vm.Extensions {
		switch {
		case strings.EqualFold(extension.State, "Failed"), strings.EqualFold(extension.State, "Canceled"):
			out.Status, out.Reason = metav1.ConditionFalse, infrav1.FailedReason
			out.Message = "extension " + extension.Name + " is in state " + extension.State + "; its output is in the instance view of the VM"
			return out
		case !strings.EqualFold(extension.State, "Succeeded"):
			out.Status, out.Reason = metav1.ConditionFalse, infrav1.CreatingReason
			out.Message = "Azure has extension " + extension.Name + " in state " + extension.State
		}
	}
	return out
}

// describeReplacement describes what happens to a VM that is of no use.
func describeReplacement(scaledElsewhere bool) string {
	if scaledElsewhere {
		return "an autoscaler owns the number of VMs, so it is not replaced: delete its Machine"
	}
	return "it is replaced within the limits of spec.strategy"
}

// brokenReason returns the reason of conditions about a VM that is of no use.
func brokenReason(vm pool.Instance) string {
	switch {
	case vm.IsFailed():
		return infrav1.VMFailedReason
	case vm.IsEvicted():
		return infrav1.SpotVMEvictedReason
	}
	return infrav1.VMStoppedReason
}

// runningCondition returns the state of the VM.
func runningCondition(vm pool.Instance, again error, power *reconcile.Power, scaledElsewhere bool) metav1.Condition {
	out := metav1.Condition{Type: infrav1.VMRunningCondition, Status: metav1.ConditionFalse}
	switch why := vm.BrokenReason(); {
	case vm.IsDeleting():
		out.Reason, out.Message = infrav1.VMDeletingReason, "Azure deletes the VM"
		if again != nil {
			out.Message += ", again after: " + again.Error()
		}
	case vm.IsStopped() && vm.PowerRequested:
		out.Reason, out.Message = power.Reason(), "The VM is "+vm.PowerState
		if power.Stop && vm.PowerState == "deallocated" {
			out.Reason = infrav1.StoppedAsRequestedReason
		}
	case why != "":
		out.Reason, out.Message = brokenReason(vm), why+"; "+describeReplacement(scaledElsewhere)
	case vm.IsChanging():
		out.Reason, out.Message = infrav1.VMCreatingReason, "Azure has the VM in state "+vm.ProvisioningState
	default:
		out.Status, out.Reason = metav1.ConditionTrue, infrav1.ReadyReason
	}
	return out
}

// releaseMachine removes the objects of a VM that is gone: the Machine, which deletes the AzureMachinePoolMachine, and then the
// latter's finalizer.
func (k *Kind) releaseMachine(ctx context.Context, m member) error {
	if m.machine != nil && m.machine.DeletionTimestamp.IsZero() {
		return k.deleteMachine(ctx, m)
	}
	if m.machine == nil && m.vm.DeletionTimestamp.IsZero() {
		if err := k.Client.Delete(ctx, m.vm); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete AzureMachinePoolMachine %s: %w", m.vm.Name, err)
		}
		return k.removeFinalizer(ctx, m.vm)
	}
	if m.vm.DeletionTimestamp.IsZero() {
		// Cluster API deletes it with its Machine.
		return nil
	}
	return k.removeFinalizer(ctx, m.vm)
}

// deleteMachine deletes the Machine of a VM, if there is one.
func (k *Kind) deleteMachine(ctx context.Context, m member) error {
	if m.machine == nil || !m.machine.DeletionTimestamp.IsZero() {
		return nil
	}
	if err := k.Client.Delete(ctx, m.machine, client.Preconditions{UID: &m.machine.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete Machine %s: %w", m.machine.Name, err)
	}
	return nil
}

// removeFinalizer removes the finalizer of an AzureMachinePoolMachine.
func (k *Kind) removeFinalizer(ctx context.Context, vm *infrav1.AzureMachinePoolMachine) error {
	if _, err := patch.RemoveFinalizer(ctx, k.Client, vm, infrav1.MachinePoolMachineFinalizer); err != nil {
		return fmt.Errorf("AzureMachinePoolMachine: %w", err)
	}
	return nil
}
