package azuremachine

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/deletion"
)

// loadDeleting reads what a machine belongs to that is being deleted. Whoever deletes all at once deletes that, too, so what
// is not there any more is stood in for by what the AzureMachine says of itself.
func (r *Reconciler) loadDeleting(ctx context.Context, in *input) (*input, error) {
	machine, err := util.GetOwnerMachine(ctx, r.Client, in.azureMachine.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the Machine that owns AzureMachine %s: %w", in.key, err)
	}
	if machine == nil || err != nil {
		machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
			Namespace: in.key.Namespace, Name: in.key.Name, Labels: maps.Clone(in.azureMachine.Labels),
		}}
		machine.Spec.ClusterName = deletion.ClusterName(in.azureMachine)
	}
	in.machine = machine
	name := machine.Labels[clusterv1.ClusterNameLabel]
	if name == "" {
		name = machine.Spec.ClusterName
	}
	in.cluster = &clusterv1.Cluster{}
	if name != "" {
		err = r.Client.Get(ctx, client.ObjectKey{Namespace: in.key.Namespace, Name: name}, in.cluster)
	}
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get the Cluster of Machine %s: %w", machine.Name, err)
	}
	if err != nil || name == "" {
		if in.cluster, in.clusterGone = deletion.LeftBehind(in.azureMachine), true; in.cluster == nil {
			return nil, nil
		}
		in.cluster.Name = name
	}
	in.azureCluster, err = r.azureClusterOf(ctx, in)
	return in, err
}

// azureClusterOf is the AzureCluster that the Cluster refers to, or that belongs to a Cluster of this name; nil when there is
// none.
func (r *Reconciler) azureClusterOf(ctx context.Context, in *input) (*infrav1.AzureCluster, error) {
	if !in.clusterGone {
		azureCluster := &infrav1.AzureCluster{}
		key := client.ObjectKey{Namespace: in.key.Namespace, Name: in.cluster.Spec.InfrastructureRef.Name}
		if err := r.Client.Get(ctx, key, azureCluster); err != nil {
			if apierrors.IsNotFound(err) {
				return nil, nil
			}
			return nil, fmt.Errorf("get AzureCluster %s: %w", key, err)
		}
		return azureCluster, nil
	}
	list := &infrav1.AzureClusterList{}
	if err := r.Client.List(ctx, list, client.InNamespace(in.key.Namespace)); err != nil {
		return nil, fmt.Errorf("list AzureClusters: %w", err)
	}
	for i := range list.Items {
		if name := deletion.ClusterName(&list.Items[i]); name != "" && name == in.cluster.Name {
			return &list.Items[i], nil
		}
	}
	return nil, nil
}
