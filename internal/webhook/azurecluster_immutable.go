package webhook

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

const immutable = "cannot change after the cluster was created"

// ValidateAzureClusterUpdate checks a change of an AzureCluster; both objects are defaulted. Errors about immutable fields come
// first, and errors that the stored object has, too, are left out.
func ValidateAzureClusterUpdate(old, c *infrav1.AzureCluster, features plan.Features) field.ErrorList {
	if errs := immutableCluster(old, c); len(errs) > 0 {
		return errs
	}
	return introducedErrors(ValidateAzureCluster(old, features), ValidateAzureCluster(c, features))
}

func immutableCluster(old, c *infrav1.AzureCluster) (errs field.ErrorList) {
	spec := field.NewPath("spec")
	network := spec.Child("networkSpec")
	if plan.HasAzureResources(old) {
		errs = append(errs, refuseMove(old.Spec.SubscriptionID, c.Spec.SubscriptionID, spec.Child("subscriptionID"), "subscriptions")...)
		errs = append(errs, refuseRegion(old.Spec.Location, c.Spec.Location, spec.Child("location"))...)
		if old.Spec.ControlPlaneEnabled && !c.Spec.ControlPlaneEnabled {
			errs = append(errs, field.Forbidden(spec.Child("controlPlaneEnabled"), "cannot become false once there are resources, "+
				"because the load balancer and the public address of the API server would be deleted; create a new cluster"))
		}
		errs = append(errs, samePublicAddress(old, c, network.Child("apiServerLB", "frontendIPs"))...)
	}
	if !equality.Semantic.DeepEqual(old.Spec.CloudProviderConfigOverrides, c.Spec.CloudProviderConfigOverrides) {
		errs = append(errs, field.Forbidden(spec.Child("cloudProviderConfigOverrides"),
			immutable+", because machines read it when they are created"))
	}
	oldNetwork, newNetwork := &old.Spec.NetworkSpec, &c.Spec.NetworkSpec
	if !equality.Semantic.DeepEqual(withSortedZones(oldNetwork.ControlPlaneOutboundLB), withSortedZones(newNetwork.ControlPlaneOutboundLB)) {
		errs = append(errs, field.Forbidden(network.Child("controlPlaneOutboundLB"), immutable))
	}
	errs = append(errs, immutablePrivateIP(oldNetwork.APIServerLB, newNetwork.APIServerLB, network.Child("apiServerLB"))...)
	if plan.IsNetworkInUse(old) {
		errs = append(errs, sameNetwork(&oldNetwork.Vnet, &newNetwork.Vnet, network.Child("vnet"))...)
	}
	if plan.HasAzureResources(old) {
		errs = append(errs, samePool(oldNetwork.APIServerLB, newNetwork.APIServerLB, network.Child("apiServerLB"))...)
		errs = append(errs, samePool(oldNetwork.NodeOutboundLB, newNetwork.NodeOutboundLB, network.Child("nodeOutboundLB"))...)
	}
	if plan.NodesHaveIPv6(newNetwork.Subnets) {
		errs = append(errs, immutableNodeOutboundLB(oldNetwork.NodeOutboundLB, newNetwork.NodeOutboundLB, network.Child("nodeOutboundLB"))...)
	}
	return append(errs, immutableSubnets(old, c, network.Child("subnets"))...)
}

// refuseRegion refuses another region. Another spelling of the same one is accepted.
func refuseRegion(old, value string, path *field.Path) field.ErrorList {
	return refuseMove(plan.NormalizeRegion(old), plan.NormalizeRegion(value), path, "regions")
}

// refuseMove refuses to change a region, subscription or cloud, which Azure cannot move resources from.
func refuseMove(old, value string, path *field.Path, between string) field.ErrorList {
	if strings.EqualFold(old, value) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path,
		"cannot change once there are resources, because resources cannot move between "+between+"; create a new cluster")}
}

// sameNetwork refuses another virtual network: the provider would create it, and the machines would stay in the old one.
func sameNetwork(old, vnet *infrav1.VnetSpec, path *field.Path) (errs field.ErrorList) {
	const why = "cannot change once there are resources, because machines cannot move between virtual networks; create a new cluster"
	if !strings.EqualFold(old.Name, vnet.Name) {
		errs = append(errs, field.Forbidden(path.Child("name"), why))
	}
	if !strings.EqualFold(old.ResourceGroup, vnet.ResourceGroup) {
		errs = append(errs, field.Forbidden(path.Child("resourceGroup"), why))
	}
	return errs
}

// samePool refuses another name of the backend pool, because network interfaces of machines refer to it.
func samePool(old, lb *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	if old == nil || lb == nil || !strings.EqualFold(old.Name, lb.Name) || strings.EqualFold(old.BackendPool.Name, lb.BackendPool.Name) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("backendPool", "name"),
		"cannot change once there are resources, because machines are in the pool; create a new cluster")}
}

// samePublicAddress refuses another public address of the API server: the endpoint, which cannot change, is the DNS name of the first one.
// An endpoint with a name of the user's can be led to another address.
func samePublicAddress(old, c *infrav1.AzureCluster, path *field.Path) field.ErrorList {
	before, after := plan.APIServerPublicIP(old.Spec.NetworkSpec.APIServerLB), plan.APIServerPublicIP(c.Spec.NetworkSpec.APIServerLB)
	if before == nil || after == nil || strings.EqualFold(before.Name, after.Name) || plan.HasOwnEndpoint(old) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path, "the public address of the API server cannot get another name once there are resources, "+
		"because the endpoint is the DNS name of "+before.Name+"; create a new cluster")}
}

func immutablePrivateIP(old, lb *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	if old == nil || lb == nil {
		return nil
	}
	before, after := privateIP(old), privateIP(lb)
	if before == "" || after == "" || samePrivateIP(before, after) {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("frontendIPs"), "the private address "+immutable+", because machines use it")}
}

func immutableNodeOutboundLB(old, lb *infrav1.LoadBalancerSpec, path *field.Path) (errs field.ErrorList) {
	if old == nil || lb == nil {
		return nil
	}
	errs = append(errs, onceSet(old.ID, lb.ID, path.Child("id"))...)
	errs = append(errs, onceSet(old.Name, lb.Name, path.Child("name"))...)
	return append(errs, onceSetPointer(old.IdleTimeoutInMinutes, lb.IdleTimeoutInMinutes, path.Child("idleTimeoutInMinutes"))...)
}

// immutableSubnets compares subnets that have the same name before and after; subnets can be added and removed. Whether the range
// can change depends on the owner of the network.
func immutableSubnets(old, c *infrav1.AzureCluster, path *field.Path) (errs field.ErrorList) {
	for i, subnet := range c.Spec.NetworkSpec.Subnets {
		j := slices.IndexFunc(old.Spec.NetworkSpec.Subnets, func(s infrav1.SubnetSpec) bool { return s.Name == subnet.Name })
		if j < 0 {
			continue
		}
		before, path := old.Spec.NetworkSpec.Subnets[j], path.Index(i)
		if (plan.HasTaggedNetwork(old) || plan.HasRecordedSubnet(old, before.Name)) && !slices.Equal(before.CIDRBlocks, subnet.CIDRBlocks) {
			errs = append(errs, field.Forbidden(path.Child("cidrBlocks"), immutable))
		}
	}
	return errs
}

func withSortedZones(lb *infrav1.LoadBalancerSpec) *infrav1.LoadBalancerSpec {
	if lb == nil {
		return nil
	}
	lb = lb.DeepCopy()
	slices.Sort(lb.AvailabilityZones)
	return lb
}

// onceSet refuses to change a value that is not the zero value.
func onceSet[T comparable](old, value T, path *field.Path) field.ErrorList {
	var zero T
	if old == zero || old == value {
		return nil
	}
	return field.ErrorList{field.Invalid(path, value, immutable)}
}

// onceSetPointer refuses to change a value that is set.
func onceSetPointer[T comparable](old, value *T, path *field.Path) field.ErrorList {
	if old == nil || value != nil && *old == *value {
		return nil
	}
	if value == nil {
		return field.ErrorList{field.Required(path, immutable)}
	}
	return field.ErrorList{field.Invalid(path, *value, immutable)}
}
