package asoresource

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// ManagedByAKS is the value of the annotation replicas-managed-by of a MachinePool while AKS's autoscaler runs.
const ManagedByAKS = "aks"

// HasAutoscaler reports whether the manifest of an agent pool enables AKS's autoscaler.
func HasAutoscaler(m Manifest) bool {
	on, _ := m.Spec["enableAutoScaling"].(bool)
	return on
}

// completeAgentPool completes the first agent pool of a pool's object with the values of its MachinePool. It changes the manifest's
// spec, which is a copy.
func (in Input) completeAgentPool(m Manifest, id arm.ID) field.ErrorList {
	machinePool := in.MachinePools[m.DeclaredIn]
	if machinePool == nil {
		return nil
	}
	var errs field.ErrorList
	if err := imposeValue(m, []string{"orchestratorVersion"}, strings.TrimPrefix(machinePool.Spec.Template.Spec.Version, "v"), "spec.template.spec.version of the MachinePool"); err != nil {
		errs = append(errs, err)
	}
	have := agentpool.Observe(in.observedResource(id))
	scale := agentpool.Scale{Replicas: machinePool.Spec.Replicas, Manager: machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation], Own: ManagedByAKS}
	if manager := scale.Manager; HasAutoscaler(m) && !slices.Contains([]string{"", "false", "true", ManagedByAKS}, manager) {
		errs = append(errs, field.Invalid(m.Path.Child("spec", "enableAutoScaling"), true,
			"the MachinePool's annotation "+clusterv1.ReplicasManagedByAnnotation+" names "+manager+" as the scaler of the pool. Remove the annotation or enableAutoScaling."))
	}
	if count, ok := m.Spec["count"].(float64); ok && scale.UsesReplicas(m.Spec, have) && count != float64(*scale.Replicas) {
		errs = append(errs, field.Invalid(m.Path.Child("spec", "count"), count, "differs from spec.replicas of the MachinePool, which sets it. Leave it out here."))
	}
	scale.SetCount(m.Spec, have)
	return errs
}
