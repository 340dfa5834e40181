package harness

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ReadPools plays the part of Cluster API's MachinePool controller that reads pools of this provider, for all MachinePools in a namespace.
// It returns the MachinePools. The next round repeats failed steps.
func ReadPools(ctx context.Context, c client.Client, namespace string) []clusterv1.MachinePool {
	list := &clusterv1.MachinePoolList{}
	if c.List(ctx, list, client.InNamespace(namespace)) != nil {
		return nil
	}
	for i := range list.Items {
		readPool(ctx, c, &list.Items[i])
	}
	return list.Items
}

// readPool copies what Cluster API copies. Of a pool it reads status.ready, not status.initialization.provisioned, and nothing else while
// that is false: reconcileInfrastructure in core/reconcilers/machinepool/machinepool_controller_phases.go, and IsReady in
// controllers/external/util.go of v1.14.2.
func readPool(ctx context.Context, c client.Client, machinePool *clusterv1.MachinePool) {
	reference := machinePool.Spec.Template.Spec.InfrastructureRef
	made, err := c.Scheme().New(infrav1.GroupVersion.WithKind(reference.Kind))
	if err != nil {
		return
	}
	pool := made.(client.Object)
	if c.Get(ctx, client.ObjectKey{Namespace: machinePool.Namespace, Name: reference.Name}, pool) != nil || pool.GetDeletionTimestamp() != nil {
		return
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pool)
	if err != nil {
		return
	}
	before := machinePool.DeepCopy()
	ready, _, _ := unstructured.NestedBool(object, "status", "ready")
	machinePool.Status.Initialization.InfrastructureProvisioned = &ready
	var ids []string
	if ready {
		replicas, _, _ := unstructured.NestedInt64(object, "status", "replicas")
		ids, _, _ = unstructured.NestedStringSlice(object, "spec", "providerIDList")
		machinePool.Status.Replicas = new(int32(replicas))
	}
	if c.Status().Patch(ctx, machinePool, client.MergeFrom(before)) != nil || !ready {
		return
	}
	before = machinePool.DeepCopy()
	machinePool.Spec.ProviderIDList = ids
	_ = c.Patch(ctx, machinePool, client.MergeFrom(before))
}
