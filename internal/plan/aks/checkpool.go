package aks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/agentpool"
)

// CheckPool returns the errors in the spec of a pool and its MachinePool, like CheckSpec.
func CheckPool(in Input, pool Pool) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkPoolName(in, pool, path.Child("name"))
	errs = append(errs, checkBounds(pool, path.Child("scaling"))...)
	errs = append(errs, agentpool.Check(newRequest(in, pool), agentpool.Fields{
		OSType: path.Child("osType"), ScaleSetPriority: path.Child("scaleSetPriority"), MinCount: path.Child("scaling", "minSize"),
		MaxCount: path.Child("scaling", "maxSize"), Taints: path.Child("taints"),
	})...)
	errs = append(errs, plan.CheckTagCount(pool.AzurePool.Spec.AdditionalTags, "the agent pool", path.Child("additionalTags"))...)
	if owner := pool.MachinePool; owner != nil && owner.Spec.Template.Spec.Version != "" {
		errs = append(errs, checkVersion(field.NewPath("MachinePool", "spec", "template", "spec", "version"),
			owner.Spec.Template.Spec.Version)...)
	}
	if subnet := PoolSubnetID(in, pool); hasNetworkOfAKS(in) {
		if !subnet.Equal(SubnetID(in)) {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(),
				"the cluster is in a network that AKS made for it, with one subnet for all pools: leave it out"))
		}
	} else if in.Facts.VNet.Exists && !subnet.Equal(SubnetID(in)) {
		if _, exists := in.Facts.VNet.Subnets[strings.ToLower(subnet.Name())]; !exists {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(),
				fmt.Sprintf("is no subnet of the network %q: make it, or name another one", VNetID(in).Name())))
		}
	}
	return append(errs, aso.CheckPatches(aso.AgentPool, APIVersion(in), pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches,
		aso.PatchField(aso.AgentPool))...)
}

func checkPoolName(in Input, pool Pool, path *field.Path) field.ErrorList {
	name := PoolName(pool)
	windows := plan.Dereference(pool.AzurePool.Spec.OSType) == "Windows"
	switch {
	case !poolNamePattern.MatchString(name) || len(name) > maxLinuxPoolName:
		return field.ErrorList{field.Invalid(path, name,
			"must start with a lower-case letter and contain only lower-case letters and digits, at most 12 characters. It defaults to metadata.name; set spec.name if that name is not valid")}
	case windows && len(name) > maxWindowsPoolName:
		return field.ErrorList{field.Invalid(path, name,
			fmt.Sprintf("is too long: a pool with Windows has at most %d characters", maxWindowsPoolName))}
	}
	if owner := findNameOwner(in, pool); owner != nil {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("is the name of the agent pool of AzureManagedMachinePool %s, too. "+
			"A name cannot change: delete this object, which does not delete the agent pool, and create it with another spec.name", owner.Name))}
	}
	return nil
}

// newRequest returns the properties of a pool that AKS accepts only together.
func newRequest(in Input, pool Pool) agentpool.Request {
	spec := pool.AzurePool.Spec
	out := agentpool.Request{System: spec.Mode == "System", Windows: plan.Dereference(spec.OSType) == "Windows",
		Spot: plan.Dereference(spec.ScaleSetPriority) == "Spot", Observed: agentpool.Observe(in.Facts.AgentPool)}
	for _, taint := range toNodeTaints(spec.Taints) {
		out.Taints = append(out.Taints, *taint)
	}
	if spec.Scaling != nil {
		out.Autoscaled, out.MinCount, out.MaxCount = true, toInt32(spec.Scaling.MinSize), toInt32(spec.Scaling.MaxSize)
	}
	if pool.MachinePool != nil {
		out.Replicas = pool.MachinePool.Spec.Replicas
	}
	return out
}

// checkBounds rejects an autoscaler without both bounds.
func checkBounds(pool Pool, path *field.Path) field.ErrorList {
	scaling := pool.AzurePool.Spec.Scaling
	switch {
	case scaling == nil:
	case scaling.MinSize == nil:
		return field.ErrorList{field.Required(path.Child("minSize"), "AKS's autoscaler needs both bounds")}
	case scaling.MaxSize == nil:
		return field.ErrorList{field.Required(path.Child("maxSize"), "AKS's autoscaler needs both bounds")}
	}
	return nil
}
