package asoresource

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/version"
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
	if err := imposeValue(m, []string{"orchestratorVersion"}, strings.TrimPrefix(machinePool.Spec.Template.Spec.Version, "v"),
		"spec.template.spec.version of the MachinePool"); err != nil {
		errs = append(errs, err)
	}
	have := agentpool.Observe(in.observedResource(id))
	scale := agentpool.Scale{Replicas: machinePool.Spec.Replicas, Manager: machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation],
		Own: ManagedByAKS}
	if manager := scale.Manager; HasAutoscaler(m) && !slices.Contains([]string{"", "false", "true", ManagedByAKS}, manager) {
		errs = append(errs, field.Invalid(m.Path.Child("spec", "enableAutoScaling"), true,
			"the MachinePool's annotation "+clusterv1.ReplicasManagedByAnnotation+" names "+manager+" as the scaler of the pool. Remove the annotation or enableAutoScaling."))
	}
	if count, ok := m.Spec["count"].(float64); ok && scale.UsesReplicas(m.Spec, have) && count != float64(*scale.Replicas) {
		errs = append(errs, field.Invalid(m.Path.Child("spec", "count"), count,
			"differs from spec.replicas of the MachinePool, which sets it. Leave it out here."))
	}
	scale.SetCount(m.Spec, have)
	return errs
}

// checkAgentPool returns the errors in the properties of a pool that AKS accepts only together. Taints need facts: a pool may have them.
func (in Input) checkAgentPool(m Manifest, id arm.ID) field.ErrorList {
	var replicas *int32
	if machinePool := in.MachinePools[m.DeclaredIn]; machinePool != nil && in.isFirst(m) {
		replicas = machinePool.Spec.Replicas
	}
	text := func(key string) string {
		value, _ := m.Spec[key].(string)
		return value
	}
	number := func(key string) *int32 {
		if value, ok := m.Spec[key].(float64); ok {
			return new(int32(value))
		}
		return nil
	}
	var taints []string
	if list, _ := m.Spec["nodeTaints"].([]any); in.Facts != nil {
		for _, taint := range list {
			if taint, ok := taint.(string); ok {
				taints = append(taints, taint)
			}
		}
	}
	at := m.Path.Child("spec")
	return agentpool.Check(agentpool.Request{
		System: text("mode") == "System", Windows: text("osType") == "Windows", Spot: text("scaleSetPriority") == "Spot",
		Autoscaled: HasAutoscaler(m), MinCount: number("minCount"), MaxCount: number("maxCount"), Replicas: replicas,
		Taints: taints, Observed: agentpool.Observe(in.observedResource(id)),
	}, agentpool.Fields{OSType: at.Child("osType"), ScaleSetPriority: at.Child("scaleSetPriority"), MinCount: at.Child("minCount"),
		MaxCount: at.Child("maxCount"), Taints: at.Child("nodeTaints")})
}

// versionTooNewReason returns the message about an agent pool with a higher version than its control plane, "" if the version is
// allowed.
func (in Input) versionTooNewReason(m Manifest, cluster arm.ID) string {
	pool := version.Requested{Field: m.Path.Child("spec", "orchestratorVersion").String()}
	pool.Version, _ = m.Spec["orchestratorVersion"].(string)
	if machinePool := in.MachinePools[m.DeclaredIn]; machinePool != nil && in.isFirst(m) && machinePool.Spec.Template.Spec.Version != "" {
		pool = version.Requested{Field: "MachinePool " + machinePool.Name + " spec.template.spec.version",
			Version: machinePool.Spec.Template.Spec.Version}
	}
	var controlPlane version.Requested
	for _, of := range in.ManifestsOf(cluster) {
		controlPlane.Field = of.DeclaredIn + " " + of.Path.Child("spec", "kubernetesVersion").String()
		controlPlane.Version, _ = of.Spec["kubernetesVersion"].(string)
		if in.Version != "" && in.isFirst(of) {
			controlPlane = version.Requested{Field: of.DeclaredIn + " spec.version", Version: in.Version}
		}
	}
	if controlPlane.Version == "" {
		return "" // AKS decides about it, or another program does.
	}
	return version.TooNewReason(pool, controlPlane, managedcluster.CurrentVersion(in.observedResource(cluster)))
}
