package azureasomanagedcontrolplane

import (
	"context"
	"fmt"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/power"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// Act implements reconcile.Kind. It stops or starts the cluster as annotations ask, and writes the plain objects of the manifests, the
// kubeconfigs of a finished cluster, and the values that operatorSpec requests.
func (k *Kind) Act(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	if in.plainObjects, err = asoresources.ReconcilePlainObjects(ctx, k.Client, session, in.object, in.planned); err != nil {
		return err
	}
	in.refusedSizes = asoresources.CheckVMSizes(ctx, k.Facts, session, in.planned, outcome)
	in.power = session.Power
	if err := power.ChangeAKSCluster(ctx, session, findCluster(in, outcome)); err != nil || session.Power.Stop {
		in.acted = true
		return err
	}
	if err := k.publishAccess(ctx, session, in, outcome); err != nil {
		return reconcile.ReadFailedFor(infrav1.KubeconfigReadyCondition, err)
	}
	in.acted = true
	return nil
}

// publishAccess publishes the kubeconfigs of a finished cluster, and the values that operatorSpec requests.
func (k *Kind) publishAccess(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (err error) {
	to := k.newPublisher(in)
	if manifest, ok := in.planned.ManagedCluster(); ok {
		to.FormerOwners = []published.ASOObject{asoresources.FormerOwner(manifest)}
	}
	var credentials *aks.Credentials
	cluster := findCluster(in, outcome)
	usable := cluster.IsDone() || aks.KeepsToken(cluster, in.object.Status.Initialization.ControlPlaneInitialized)
	if usable && plan.ReadControlPlaneStatus(cluster.Observed).Host != "" {
		if credentials, err = aks.ReadKubeconfigs(ctx, k.Facts, session.Caller(), session.Access, cluster.ID, cluster.Observed, to); err != nil {
			return err
		}
		if err := credentials.PublishSecrets(ctx, to); err != nil {
			return err
		}
		in.published, in.accessValidFor = true, credentials.ValidFor(session.Now())
	}
	exporter := asoresources.Exporter{Facts: k.Facts, Session: session, To: to, Cluster: cluster.ID, Credentials: credentials}
	if err := exporter.ExportValues(ctx, in.planned, outcome); err != nil {
		return fmt.Errorf("operatorSpec: %w", err)
	}
	return nil
}

// findCluster returns the result of the AKS cluster that Azure shows, or an empty one.
func findCluster(in *input, outcome arm.Outcome) arm.Result {
	manifest, ok := in.planned.ManagedCluster()
	if !ok {
		return arm.Result{}
	}
	id, err := in.planned.ResourceID(manifest)
	result, found := outcome.Result(id)
	if err != nil || !found || len(result.Observed) == 0 {
		return arm.Result{}
	}
	return result
}

// newPublisher returns the publisher for the control plane.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.ControlPlaneKind, Cluster: in.members.Cluster.Name}
}
