package aks

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// LoadPlanInput reads the input of the plan of a control plane, without facts. The objects are copies, defaulted as by the webhooks,
// because they may have been stored before a default existed.
func LoadPlanInput(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster, controlPlane *infrav1.AzureManagedControlPlane,
	subscription string) (plan.Input, error) {
	in := plan.Input{Cluster: cluster, ControlPlane: controlPlane.DeepCopy(), SubscriptionID: subscription}
	defaults.FillAzureManagedControlPlane(in.ControlPlane)
	pools, err := listRemainingPools(ctx, c, cluster)
	if err != nil {
		return in, err
	}
	in.Pools = pools
	patches := aso.ReferencedSecrets(aso.ManagedCluster, in.ControlPlane.Spec.ASOManagedClusterPatches)
	for _, pool := range pools {
		patches = append(patches, aso.ReferencedSecrets(aso.AgentPool, pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches)...)
	}
	in.Secrets, err = readSecrets(ctx, c, cluster.Namespace, patches)
	return in, err
}

// listRemainingPools lists the pools of a cluster that are not being deleted.
func listRemainingPools(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster) ([]plan.Pool, error) {
	all, err := ListPools(ctx, c, cluster)
	return slices.DeleteFunc(all, func(pool plan.Pool) bool { return !pool.AzurePool.DeletionTimestamp.IsZero() }), err
}

// ListPools lists the AzureManagedMachinePools of a cluster with their MachinePools: those that a MachinePool of the cluster refers to,
// and those that have the cluster's label and no MachinePool.
func ListPools(ctx context.Context, c client.Reader, cluster *clusterv1.Cluster) ([]plan.Pool, error) {
	azurePools := &infrav1.AzureManagedMachinePoolList{}
	if err := c.List(ctx, azurePools, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list AzureManagedMachinePools: %w", err)
	}
	machinePools := &clusterv1.MachinePoolList{}
	if err := c.List(ctx, machinePools, client.InNamespace(cluster.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list MachinePools: %w", err)
	}
	var out []plan.Pool
	for i := range azurePools.Items {
		azurePool := &azurePools.Items[i]
		var machinePool *clusterv1.MachinePool
		for j := range machinePools.Items {
			if refersToPool(&machinePools.Items[j], azurePool.Name) {
				machinePool = &machinePools.Items[j]
			}
		}
		of := azurePool.Labels[clusterv1.ClusterNameLabel]
		if machinePool != nil {
			of = machinePool.Spec.ClusterName
		}
		if of == cluster.Name {
			out = append(out, NewPool(azurePool, machinePool.DeepCopy()))
		}
	}
	return out, nil
}

// NewPool returns a pool with defaults, as input of a plan.
func NewPool(azurePool *infrav1.AzureManagedMachinePool, machinePool *clusterv1.MachinePool) plan.Pool {
	pool := plan.Pool{MachinePool: machinePool, AzurePool: azurePool.DeepCopy()}
	defaults.FillAzureManagedMachinePool(pool.AzurePool)
	return pool
}

// readSecrets reads the values that patches refer to. Missing values are left out, and the plan reports them.
func readSecrets(ctx context.Context, c client.Reader, namespace string, refs []aso.KeyRef) (aso.Secrets, error) {
	out := aso.Secrets{}
	for _, ref := range refs {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, secret); err != nil {
			if apierrors.IsNotFound(err) {
				continue
			}
			return nil, fmt.Errorf("get Secret %s/%s, which a patch refers to: %w", namespace, ref.Name, err)
		}
		if value, ok := secret.Data[ref.Key]; ok {
			out[ref] = string(value)
		}
	}
	return out, nil
}

// SecretValues returns the values of Secrets that the plan depends on, sorted, for a fingerprint.
func SecretValues(in plan.Input) []string {
	out := make([]string, 0, len(in.Secrets))
	for ref, value := range in.Secrets {
		out = append(out, ref.Name+"/"+ref.Key+"="+value)
	}
	slices.Sort(out)
	return out
}
