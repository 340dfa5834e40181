package azuremachine

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
)

// input is what one pass works on: plain data, gathered before anything is decided.
type input struct {
	key client.ObjectKey
	// Of a machine that is being deleted, cluster and machine may stand for what is not there any more, and azureCluster be nil.
	cluster      *clusterv1.Cluster
	clusterGone  bool
	azureCluster *infrav1.AzureCluster
	machine      *clusterv1.Machine
	azureMachine *infrav1.AzureMachine
	// changes are those of the pass to azureMachine.
	changes *patch.Changes
	// story is what events tell of the pass.
	story  *story.Pass
	access *access.Access
}

// object names the object of the pass for Azure's side.
func (in *input) object() string { return "AzureMachine/" + in.key.String() }

// load reads the AzureMachine and what it belongs to. It returns nil when there is nothing to do yet.
func (r *Reconciler) load(ctx context.Context, request ctrl.Request) (*input, error) {
	azureMachine := &infrav1.AzureMachine{}
	if err := r.Client.Get(ctx, request.NamespacedName, azureMachine); err != nil {
		if apierrors.IsNotFound(err) {
			r.settled.Forget(request.NamespacedName)
			r.teller.Forget(azureMachine, request.NamespacedName)
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureMachine %s: %w", request, err)
	}
	in := &input{key: request.NamespacedName, azureMachine: azureMachine}
	if !azureMachine.DeletionTimestamp.IsZero() {
		return r.loadDeleting(ctx, in)
	}
	machine, err := util.GetOwnerMachine(ctx, r.Client, azureMachine.ObjectMeta)
	if err != nil {
		return nil, fmt.Errorf("get the Machine that owns AzureMachine %s: %w", request, err)
	}
	if machine == nil {
		r.event(azureMachine, "OwnerRefNotSet", "Machine Controller has not yet set OwnerRef")
		return nil, nil
	}
	cluster, err := util.GetClusterFromMetadata(ctx, r.Client, machine.ObjectMeta)
	if err != nil {
		if apierrors.IsNotFound(err) || errors.Is(err, util.ErrNoCluster) {
			r.event(azureMachine, "ClusterNotFound", fmt.Sprintf("the Cluster of Machine %s is not there: %v", machine.Name, err))
			return nil, nil
		}
		return nil, fmt.Errorf("get the Cluster of Machine %s: %w", machine.Name, err)
	}
	azureCluster := &infrav1.AzureCluster{}
	key := client.ObjectKey{Namespace: cluster.Namespace, Name: cluster.Spec.InfrastructureRef.Name}
	if err := r.Client.Get(ctx, key, azureCluster); err != nil {
		if apierrors.IsNotFound(err) {
			r.event(azureMachine, "AzureClusterNotFound", fmt.Sprintf("AzureCluster %s is not there", key.Name))
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureCluster %s: %w", key, err)
	}
	in.cluster, in.azureCluster, in.machine = cluster, azureCluster, machine
	return in, nil
}

func (r *Reconciler) event(azureMachine *infrav1.AzureMachine, reason, message string) {
	r.Recorder.Eventf(azureMachine, nil, corev1.EventTypeNormal, reason, "Reconcile", "%s", message)
}

// open gives the pass access to Azure as the cluster's identity.
func (r *Reconciler) open(ctx context.Context, in *input) (err error) {
	spec := in.azureCluster.Spec
	in.access, err = r.Access.Open(ctx, access.Request{
		Ref: spec.IdentityRef, Namespace: in.azureCluster.Namespace, Environment: spec.AzureEnvironment, SubscriptionID: spec.SubscriptionID,
	})
	return err
}

// bootstrapData reads what the machine boots with; nil when the Machine has none yet or the secret is gone.
func (r *Reconciler) bootstrapData(ctx context.Context, in *input) ([]byte, error) {
	name := in.machine.Spec.Bootstrap.DataSecretName
	if name == nil {
		return nil, nil
	}
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: in.azureMachine.Namespace, Name: *name}
	if err := r.Client.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get bootstrap data secret %s: %w", key, err)
	}
	data, ok := secret.Data["value"]
	if !ok {
		return nil, fmt.Errorf("bootstrap data secret %s has no key \"value\"", key)
	}
	return data, nil
}

func infrastructureProvisioned(cluster *clusterv1.Cluster) bool {
	provisioned := cluster.Status.Initialization.InfrastructureProvisioned
	return provisioned != nil && *provisioned
}
