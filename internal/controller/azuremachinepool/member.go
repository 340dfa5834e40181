package azuremachinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/labels/format"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/lifecycle"
)

// member is one VM of the pool as represented in Kubernetes.
type member struct {
	vm *infrav1.AzureMachinePoolMachine
	// machine is nil until Cluster API has created it, and when it is gone.
	machine *clusterv1.Machine
}

// listVMs reads the AzureMachinePoolMachines of a pool.
func (k *Kind) listVMs(ctx context.Context, azurePool client.Object) (*infrav1.AzureMachinePoolMachineList, error) {
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := k.Client.List(ctx, vms, client.InNamespace(azurePool.GetNamespace()),
		client.MatchingLabels{infrav1.MachinePoolNameLabel: azurePool.GetName()}); err != nil {
		return nil, fmt.Errorf("list AzureMachinePoolMachines: %w", err)
	}
	return vms, nil
}

// listDependents lists the AzureMachinePoolMachines of a pool, which are paused with it because they have no controller of their own.
func (k *Kind) listDependents(ctx context.Context, azurePool client.Object) (out []lifecycle.Object, err error) {
	vms, err := k.listVMs(ctx, azurePool)
	if err != nil {
		return nil, err
	}
	for i := range vms.Items {
		out = append(out, &vms.Items[i])
	}
	return out, nil
}

// describeVM returns the VM that an AzureMachinePoolMachine represents.
func describeVM(dependent lifecycle.Object) string {
	return "the VM " + dependent.(*infrav1.AzureMachinePoolMachine).Spec.ProviderID
}

// loadMembers reads the AzureMachinePoolMachines of the pool with their Machines.
func (k *Kind) loadMembers(ctx context.Context, in *input) error {
	vms, err := k.listVMs(ctx, in.azurePool)
	if err != nil {
		return err
	}
	of := map[string]*clusterv1.Machine{}
	for i := range vms.Items {
		of[vms.Items[i].Name] = nil
	}
	machines := &clusterv1.MachineList{}
	if err := k.Client.List(ctx, machines, client.InNamespace(in.azurePool.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: in.cluster.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Machines: %w", err)
	}
	for i := range machines.Items {
		ref := machines.Items[i].Spec.InfrastructureRef
		if _, isMember := of[ref.Name]; isMember && ref.Kind == machineKind && ref.APIGroup == infrav1.GroupVersion.Group {
			of[ref.Name] = machines.Items[i].DeepCopy() // Members are changed. The cluster may have thousands of other Machines.
		}
	}
	in.members = nil
	for i := range vms.Items {
		in.members = append(in.members, member{vm: &vms.Items[i], machine: of[vms.Items[i].Name]})
	}
	slices.SortFunc(in.members, func(a, b member) int { return strings.Compare(a.vm.Name, b.vm.Name) })
	return nil
}

// memberState is the state of a member on which decisions depend, besides that of its VM.
type memberState struct {
	Name, ProviderID                             string
	Leaving, MachineLeaving, Free, Ready, Marked bool
	// Unguarded is set for an object without the finalizer, which the next full reconciliation adds.
	Unguarded bool
	// Paused is set if the object has the annotation that pauses it, or if clusterctl move deletes it: another management cluster may have
	// the VM.
	Paused        bool
	Node, Version string
}

func (m member) readState() memberState {
	out := memberState{Name: m.vm.Name, ProviderID: m.vm.Spec.ProviderID, Leaving: !m.vm.DeletionTimestamp.IsZero(),
		Marked: isMarkedForDeletion(m.vm), Paused: annotations.HasPaused(m.vm) || isMoved(m.vm)}
	out.Unguarded = !controllerutil.ContainsFinalizer(m.vm, infrav1.MachinePoolMachineFinalizer)
	if m.machine == nil {
		out.Free = out.Leaving
		return out
	}
	out.MachineLeaving = !m.machine.DeletionTimestamp.IsZero()
	out.Free = out.Leaving && out.MachineLeaving && canDeleteVM(m.machine)
	out.Ready = conditions.IsTrue(m.machine, clusterv1.MachineNodeReadyCondition)
	out.Marked = out.Marked || isMarkedForDeletion(m.machine)
	out.Node, out.Version = m.machine.Status.NodeRef.Name, kubeletVersion(m.machine)
	return out
}

// isMoved reports whether clusterctl move deletes the object.
func isMoved(vm *infrav1.AzureMachinePoolMachine) bool {
	return !vm.DeletionTimestamp.IsZero() && deletion.IsMoved(vm)
}

// countReady shows how many Machines are Ready. The MachinePool controller of Cluster API counts them too, but watches only the
// AzureMachinePool and its AzureMachinePoolMachines, which change before their Machines become Ready: without a change of this
// number it would count at its next retry. The number decides nothing about Azure, so the fingerprint does not
// include it, and a stable pool is not read from Azure when it changes.
func (in *input) countReady() {
	var ready int32
	for _, m := range in.members {
		if m.machine != nil && conditions.IsTrue(m.machine, clusterv1.MachineReadyCondition) {
			ready++
		}
	}
	in.azurePool.Status.ReadyReplicas = &ready
}

// canDeleteVM reports whether a Machine that is being deleted no longer needs its VM: its Node is drained and no hook waits. The
// AzureMachinePoolMachine may have been deleted before that.
func canDeleteVM(machine *clusterv1.Machine) bool {
	deleting := conditions.Get(machine, clusterv1.MachineDeletingCondition)
	return deleting != nil && slices.Contains([]string{
		clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason, clusterv1.MachineDeletingWaitingForBootstrapDeletionReason,
		clusterv1.MachineDeletingDeletingNodeReason, clusterv1.MachineDeletingDeletionCompletedReason,
	}, deleting.Reason)
}

// isMarkedForDeletion reports whether the VM goes first when the pool is scaled down.
func isMarkedForDeletion(object client.Object) bool {
	_, marked := object.GetAnnotations()[clusterv1.DeleteMachineAnnotation]
	return marked
}

func kubeletVersion(machine *clusterv1.Machine) string {
	if machine.Status.NodeInfo == nil {
		return ""
	}
	return machine.Status.NodeInfo.KubeletVersion
}

// rolloutInstances returns the VMs with their state in Kubernetes.
func (in *input) rolloutInstances() []rollout.Instance {
	members := in.membersByProviderID()
	out := make([]rollout.Instance, 0, len(in.vms))
	for _, vm := range in.vms {
		var known memberState
		if m, ok := members[strings.ToLower(vm.ProviderID)]; ok {
			known = m.readState()
		}
		out = append(out, rollout.Instance{
			ID: string(vm.ID), Created: vm.Created, Outdated: vm.Outdated, Broken: vm.BrokenReason() != "", Deleting: vm.IsDeleting(),
			Model: vm.Model, Upgradable: vm.Upgradable,
			Ready: known.Ready, Marked: known.Marked, Paused: known.Paused, MachineDeleting: known.Leaving || known.MachineLeaving,
			Drained: known.Free,
		})
	}
	return out
}

// membersByProviderID indexes the members by provider ID in lower case.
func (in *input) membersByProviderID() map[string]member {
	out := make(map[string]member, len(in.members))
	for _, m := range in.members {
		out[strings.ToLower(m.vm.Spec.ProviderID)] = m
	}
	return out
}

// orphanedMembers returns the members whose VM is gone, without paused ones.
func (in *input) orphanedMembers() []member {
	return slices.DeleteFunc(in.missingMembers(), func(m member) bool { return !in.gone[m.vm.Name] })
}

// missingMembers returns the members whose VM is not listed, without paused ones.
func (in *input) missingMembers() []member {
	return slices.DeleteFunc(in.unlistedMembers(), func(m member) bool { return m.readState().Paused })
}

// unlistedMembers returns the members whose VM is not listed.
func (in *input) unlistedMembers() []member {
	there := make(map[string]bool, len(in.vms))
	for _, vm := range in.vms {
		there[strings.ToLower(vm.ProviderID)] = true
	}
	return slices.DeleteFunc(slices.Clone(in.members), func(m member) bool { return there[strings.ToLower(m.vm.Spec.ProviderID)] })
}

// machineLabels returns the labels by which Cluster API finds the machines of a pool.
func (in *input) machineLabels() map[string]string {
	return map[string]string{
		clusterv1.ClusterNameLabel: in.cluster.Name, clusterv1.MachinePoolNameLabel: format.MustFormatValue(in.machinePool.Name),
		infrav1.MachinePoolNameLabel: in.azurePool.Name, in.cluster.Name: "owned",
	}
}

// newNodeRef returns a reference to a Node, or nil for "".
func newNodeRef(name string) *corev1.ObjectReference {
	if name == "" {
		return nil
	}
	return &corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: name}
}
