package azuremanagedmachinepool

import (
	"context"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// managedByAKS is the value of the annotation replicas-managed-by that this controller sets while AKS's autoscaler runs. An
// annotation with another value is somebody else's, who scales the MachinePool, and stays.
const managedByAKS = "true"

// follow has the MachinePool say who decides about its replicas, and show the number that AKS's autoscaler has chosen.
func (k *Kind) follow(ctx context.Context, in *input, observed json.RawMessage) error {
	changed := in.machinePool.DeepCopy()
	followed(changed, plan.ObservePool(observed).Properties.EnableAutoScaling, count(observed))
	if equality.Semantic.DeepEqual(in.machinePool, changed) {
		return nil
	}
	if err := k.Client.Patch(ctx, changed, client.MergeFrom(in.machinePool)); err != nil {
		return fmt.Errorf("patch MachinePool %s: %w", in.machinePool.Name, err)
	}
	in.machinePool = changed
	return nil
}

// followed is follow without Kubernetes.
func followed(machinePool *clusterv1.MachinePool, autoscaled bool, count int32) {
	if !autoscaled {
		if machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] == managedByAKS {
			delete(machinePool.Annotations, clusterv1.ReplicasManagedByAnnotation)
		}
		return
	}
	if machinePool.Annotations == nil {
		machinePool.Annotations = map[string]string{}
	}
	machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] = managedByAKS
	machinePool.Spec.Replicas = new(count)
}
