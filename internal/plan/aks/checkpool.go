package aks

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
)

// CheckPool returns the errors in the spec of a pool and its MachinePool, like CheckSpec.
func CheckPool(in Input, pool Pool) field.ErrorList {
	path := field.NewPath("spec")
	errs := checkPoolName(in, pool, path.Child("name"))
	errs = append(errs, checkSystemPool(pool, path)...)
	errs = append(errs, checkScaling(pool, path.Child("scaling"))...)
	if owner := pool.MachinePool; owner != nil && owner.Spec.Template.Spec.Version != "" {
		errs = append(errs, checkVersion(field.NewPath("MachinePool", "spec", "template", "spec", "version"), owner.Spec.Template.Spec.Version)...)
	}
	if subnet := PoolSubnetID(in, pool); hasNetworkOfAKS(in) {
		if !subnet.Equal(SubnetID(in)) {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(), "the cluster is in a network that AKS made for it, with one subnet for all pools: leave it out"))
		}
	} else if in.Facts.VNet.Exists && !subnet.Equal(SubnetID(in)) {
		if _, exists := in.Facts.VNet.Subnets[strings.ToLower(subnet.Name())]; !exists {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(), fmt.Sprintf("is no subnet of the network %q: make it, or name another one", VNetID(in).Name())))
		}
	}
	return append(errs, aso.CheckPatches(aso.AgentPool, APIVersion(in), pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches, aso.PatchField(aso.AgentPool))...)
}

func checkPoolName(in Input, pool Pool, path *field.Path) field.ErrorList {
	name := PoolName(pool)
	windows := deref(pool.AzurePool.Spec.OSType) == "Windows"
	switch {
	case !poolNamePattern.MatchString(name) || len(name) > maxLinuxPoolName:
		return field.ErrorList{field.Invalid(path, name, "is no name of an agent pool: 1 to 12 lower-case letters and digits, of which the first is a letter; without spec.name it is metadata.name")}
	case windows && len(name) > maxWindowsPoolName:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("is too long: a pool with Windows has at most %d characters", maxWindowsPoolName))}
	}
	for _, other := range in.Pools {
		if other.AzurePool.Name != pool.AzurePool.Name && PoolName(other) == name {
			return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("is the name of AzureManagedMachinePool %s in Azure, too: give one of them another name", other.AzurePool.Name))}
		}
	}
	return nil
}

// checkSystemPool rejects system pools that can have no node, that use Spot VMs, or that run Windows.
func checkSystemPool(pool Pool, path *field.Path) field.ErrorList {
	spec := pool.AzurePool.Spec
	if spec.Mode != "System" {
		return nil
	}
	var errs field.ErrorList
	if deref(spec.OSType) == "Windows" {
		errs = append(errs, field.Invalid(path.Child("osType"), "Windows", "a pool with mode System has Linux: choose mode User"))
	}
	if deref(spec.ScaleSetPriority) == "Spot" {
		errs = append(errs, field.Invalid(path.Child("scaleSetPriority"), "Spot", "a pool with mode System has Regular nodes: choose mode User"))
	}
	if spec.Scaling != nil {
		if least := toInt32(spec.Scaling.MinSize); least != nil && *least < 1 {
			errs = append(errs, field.Invalid(path.Child("scaling", "minSize"), *least, "a pool with mode System has at least one node"))
		}
	} else if owner := pool.MachinePool; owner != nil && owner.Spec.Replicas != nil && *owner.Spec.Replicas < 1 {
		errs = append(errs, field.Invalid(field.NewPath("MachinePool", "spec", "replicas"), *owner.Spec.Replicas, "a pool with mode System has at least one node: raise it, or choose mode User"))
	}
	return errs
}

func checkScaling(pool Pool, path *field.Path) field.ErrorList {
	scaling := pool.AzurePool.Spec.Scaling
	if scaling == nil {
		return nil
	}
	least, most := toInt32(scaling.MinSize), toInt32(scaling.MaxSize)
	switch {
	case least == nil:
		return field.ErrorList{field.Required(path.Child("minSize"), "AKS's autoscaler needs both bounds")}
	case most == nil:
		return field.ErrorList{field.Required(path.Child("maxSize"), "AKS's autoscaler needs both bounds")}
	case *least > *most:
		return field.ErrorList{field.Invalid(path.Child("minSize"), *least, fmt.Sprintf("is above maxSize %d", *most))}
	}
	return nil
}
