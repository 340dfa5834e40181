package azuremachinepool

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

const (
	// movingRetry is how soon VMs are read again while they are created or deleted, because Azure sends no notice.
	movingRetry = 5 * time.Second
	// scaledResync is how often a pool is read to which others add VMs: their number is decided in Azure, and new bootstrap data are sent
	// before the token in the former ends. Cluster API renews it when half of its time, 15 minutes by default, is over.
	scaledResync = time.Minute
)

// Report implements reconcile.Kind.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.azurePool.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	found := status.GroupConditions(outcome, []string{infrav1.ScaleSetRunningCondition, infrav1.RoleAssignmentReadyCondition}, conditionGroup)
	status.SetConditions(in.azurePool, []string{infrav1.RoleAssignmentReadyCondition}, found)
	poolStatus := &in.azurePool.Status
	poolStatus.Resources, poolStatus.InfrastructureMachineKind = status.ResourceStatuses(outcome), machineKind
	if size := in.planned.PoolFacts.VMSize; size != nil {
		// Without the architecture the autoscaler would guess it, so a node with an unknown one has no capacity either.
		poolStatus.Capacity, poolStatus.NodeInfo = nil, nil
		if node, err := machine.NodeInfo(size, in.azurePool.Spec.Template.OSDisk.OSType); err == nil {
			poolStatus.Capacity, poolStatus.NodeInfo = machine.NodeCapacity(size), &node
		}
	}
	result := in.scaleSetResult(outcome)
	if len(result.Observed) > 0 && result.Owned {
		in.azurePool.Spec.ProviderID = plan.ProviderID(result.ID)
		if len(in.fixed) == 0 {
			poolStatus.Image = pool.NewVMImage(in.planned)
		}
		poolStatus.ProvisioningState = in.scaleSet.State
	}
	if !in.hasScaleSet(result) {
		reconcile.SummarizeReady(in.azurePool, summarizedConditions)
		return 0, nil
	}
	if !in.acted {
		return 0, nil
	}
	in.reportInstances(result)
	in.reportPower()
	if failure := in.requests.failure; failure != nil {
		condition, after := status.ProblemCondition(in.requests.condition, failure)
		conditions.Set(in.azurePool, condition)
		reconcile.SummarizeReady(in.azurePool, summarizedConditions)
		return 0, reconcile.RecheckIn(after, failure)
	}
	reconcile.SummarizeReady(in.azurePool, summarizedConditions)
	switch {
	case in.requests.running, in.stale, in.moving, in.isMoving(), !in.isComplete():
		if in.denied {
			// For a scale set that is not in place the engine decides when to reconcile again, and it would wait for a change of the spec.
			return movingRetry, nil
		}
		return 0, reconcile.RecheckIn(movingRetry, nil)
	case in.othersAddVMs:
		return scaledResync, nil
	}
	return 0, nil
}

// conditionGroup returns the condition of a resource that is no longer planned.
func conditionGroup(arm.ID) string { return infrav1.RoleAssignmentReadyCondition }

// reportInstances reports the VMs and their number.
func (in *input) reportInstances(result arm.Result) {
	poolStatus := &in.azurePool.Status
	var providerIDs []string
	poolStatus.Instances = nil
	outdated, ready, paused, members := 0, 0, 0, in.membersByProviderID()
	for _, vm := range in.vms {
		if vm.IsDeleting() {
			continue
		}
		providerIDs = append(providerIDs, vm.ProviderID)
		m := members[strings.ToLower(vm.ProviderID)]
		version := ""
		if m.vm != nil {
			version = m.vm.Status.Version
			if m.vm.Status.Ready {
				ready++
			}
			if m.readState().Paused {
				paused++
			}
		}
		if vm.Outdated {
			outdated++
		}
		poolStatus.Instances = append(poolStatus.Instances, infrav1.AzureMachinePoolInstanceStatus{
			Version: version, ProvisioningState: vm.ProvisioningState, ProviderID: vm.ProviderID, InstanceID: vm.InstanceID, InstanceName: vm.Name,
			LatestModelApplied: !vm.Outdated,
		})
	}
	slices.Sort(providerIDs)
	in.azurePool.Spec.ProviderIDList = providerIDs
	poolStatus.Replicas = int32(len(providerIDs))
	poolStatus.Version = in.machinePool.Spec.Template.Spec.Version
	status.ReportPoolProvisioned(&poolStatus.Initialization, &poolStatus.Ready, result.IsDone())
	wanted := pool.WantedReplicas(in.planned)
	if in.isScaledElsewhere() {
		wanted = in.scaleSet.Capacity
	}
	conditions.Set(in.azurePool, desiredReplicasCondition(len(providerIDs), wanted, in.brokenInstances(), in.isScaledElsewhere()))
	model := metav1.Condition{Type: infrav1.ScaleSetModelUpdatedCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	switch {
	case len(in.fixed)+len(in.keptTags) > 0:
		model.Status, model.Reason = metav1.ConditionFalse, infrav1.InvalidConfigurationReason
		model.Message = append(slices.Clone(in.fixed), in.keptTags...).ToAggregate().Error()
	case outdated > 0:
		model.Status, model.Reason = metav1.ConditionFalse, infrav1.ScaleSetModelOutOfDateReason
		model.Message = fmt.Sprintf("%d of %d VMs are of an older template; %d are Ready; ", outdated, len(providerIDs), ready)
		if in.isScaledElsewhere() {
			model.Message += "an autoscaler owns the number of VMs, so none is replaced: delete Machines of old VMs"
		} else {
			model.Message += fmt.Sprintf("during the replacement the pool has between %d and %d VMs", max(wanted-in.wanted.MaxUnavailable, 0),
				wanted+in.wanted.MaxSurge)
		}
		if paused > 0 {
			model.Message += fmt.Sprintf("; %d are paused and stay as they are", paused)
		}
	}
	in.addModelLimit(&model)
	if len(providerIDs) == wanted {
		poolStatus.LastReconciledReplicas = new(int32(wanted))
	}
	conditions.Set(in.azurePool, model)
}

// desiredReplicasCondition reports whether the number of VMs is as desired, and which VMs are unusable. With scaledElsewhere they are not
// replaced.
func desiredReplicasCondition(there, wanted int, broken []pool.Instance, scaledElsewhere bool) metav1.Condition {
	out := metav1.Condition{Type: infrav1.ScaleSetDesiredReplicasCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	switch {
	case there < wanted:
		out.Status, out.Reason, out.Message = metav1.ConditionFalse, infrav1.ScaleSetScalingUpReason,
			fmt.Sprintf("the scale set has %d of %d requested VMs", there, wanted)
	case there > wanted:
		out.Status, out.Reason, out.Message = metav1.ConditionFalse, infrav1.ScaleSetScalingDownReason,
			fmt.Sprintf("the scale set has %d VMs, %d more than requested", there, there-wanted)
	}
	if len(broken) > 0 {
		out.Status = metav1.ConditionFalse
		if out.Reason == infrav1.ReadyReason {
			out.Reason = worstBrokenReason(broken)
		}
		intent := "to be replaced: "
		if scaledElsewhere {
			intent = "an autoscaler owns the number of VMs, so Machines of broken ones have to be deleted: "
		}
		var named []string
		for _, vm := range broken[:min(4, len(broken))] {
			named = append(named, vm.Name+": "+vm.BrokenReason())
		}
		out.Message = strings.TrimPrefix(out.Message+"; "+intent+strings.Join(named, ", "), "; ")
	}
	return out
}

// worstBrokenReason returns the reason of unusable VMs: that of a failed VM, or else that of a stopped or an evicted one.
func worstBrokenReason(broken []pool.Instance) string {
	for _, reason := range []string{infrav1.VMFailedReason, infrav1.VMStoppedReason} {
		if slices.ContainsFunc(broken, func(vm pool.Instance) bool { return brokenReason(vm) == reason }) {
			return reason
		}
	}
	return infrav1.SpotVMEvictedReason
}

// brokenInstances returns the unusable VMs.
func (in *input) brokenInstances() []pool.Instance {
	members := in.membersByProviderID()
	var out []pool.Instance
	for _, vm := range in.vms {
		if m := members[strings.ToLower(vm.ProviderID)]; vm.BrokenReason() != "" && !vm.IsDeleting() &&
			(m.vm == nil || !m.readState().Ready && !m.readState().Paused) {
			out = append(out, vm)
		}
	}
	return out
}

// isMoving reports whether VMs are being created or deleted.
func (in *input) isMoving() bool {
	return isBusy(in) || slices.ContainsFunc(in.vms, func(vm pool.Instance) bool { return vm.IsDeleting() || vm.IsChanging() })
}

// isComplete reports whether each object has its VM and all decisions are carried out.
func (in *input) isComplete() bool {
	return len(in.orphanedMembers()) == 0 && len(in.actions.Retire) == 0 && len(in.actions.Delete) == 0 && len(in.actions.Upgrade) == 0 &&
		in.actions.Capacity == nil
}

func (in *input) isScaledElsewhere() bool {
	return in.machinePool != nil && annotations.ReplicasManagedByExternalAutoscaler(in.machinePool)
}
