package azuremanagedmachinepool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/patch"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/story"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// input is what one pass works on: plain data, gathered before anything is decided.
type input struct {
	key     client.ObjectKey
	cluster *clusterv1.Cluster
	// clusterGone tells that cluster stands for one that is not there any more.
	clusterGone bool
	// controlPlane is nil once it is gone.
	controlPlane *infrav1.AzureManagedControlPlane
	machinePool  *clusterv1.MachinePool
	azurePool    *infrav1.AzureManagedMachinePool
	// changes are those of the pass to azurePool.
	changes *patch.Changes
	// story is what events tell of the pass.
	story  *story.Pass
	access *access.Access
	// planned and pool are what the plan is computed from.
	planned plan.Input
	pool    plan.Pool
}

// object names the object of the pass for Azure's side.
func (in *input) object() string { return "AzureManagedMachinePool/" + in.key.String() }

// load reads the AzureManagedMachinePool and what it belongs to. It returns nil when there is nothing to do yet.
func (r *Reconciler) load(ctx context.Context, request ctrl.Request) (*input, error) {
	in := &input{key: request.NamespacedName, azurePool: &infrav1.AzureManagedMachinePool{}}
	if err := r.Client.Get(ctx, request.NamespacedName, in.azurePool); err != nil {
		if apierrors.IsNotFound(err) {
			r.settled.Forget(request.NamespacedName)
			r.teller.Forget(in.azurePool, request.NamespacedName)
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureManagedMachinePool %s: %w", request, err)
	}
	var err error
	if in.machinePool, err = managed.MachinePoolOf(ctx, r.Client, in.azurePool); err != nil {
		return nil, err
	}
	deleting := !in.azurePool.DeletionTimestamp.IsZero()
	key := client.ObjectKey{Namespace: in.azurePool.Namespace, Name: deletion.ClusterName(in.azurePool)}
	switch {
	case in.machinePool != nil:
		key.Name = in.machinePool.Spec.ClusterName
	case !deleting:
		// One that is being deleted may have lost its MachinePool, and can go by what its label says.
		r.event(in, "OwnerRefNotSet", "no MachinePool refers to the AzureManagedMachinePool")
		return nil, nil
	}
	in.cluster = &clusterv1.Cluster{}
	err = apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	if key.Name != "" {
		err = r.Client.Get(ctx, key, in.cluster)
	}
	if err != nil {
		if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("get Cluster %s: %w", key, err)
		}
		if in.cluster, in.clusterGone = deletion.LeftBehind(in.azurePool), true; in.cluster == nil {
			r.event(in, "ClusterNotFound", "Cluster "+key.Name+" of the AzureManagedMachinePool is not there")
			return nil, nil
		}
		in.cluster.Name = key.Name
	}
	if in.controlPlane, err = r.controlPlaneOf(ctx, in); err != nil {
		return nil, err
	}
	if in.controlPlane == nil && !deleting {
		r.event(in, "ControlPlaneNotFound", "Cluster "+in.cluster.Name+" has no AzureManagedControlPlane yet")
		return nil, nil
	}
	return in, nil
}

// controlPlaneOf is the AzureManagedControlPlane that the Cluster refers to, or that belongs to a Cluster of this name; nil
// when there is none.
func (r *Reconciler) controlPlaneOf(ctx context.Context, in *input) (*infrav1.AzureManagedControlPlane, error) {
	if in.clusterGone {
		return managed.ControlPlaneNamed(ctx, r.Client, in.key.Namespace, in.cluster.Name)
	}
	ref := in.cluster.Spec.ControlPlaneRef
	if ref.Kind != managed.ControlPlaneKind {
		return nil, nil
	}
	controlPlane := &infrav1.AzureManagedControlPlane{}
	if err := r.Client.Get(ctx, client.ObjectKey{Namespace: in.cluster.Namespace, Name: ref.Name}, controlPlane); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("get AzureManagedControlPlane %s: %w", ref.Name, err)
	}
	return controlPlane, nil
}

func (r *Reconciler) event(in *input, reason, message string) {
	r.Recorder.Eventf(in.azurePool, nil, corev1.EventTypeNormal, reason, "Reconcile", "%s", message)
}

// initialized tells whether the AKS cluster has been in place once.
func (in *input) initialized() bool {
	initialized := in.controlPlane.Status.Initialization.ControlPlaneInitialized
	return initialized != nil && *initialized
}
