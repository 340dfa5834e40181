package asoresource

import (
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
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
	have := aks.ObservePool(in.observedResource(id)).Properties
	manager := machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]
	if manager == "false" {
		manager = ""
	}
	switch {
	case HasAutoscaler(m) && manager != "" && manager != "true" && manager != ManagedByAKS:
		errs = append(errs, field.Invalid(m.Path.Child("spec", "enableAutoScaling"), true,
			"the MachinePool's annotation "+clusterv1.ReplicasManagedByAnnotation+" names "+manager+" as the scaler of the pool. Remove the annotation or enableAutoScaling."))
	case have.Count != nil && (manager != "" || HasAutoscaler(m)):
		m.Spec["count"] = clampCount(m, float64(*have.Count))
	case machinePool.Spec.Replicas != nil:
		replicas := float64(*machinePool.Spec.Replicas)
		if user, ok := m.Spec["count"].(float64); ok && user != replicas {
			errs = append(errs, field.Invalid(m.Path.Child("spec", "count"), user, "differs from spec.replicas of the MachinePool, which sets it. Leave it out here."))
		}
		m.Spec["count"] = clampCount(m, replicas)
	}
	return errs
}

// clampCount limits a count to the bounds of the autoscaler. AKS rejects a count outside of them.
func clampCount(m Manifest, count float64) float64 {
	if !HasAutoscaler(m) {
		return count
	}
	if least, ok := m.Spec["minCount"].(float64); ok {
		count = math.Max(count, least)
	}
	if most, ok := m.Spec["maxCount"].(float64); ok {
		count = math.Min(count, most)
	}
	return count
}
