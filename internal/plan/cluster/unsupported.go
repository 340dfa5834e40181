package cluster

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// UnsupportedFields returns an error for each field of the spec that the plan would ignore. It needs no facts.
func UnsupportedFields(in plan.ClusterInput) field.ErrorList {
	var errs field.ErrorList
	spec := in.AzureCluster.Spec
	path := field.NewPath("spec")
	if spec.ExtendedLocation != nil && !in.Features.EdgeZone {
		errs = append(errs, field.Forbidden(path.Child("extendedLocation"),
			"needs the feature gate EdgeZone: start the manager with --feature-gates=EdgeZone=true, or remove the field"))
	}
	network := path.Child("networkSpec")
	errs = append(errs, unsupportedAPIServerLB(in, network.Child("apiServerLB"))...)
	errs = append(errs, unsupportedOutboundLB(spec.NetworkSpec.NodeOutboundLB, network.Child("nodeOutboundLB"))...)
	errs = append(errs, unsupportedOutboundLB(spec.NetworkSpec.ControlPlaneOutboundLB, network.Child("controlPlaneOutboundLB"))...)
	if lb := spec.NetworkSpec.APIServerLB; spec.NetworkSpec.ControlPlaneOutboundLB != nil && (lb == nil || lb.Type != infrav1.Internal) {
		errs = append(errs, field.Forbidden(network.Child("controlPlaneOutboundLB"),
			"control-plane machines use it only behind an API server load balancer of type Internal: a public one also serves outbound connections, so remove the field"))
	}
	if !hasInternalAPIServer(in) {
		const text = "a cluster has a private DNS zone only with an API server load balancer of type Internal: remove the field, or set the type of apiServerLB to Internal"
		if spec.NetworkSpec.PrivateDNSZoneName != "" {
			errs = append(errs, field.Forbidden(network.Child("privateDNSZoneName"), text))
		}
		if spec.NetworkSpec.PrivateDNSZoneResourceGroup != "" {
			errs = append(errs, field.Forbidden(network.Child("privateDNSZoneResourceGroup"), text))
		}
	}
	if bastion := spec.BastionSpec.AzureBastion; bastion != nil && bastion.Subnet.NatGateway.Name != "" {
		errs = append(errs, field.Forbidden(path.Child("bastionSpec", "azureBastion", "subnet", "natGateway"),
			"Azure does not allow a NAT gateway on the subnet of a bastion host: remove it"))
	}
	return errs
}

// hasInternalAPIServer returns true if the fields of the private DNS zone have a meaning: for an internal API server load
// balancer, also when the zone itself is not created.
func hasInternalAPIServer(in plan.ClusterInput) bool {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	return lb != nil && lb.Type == infrav1.Internal
}

func unsupportedAPIServerLB(in plan.ClusterInput, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if lb == nil {
		if ports := in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts; len(ports) > 0 {
			errs = append(errs, field.Forbidden(field.NewPath("spec", "networkSpec", "additionalAPIServerLBPorts"),
				"the ports belong to an API server load balancer, and the cluster has none: remove the field, or set apiServerLB"))
		}
		return errs
	}
	errs = append(errs, unsupportedSKU(lb, path)...)
	if count := lb.FrontendIPsCount; count != nil && *count != 1 {
		errs = append(errs, field.NotSupported(path.Child("frontendIPsCount"), *count, []string{"1"}))
	}
	public := 0
	for i, frontend := range lb.FrontendIPs {
		here := path.Child("frontendIPs").Index(i)
		switch {
		case lb.Type == infrav1.Internal && frontend.PublicIP != nil:
			errs = append(errs, field.Forbidden(here.Child("publicIP"), "a load balancer of type Internal can only have private addresses: remove the field"))
		case lb.Type != infrav1.Internal && frontend.PrivateIPAddress != "" && !in.Features.APIServerILB:
			errs = append(errs, field.Forbidden(here.Child("privateIP"),
				"beside a public frontend this needs the feature gate APIServerILB: start the manager with --feature-gates=APIServerILB=true, or remove the field"))
		}
		if frontend.PublicIP != nil {
			public++
		}
	}
	if lb.Type != infrav1.Internal && public > 1 {
		errs = append(errs, field.TooMany(path.Child("frontendIPs"), public, 1))
	}
	return errs
}

func unsupportedOutboundLB(lb *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	if lb == nil {
		return nil
	}
	errs := unsupportedSKU(lb, path)
	if lb.Type != "" && lb.Type != infrav1.Public {
		errs = append(errs, field.NotSupported(path.Child("type"), lb.Type, []infrav1.LBType{infrav1.Public}))
	}
	for i, frontend := range lb.FrontendIPs {
		if frontend.PrivateIPAddress != "" {
			errs = append(errs, field.Forbidden(path.Child("frontendIPs").Index(i).Child("privateIP"),
				"an outbound load balancer can only have public addresses: remove the field"))
		}
	}
	if count := lb.FrontendIPsCount; count != nil && int(*count) != len(lb.FrontendIPs) {
		errs = append(errs, field.Invalid(path.Child("frontendIPsCount"), *count,
			"is not the number of frontendIPs: change the count alone, the list follows it"))
	}
	return errs
}

func unsupportedSKU(lb *infrav1.LoadBalancerSpec, path *field.Path) field.ErrorList {
	if lb.SKU == "" || lb.SKU == infrav1.SKUStandard {
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("sku"), lb.SKU, []infrav1.SKU{infrav1.SKUStandard})}
}
