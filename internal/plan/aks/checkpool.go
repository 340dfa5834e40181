package aks

import (
	"fmt"
	"reflect"
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
	errs = append(errs, checkPoolBody(in, pool, path)...)
	errs = append(errs, plan.CheckTagCount(pool.AzurePool.Spec.AdditionalTags, "the agent pool", path.Child("additionalTags"))...)
	if owner := pool.MachinePool; owner != nil && owner.Spec.Template.Spec.Version != "" {
		errs = append(errs, checkVersion(field.NewPath("MachinePool", "spec", "template", "spec", "version"),
			owner.Spec.Template.Spec.Version)...)
	}
	if subnet := PoolSubnetID(in, pool); hasNetworkOfAKS(in) {
		if !subnet.Equal(SubnetID(in)) {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(),
				"the cluster uses a network that AKS created, with one subnet for all pools: remove the field"))
		}
	} else if in.Facts.VNet.Exists && !subnet.Equal(SubnetID(in)) {
		if _, exists := in.Facts.VNet.Subnets[strings.ToLower(subnet.Name())]; !exists {
			errs = append(errs, field.Invalid(path.Child("subnetName"), subnet.Name(),
				fmt.Sprintf("the network %q has no such subnet: create it, or set subnetName to an existing one", VNetID(in).Name())))
		}
	}
	return append(errs, aso.CheckPatches(aso.AgentPool, APIVersion(in), pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches,
		aso.PatchField(aso.AgentPool))...)
}

func checkPoolName(in Input, pool Pool, path *field.Path) field.ErrorList {
	name := PoolName(pool)
	if !poolNamePattern.MatchString(name) || len(name) > maxLinuxPoolName {
		return field.ErrorList{field.Invalid(path, name,
			"must start with a lower-case letter and contain only lower-case letters and digits, at most 12 characters. It defaults to metadata.name; set spec.name if that name is not valid")}
	}
	if owner := findNameOwner(in, pool); owner != nil {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("is the name of the agent pool of AzureManagedMachinePool %s, too. "+
			"A name cannot change: delete this object, which does not delete the agent pool, and create it with another spec.name", owner.Name))}
	}
	return nil
}

// propertyFields are the fields of properties whose names differ.
var propertyFields = map[string][]string{"minCount": {"scaling", "minSize"}, "maxCount": {"scaling", "maxSize"}, "nodeTaints": {"taints"}}

// checkPoolBody returns the errors in the body of a pool, which has the fields of the spec and its patches. A property that patches change
// has their field in messages. Errors in the patches themselves are not among them.
func checkPoolBody(in Input, pool Pool, path *field.Path) field.ErrorList {
	have := agentpool.Observe(in.Facts.AgentPool)
	body, err := toJSONObject(buildPoolModel(in, pool, have))
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	plain, _ := body["properties"].(map[string]any)
	properties := plain
	if patched, err := aso.ApplyPatches(aso.AgentPool, APIVersion(in), body, pool.AzurePool.Spec.ASOManagedClustersAgentPoolPatches,
		in.Secrets); err == nil {
		properties, _ = patched.Body["properties"].(map[string]any)
	}
	request := agentpool.Request{Name: PoolName(pool), Properties: properties, Observed: have}
	if pool.MachinePool != nil {
		request.Replicas = pool.MachinePool.Spec.Replicas
	}
	return agentpool.Check(request, func(property string) *field.Path {
		switch names, renamed := propertyFields[property]; {
		case !reflect.DeepEqual(plain[property], properties[property]):
			return aso.PatchField(aso.AgentPool).Child(property)
		case renamed:
			return path.Child(names[0], names[1:]...)
		}
		return path.Child(property)
	})
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
