package azuremanagedcontrolplane

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// publishAccess publishes the kubeconfigs, issuer, endpoint and versions of a finished cluster. It returns how long they are valid; 0
// if the cluster is not finished.
func (k *Kind) publishAccess(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (time.Duration, error) {
	result, ok := outcome.Result(plan.ClusterID(in.planned))
	if !ok || len(result.Observed) == 0 {
		return 0, nil
	}
	observed := result.Observed
	reportObserved(in, observed)
	if !result.IsDone() || !plan.HasEndpoint(in.controlPlane) {
		return 0, nil
	}
	to := k.newPublisher(in)
	credentials, err := aks.ReadKubeconfigs(ctx, k.Facts, session.Asker(), session.Access, plan.ClusterID(in.planned), observed, to)
	if err != nil {
		return 0, err
	}
	if err := credentials.PublishSecrets(ctx, to); err != nil {
		return 0, err
	}
	if err := exportValues(ctx, to, observed, in.exports, credentials); err != nil {
		return 0, err
	}
	conditions.Set(in.controlPlane, metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	status := &in.controlPlane.Status
	status.Initialization.ControlPlaneInitialized = new(true)
	status.Ready, status.Initialized = true, true
	reportAvailable(in, result)
	k.reportHealth(ctx, session.Access.Client, in)
	// The status is written before the request to the workload cluster, which may be unreachable.
	reconcile.SummarizeReady(in.controlPlane, summarizedConditions)
	if err := session.Store(ctx); err != nil {
		return 0, err
	}
	conditions.Set(in.controlPlane, k.reconcileClusterInfo(ctx, credentials.Kubeconfig))
	return credentials.ValidFor, nil
}

// newPublisher returns the publisher for the control plane.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.controlPlane, Kind: aks.ControlPlaneKind, Cluster: in.cluster.Name}
}

// RenewOwnerReferences implements reconcile.OwnerReferenceRenewer.
func (k *Kind) RenewOwnerReferences(ctx context.Context, in *input) error {
	return k.newPublisher(in).RenewOwnerReferences(ctx)
}

// statusVersions returns the version that AKS runs in the form of Cluster API's contract.
func statusVersions(version string) []clusterv1.StatusVersion {
	if version == "" {
		return nil
	}
	return []clusterv1.StatusVersion{{Version: version}}
}
