package managed

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// InstancesRetry is how soon the instances of a pool are read again when they are not as many as the pool says.
const InstancesRetry = 5 * time.Second

// ScaleSet is the condition of a pool whose scale set, if it exists, has this many machines of the count that Azure says.
func ScaleSet(exists bool, machines int, count int32) metav1.Condition {
	condition := metav1.Condition{Type: infrav1.ScaleSetReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	switch {
	case !exists && count > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.WaitingReason
		condition.Message = fmt.Sprintf("the scale set of the pool is not in the node resource group yet; looked for again in %s", InstancesRetry)
	case machines != int(count):
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.WaitingReason
		condition.Message = fmt.Sprintf("the scale set has %d of %d virtual machines; looked at again in %s", machines, count, InstancesRetry)
	}
	return condition
}

// Follow has a MachinePool say who decides about its replicas, and show the number that AKS's autoscaler has chosen. by is the
// value of the annotation replicas-managed-by for AKS; one with another value is somebody else's, who scales the MachinePool, and
// stays. It returns the MachinePool as it is then.
func Follow(ctx context.Context, c client.Client, machinePool *clusterv1.MachinePool, by string, autoscaled bool, count int32) (*clusterv1.MachinePool, error) {
	changed := machinePool.DeepCopy()
	followed(changed, by, autoscaled, count)
	if equality.Semantic.DeepEqual(machinePool, changed) {
		return machinePool, nil
	}
	if err := c.Patch(ctx, changed, client.MergeFrom(machinePool)); err != nil {
		return machinePool, fmt.Errorf("patch MachinePool %s: %w", machinePool.Name, err)
	}
	return changed, nil
}

// followed is Follow without Kubernetes.
func followed(machinePool *clusterv1.MachinePool, by string, autoscaled bool, count int32) {
	if !autoscaled {
		if machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] == by {
			delete(machinePool.Annotations, clusterv1.ReplicasManagedByAnnotation)
		}
		return
	}
	if machinePool.Annotations == nil {
		machinePool.Annotations = map[string]string{}
	}
	machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] = by
	machinePool.Spec.Replicas = new(count)
}
