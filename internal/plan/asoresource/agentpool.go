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

// HasAutoscaler tells whether a document of an agent pool has AKS's autoscaler on.
func HasAutoscaler(d Manifest) bool {
	on, _ := d.Spec["enableAutoScaling"].(bool)
	return on
}

// completeAgentPool completes the first agent pool of a pool's object. It changes the document's spec, which is a copy.
func (in Input) completeAgentPool(d Manifest, id arm.ID) field.ErrorList {
	machinePool := in.MachinePools[d.DeclaredIn]
	if machinePool == nil {
		return nil
	}
	var errs field.ErrorList
	version := strings.TrimPrefix(machinePool.Spec.Template.Spec.Version, "v")
	if err := imposeValue(d, []string{"orchestratorVersion"}, version, "spec.template.spec.version of the MachinePool"); err != nil {
		errs = append(errs, err)
	}
	have := aks.ObservePool(in.observedResource(id)).Properties
	if version != "" {
		d.Spec["orchestratorVersion"] = wantedVersion(version, have.OrchestratorVersion, have.CurrentOrchestratorVersion)
	}
	manager := machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]
	if manager == "false" {
		manager = ""
	}
	switch {
	case HasAutoscaler(d) && manager != "" && manager != "true" && manager != ManagedByAKS:
		errs = append(errs, field.Invalid(d.Path.Child("spec", "enableAutoScaling"), true,
			"the MachinePool's annotation "+clusterv1.ReplicasManagedByAnnotation+" says that "+manager+" scales the pool: take one of the two away"))
	case have.Count != nil && (manager != "" || HasAutoscaler(d)):
		d.Spec["count"] = clampCount(d, float64(*have.Count))
	case machinePool.Spec.Replicas != nil:
		replicas := float64(*machinePool.Spec.Replicas)
		if user, ok := d.Spec["count"].(float64); ok && user != replicas {
			errs = append(errs, field.Invalid(d.Path.Child("spec", "count"), user, "is spec.replicas of the MachinePool: leave it out here"))
		}
		d.Spec["count"] = clampCount(d, replicas)
	}
	return errs
}

// clampCount is a count within the bounds of the autoscaler, outside of which AKS takes none.
func clampCount(d Manifest, count float64) float64 {
	if !HasAutoscaler(d) {
		return count
	}
	if least, ok := d.Spec["minCount"].(float64); ok {
		count = math.Max(count, least)
	}
	if most, ok := d.Spec["maxCount"].(float64); ok {
		count = math.Min(count, most)
	}
	return count
}
