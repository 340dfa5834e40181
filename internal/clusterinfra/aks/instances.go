package aks

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Limits of the interval at which the instances of an incomplete pool are read again.
const (
	minInstancesRetry = 5 * time.Second
	maxInstancesRetry = 5 * time.Minute
)

// InstancesRetry returns when to read the instances of a pool again: after a sixth of the time for which the pool has been incomplete.
// Azure may never create the others, for example without quota, and sends no notice when it does.
func InstancesRetry(pool conditions.Getter, now time.Time) time.Duration {
	condition := conditions.Get(pool, infrav1.ScaleSetReadyCondition)
	if condition == nil || condition.Status == metav1.ConditionTrue {
		return minInstancesRetry
	}
	return min(max(now.Sub(condition.LastTransitionTime.Time)/6, minInstancesRetry), maxInstancesRetry)
}

// scaleSetCondition returns the condition of a pool whose scale set, if it exists, has machines of the count that Azure reports.
func scaleSetCondition(exists bool, machines int, count int32) metav1.Condition {
	condition := metav1.Condition{Type: infrav1.ScaleSetReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	switch {
	case !exists && count > 0:
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.WaitingReason
		condition.Message = "the scale set of the pool does not exist yet in the node resource group; next try in a few minutes"
	case machines != int(count):
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.WaitingReason
		condition.Message = fmt.Sprintf("the scale set has %d of %d VMs; next try in a few minutes", machines, count)
	}
	return condition
}

// FollowAutoscaler sets the replicas of a MachinePool to the number of nodes that AKS's autoscaler has chosen, or another program that the
// annotation replicas-managed-by names. While AKS's autoscaler runs, it sets this annotation to managedBy. Any other value except "false"
// means the same to Cluster API, so it stays: a tool that applies it again would otherwise write against the controller forever.
// autoscalerEnabled is the choice of the spec. While AKS applies this choice, or has refused it, the MachinePool stays as the user has it.
// It returns the changed MachinePool.
func FollowAutoscaler(ctx context.Context, c client.Client, machinePool *clusterv1.MachinePool, managedBy string, autoscalerEnabled bool,
	instances *Instances) (*clusterv1.MachinePool, error) {
	if instances == nil || instances.Unsupported != "" { // A pool of an unsupported type may not show the number of its nodes.
		return machinePool, nil
	}
	if !instances.isInPlace() && autoscalerEnabled != instances.Autoscaled {
		return machinePool, nil
	}
	changed := machinePool.DeepCopy()
	applyAutoscaler(changed, managedBy, instances.Autoscaled, instances.Count)
	if equality.Semantic.DeepEqual(machinePool, changed) {
		return machinePool, nil
	}
	if err := c.Patch(ctx, changed, client.MergeFrom(machinePool)); err != nil {
		return machinePool, fmt.Errorf("patch MachinePool %s: %w", machinePool.Name, err)
	}
	return changed, nil
}

// applyAutoscaler is FollowAutoscaler in memory.
func applyAutoscaler(machinePool *clusterv1.MachinePool, managedBy string, autoscaled bool, count int32) {
	if !autoscaled {
		switch manager := machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]; {
		case manager == managedBy:
			delete(machinePool.Annotations, clusterv1.ReplicasManagedByAnnotation)
		case manager != "" && annotations.ReplicasManagedByExternalAutoscaler(machinePool):
			machinePool.Spec.Replicas = new(count)
		}
		return
	}
	if !annotations.ReplicasManagedByExternalAutoscaler(machinePool) {
		annotations.AddAnnotations(machinePool, map[string]string{clusterv1.ReplicasManagedByAnnotation: managedBy})
	}
	machinePool.Spec.Replicas = new(count)
}
