package clusterapi

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// playPools makes MachinePools own their infrastructure and gives them bootstrap data.
func (p *player) playPools(ctx context.Context) error {
	pools := &clusterv1.MachinePoolList{}
	if err := p.List(ctx, pools); err != nil {
		return err
	}
	for i := range pools.Items {
		if err := p.playPool(ctx, &pools.Items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) playPool(ctx context.Context, pool *clusterv1.MachinePool) error {
	infrastructure, err := p.readReference(ctx, pool.Namespace, pool.Spec.Template.Spec.InfrastructureRef)
	if err != nil {
		return err
	}
	if !pool.DeletionTimestamp.IsZero() {
		return p.endOwner(ctx, pool, infrastructure)
	}
	if err := p.own(ctx, pool, infrastructure, pool.Spec.ClusterName); err != nil {
		return err
	}
	if pool.Spec.Template.Spec.Bootstrap.DataSecretName == nil && pool.Spec.Template.Spec.Bootstrap.ConfigRef.IsDefined() {
		before, name := pool.DeepCopy(), pool.Name
		if err := p.createBootstrapData(ctx, pool.Namespace, name, pool.Spec.ClusterName); err != nil {
			return err
		}
		pool.Spec.Template.Spec.Bootstrap.DataSecretName = &name
		if err := p.patchIfChanged(ctx, before, pool); err != nil {
			return err
		}
	}
	before := pool.DeepCopy()
	if isPoolReady(infrastructure) {
		pool.Status.Initialization.InfrastructureProvisioned = new(true)
	}
	return p.patchStatusIfChanged(ctx, before, pool)
}

// isPoolReady reports whether Cluster API takes the infrastructure of a MachinePool for provisioned. It reads status.ready of it and not
// status.initialization.provisioned (IsReady in controllers/external/util.go of v1.14.2).
func isPoolReady(object *unstructured.Unstructured) bool {
	if object == nil {
		return false
	}
	ready, _, _ := unstructured.NestedBool(object.Object, "status", "ready")
	return ready
}

// playPoolMachines creates a Machine for each VM of a pool.
func (p *player) playPoolMachines(ctx context.Context) error {
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := p.List(ctx, vms); err != nil {
		return err
	}
	has := map[client.ObjectKey]bool{}
	for i := range p.machines {
		has[client.ObjectKey{Namespace: p.machines[i].Namespace, Name: p.machines[i].Spec.InfrastructureRef.Name}] = true
	}
	for i := range vms.Items {
		vm := &vms.Items[i]
		if has[client.ObjectKeyFromObject(vm)] || !vm.DeletionTimestamp.IsZero() {
			continue
		}
		cluster := vm.Labels[clusterv1.ClusterNameLabel]
		machine := &clusterv1.Machine{
			ObjectMeta: metav1.ObjectMeta{Namespace: vm.Namespace, Name: vm.Name, Finalizers: []string{played}, Labels: map[string]string{
				clusterv1.ClusterNameLabel: cluster, clusterv1.MachinePoolNameLabel: vm.Labels[clusterv1.MachinePoolNameLabel],
			}},
			Spec: clusterv1.MachineSpec{ClusterName: cluster, Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")},
				InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureMachinePoolMachine",
					Name: vm.Name}},
		}
		if err := client.IgnoreAlreadyExists(p.Create(ctx, machine)); err != nil {
			return err
		}
	}
	return nil
}
