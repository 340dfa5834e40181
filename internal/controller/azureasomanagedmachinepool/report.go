package azureasomanagedmachinepool

import (
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	nodes "sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// Report implements reconcile.Kind. It shows the VMs of a pool that exists.
func (k *Kind) Report(in *input, outcome arm.Outcome) (time.Duration, error) {
	if !in.object.DeletionTimestamp.IsZero() {
		reportDeletion(in, outcome)
		return 0, nil
	}
	resources, done := asoresources.ReportResources(in.object, in.planned, outcome, in.plainObjects)
	in.object.Status.Resources = resources
	pool := findPool(in, outcome)
	var controlPlane conditions.Getter
	if in.members.ControlPlane != nil {
		controlPlane = in.members.ControlPlane
	}
	stoppedAlone := nodes.ReportPoolStopped(in.object, infrav1.ResourcesReadyCondition, pool.Observed,
		in.planned.Facts[pool.ID.Parent().Key()], controlPlane)
	power.ReportPoolCondition(in.object, infrav1.ResourcesReadyCondition, in.power, pool.Observed)
	if len(in.refusedSizes) > 0 {
		return 0, reconcile.RefuseSpec(in.refusedSizes)
	}
	if in.instances != nil {
		reportInstances(in)
	}
	if !in.acted {
		return 0, nil
	}
	complete := in.instances != nil && in.instances.IsComplete()
	status.ReportPoolProvisioned(&in.object.Status.Initialization, &in.object.Status.Ready, done && complete)
	reconcile.SummarizeReady(in.object, summarizedConditions)
	after, incomplete := in.instances.NextRead(in.object)
	switch {
	case stoppedAlone && !in.power.IsRequested():
		return 0, reconcile.RecheckIn(nodes.UnhealthyRetry, nil)
	case incomplete:
		return 0, reconcile.RecheckIn(after, nil)
	case complete:
		return asoresources.ValidFor(in.plainObjects, after), nil
	}
	return after, nil
}

// reportInstances shows the VMs of the pool.
func reportInstances(in *input) {
	if in.instances.Unsupported == "" { // The established provider may have listed the VMs.
		in.object.Spec.ProviderIDList, in.object.Status.Replicas = in.instances.ProviderIDs, int32(len(in.instances.ProviderIDs))
	}
	in.object.Status.Version = in.instances.Version
	conditions.Set(in.object, in.instances.Condition())
}
