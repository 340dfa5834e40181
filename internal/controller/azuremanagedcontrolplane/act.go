package azuremanagedcontrolplane

import (
	"context"
	"encoding/json"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Act implements reconcile.Kind. It stops or starts the cluster as annotations ask, finds the reason of a refused cluster, and publishes the access to a finished one.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) error {
	result, _ := outcome.Result(plan.ClusterID(in.planned))
	in.refusedSizes = aks.CheckVMSizes(ctx, k.Facts, session.Caller(), result, in.controlPlane.Spec.Location,
		plan.ListVMSizes(in.planned.Pools...))
	in.power = session.Power
	if err := power.ChangeAKSCluster(ctx, session, result); err != nil || session.Power.Stop {
		in.acted = true
		return err
	}
	if aks.KeepsToken(result, in.controlPlane.Status.Initialization.ControlPlaneInitialized) {
		if _, err := k.publishKubeconfigs(ctx, session, in, result.Observed); err != nil {
			return reconcile.ReadFailedFor(infrav1.KubeconfigReadyCondition, err)
		}
		in.acted = true
		return nil
	}
	if len(in.refusedSizes) > 0 || !result.IsDone() || !hasEndpoint(in, result.Observed) {
		in.acted = true
		return nil
	}
	if err := k.publishAccess(ctx, session, in, outcome, result.Observed); err != nil {
		return reconcile.ReadFailedFor(infrav1.KubeconfigReadyCondition, err)
	}
	return nil
}

// hasEndpoint reports whether the endpoint of the cluster is known.
func hasEndpoint(in *input, observed json.RawMessage) bool {
	host, _ := managedcluster.APIServerEndpoint(observed)
	return len(observed) > 0 && (host != "" || plan.HasEndpoint(in.controlPlane))
}

// publishAccess publishes the kubeconfigs, the issuer and cluster-info of a finished cluster.
func (k *Kind) publishAccess(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome,
	observed json.RawMessage) error {
	credentials, err := k.publishKubeconfigs(ctx, session, in, observed)
	if err != nil {
		return err
	}
	if err := k.exportValues(ctx, session, in, observed, credentials); err != nil {
		return err
	}
	in.published = true
	in.health = k.readHealth(ctx, session, in)
	in.acted = true
	// The status is written before the request to the workload cluster, which may be unreachable.
	_, _ = k.Report(in, outcome)
	if err := session.Store(ctx); err != nil {
		return err
	}
	if session.Observing {
		// The ConfigMap is in the workload cluster, which is left alone, too.
		return nil
	}
	in.clusterInfo = k.reconcileClusterInfo(ctx, credentials.Kubeconfig)
	return nil
}

// publishKubeconfigs publishes the kubeconfigs, with another token in place of one that ends.
func (k *Kind) publishKubeconfigs(ctx context.Context, session reconcile.Session, in *input, observed json.RawMessage) (*aks.Credentials, error) {
	to := k.newPublisher(in)
	credentials, err := aks.ReadKubeconfigs(ctx, k.Facts, session.Caller(), session.Access, plan.ClusterID(in.planned), observed, to)
	if err != nil {
		return nil, err
	}
	in.accessValidFor = credentials.ValidFor(session.Now())
	return credentials, credentials.PublishSecrets(ctx, to)
}

// newPublisher returns the publisher for the control plane.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.controlPlane, Kind: aks.ControlPlaneKind, Cluster: in.cluster.Name}
}
