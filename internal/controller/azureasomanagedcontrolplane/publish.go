package azureasomanagedcontrolplane

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// publishAccess publishes the endpoint, version and kubeconfigs of a finished cluster, and the values that operatorSpec requests. It
// returns how long they are valid; 0 if there is no finished cluster.
func (k *Kind) publishAccess(ctx context.Context, session reconcile.Session, in *input, outcome arm.Outcome) (time.Duration, error) {
	to := k.newPublisher(in)
	status := &in.object.Status
	status.ExternalManagedControlPlane = new(true)
	var credentials *aks.Credentials
	var observed json.RawMessage
	if d, ok := in.planned.ManagedCluster(); ok {
		id, err := in.planned.ResourceID(d)
		result, found := outcome.Result(id)
		if err == nil && found && len(result.Observed) > 0 {
			observed = result.Observed
			shown := plan.ReadControlPlaneStatus(observed)
			status.Version, status.Versions = shown.Version, nil
			if shown.Version != "" {
				status.Versions = []clusterv1.StatusVersion{{Version: shown.Version}}
			}
			if result.IsDone() && shown.Host != "" {
				if credentials, err = aks.ReadKubeconfigs(ctx, k.Facts, session.Asker(), session.Access, id, result.Observed, to); err != nil {
					return 0, err
				}
				if err := credentials.PublishSecrets(ctx, to); err != nil {
					return 0, err
				}
				status.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: shown.Host, Port: shown.Port}
				status.Initialization.ControlPlaneInitialized = new(true)
				conditions.Set(in.object, metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
			}
		}
	}
	initialized := status.Initialization.ControlPlaneInitialized
	conditions.Set(in.object, aks.AvailableCondition(observed, initialized != nil && *initialized))
	if err := asoresources.ExportValues(ctx, to, in.planned, outcome, credentials); err != nil {
		return 0, fmt.Errorf("operatorSpec: %w", err)
	}
	if credentials == nil {
		return 0, nil
	}
	return credentials.ValidFor, nil
}

// newPublisher returns the publisher for the control plane.
func (k *Kind) newPublisher(in *input) published.Publisher {
	return published.Publisher{Client: k.Client, Owner: in.object, Kind: asoresources.ControlPlaneKind, Cluster: in.members.Cluster.Name}
}

// RenewOwnerReferences implements reconcile.OwnerReferenceRenewer.
func (k *Kind) RenewOwnerReferences(ctx context.Context, in *input) error {
	return k.newPublisher(in).RenewOwnerReferences(ctx)
}
