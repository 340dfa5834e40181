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

// checkAgentPool returns the errors in the properties of a pool that AKS would refuse.
func (in Input) checkAgentPool(m Manifest, id arm.ID, properties map[string]any) field.ErrorList {
	request := agentpool.Request{Name: m.AzureName(), Properties: properties, Observed: agentpool.Observe(in.observedResource(id)), Unknown: in.Facts == nil}
	if machinePool := in.MachinePools[m.DeclaredIn]; machinePool != nil && in.isFirst(m) {
		request.Replicas = machinePool.Spec.Replicas
	}
	return agentpool.Check(request, func(property string) *field.Path {
		if property == "name" {
			return nameField(m)
		}
		return manifestField(m.Path.Child("spec"), m.Spec, property)
	})
}

// checkProfiles returns the errors in the agentPoolProfiles of the manifest of a managed cluster.
func (in Input) checkProfiles(m Manifest, id arm.ID, properties map[string]any) (errs field.ErrorList) {
	cluster := managedcluster.Observe(in.observedResource(id))
	profiles, _ := properties["agentPoolProfiles"].([]any)
	specs, _ := m.Spec["agentPoolProfiles"].([]any)
	path := m.Path.Child("spec", "agentPoolProfiles")
	for i := range profiles {
		profile, spec := toObject(profiles[i]), map[string]any(nil)
		if i < len(specs) {
			spec = toObject(specs[i])
		}
		name, _ := profile["name"].(string)
		errs = append(errs, agentpool.Check(agentpool.Request{
			Name: name, Properties: profile, Observed: agentpool.Observe(cluster.PoolBody(name)), Unknown: in.Facts == nil,
		}, func(property string) *field.Path { return manifestField(path.Index(i), spec, property) })...)
	}
	if len(profiles) > 0 && !managedcluster.HasSystemPool(properties) {
		errs = append(errs, field.Invalid(path, len(profiles), "has no pool with mode System: AKS creates no cluster without one. Set the mode of one of them"))
	}
	return errs
}

// manifestField returns the field of a property of Azure in the spec of a manifest.
func manifestField(path *field.Path, spec map[string]any, property string) *field.Path {
	if _, own := spec[property]; own {
		return path.Child(property)
	}
	if reference := strings.TrimSuffix(property, "ID") + "Reference"; spec[reference] != nil {
		return path.Child(reference)
	}
	return path.Child(property)
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
