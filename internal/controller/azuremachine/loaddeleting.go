package azuremachine

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/selfmanaged"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
)

// loadDeleting reads the objects that a machine that is being deleted belongs to. When everything is deleted at once they may be gone
// already; loadDeleting then rebuilds them from the AzureMachine's own fields.
func (k *Kind) loadDeleting(ctx context.Context, in *input) error {
	machine, err := util.GetOwnerMachine(ctx, k.Client, in.azureMachine.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Machine that owns it: %w", err)
	}
	if machine == nil || err != nil {
		machine = &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
			Namespace: in.azureMachine.Namespace, Name: in.azureMachine.Name, Labels: maps.Clone(in.azureMachine.Labels),
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
		err = k.Client.Get(ctx, client.ObjectKey{Namespace: in.azureMachine.Namespace, Name: name}, in.cluster)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the Cluster of Machine %s: %w", machine.Name, err)
	}
	if err != nil || name == "" {
		if in.cluster, in.clusterGone = deletion.SubstituteCluster(in.azureMachine), true; in.cluster == nil {
			return reconcile.NothingToDo()
		}
		in.cluster.Name = name
	}
	in.azureCluster, err = selfmanaged.FindAzureCluster(ctx, k.Client, in.cluster, in.clusterGone)
	return err
}
