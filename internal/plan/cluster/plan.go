// Package cluster plans the Azure resources of a self-managed cluster: resource group, network, load balancers, private
// DNS and the resources that belong to them.
//
// It is pure: BuildPlan, BuildDeletePlan, CheckSpec and UnsupportedFields are functions of their input alone. CheckSpec
// and UnsupportedFields come before BuildPlan; if they return errors, nothing may be created.
package cluster

import (
	"cmp"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addFeatures add the nodes of one type of resource each.
var addFeatures = []func(in plan.ClusterInput, g *arm.Graph){
	addResourceGroups,
	addVirtualNetwork,
	addSecurityGroups,
	addRouteTables,
	addPublicIPs,
	addNATGateways,
	addSubnets,
	addPeerings,
	addLoadBalancers,
	addPrivateDNS,
	addPrivateEndpoints,
	addBastion,
}

// BuildPlan returns the desired state of the cluster's resources. An error means that the graph is inconsistent, which is
// a bug and not a fault of the input.
func BuildPlan(in plan.ClusterInput) (*arm.Graph, error) {
	g := &arm.Graph{}
	for _, feature := range addFeatures {
		feature(in, g)
	}
	sent := LastApplied(in)
	sent.AddRemovals(g)
	keepForeignPrefixes(in, g, sent)
	return g, g.Validate()
}

// APIServerEndpoint returns the endpoint of the API server: the spec's, else the DNS name of the load balancer and the
// port. host is "" if another program runs the control plane and the spec has no endpoint yet.
func APIServerEndpoint(in plan.ClusterInput) (host string, port int32) {
	endpoint := in.AzureCluster.Spec.ControlPlaneEndpoint
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if lb == nil {
		return endpoint.Host, endpoint.Port
	}
	host = plan.APIServerDNSName(in)
	if lb.Type == infrav1.Internal {
		host = plan.APIServerRecord + "." + plan.PrivateDNSZoneName(in)
	}
	return cmp.Or(endpoint.Host, host), cmp.Or(endpoint.Port, plan.APIServerPort(in))
}

// FailureDomains returns the availability zones of the region. Control planes may use those that spec.failureDomains does
// not exclude and that offer the VM size of the control plane. An edge zone has none.
//
// If none of the allowed zones offers the size, none is excluded: the machine's own refusal then explains the problem.
func FailureDomains(in plan.ClusterInput) []clusterv1.FailureDomain {
	if in.AzureCluster.Spec.ExtendedLocation != nil {
		return nil
	}
	var out []clusterv1.FailureDomain
	for _, zone := range slices.Sorted(slices.Values(in.Facts.Zones)) {
		domain := clusterv1.FailureDomain{Name: zone, ControlPlane: new(true)}
		if asked, ok := in.AzureCluster.Spec.FailureDomains[zone]; ok {
			domain.ControlPlane, domain.Attributes = new(asked.ControlPlane), asked.Attributes
		}
		out = append(out, domain)
	}
	offered := func(domain clusterv1.FailureDomain) bool {
		return slices.Contains(in.Facts.ControlPlaneZones, domain.Name)
	}
	if !slices.ContainsFunc(out, func(domain clusterv1.FailureDomain) bool { return *domain.ControlPlane && offered(domain) }) {
		return out
	}
	for i := range out {
		if !offered(out[i]) {
			out[i].ControlPlane = new(false)
		}
	}
	return out
}

// regionZones returns the zones of public IP addresses of a load balancer without zones in the spec.
func regionZones(in plan.ClusterInput) []string {
	if in.AzureCluster.Spec.ExtendedLocation != nil {
		return nil
	}
	return slices.Sorted(slices.Values(in.Facts.Zones))
}

// sortedZones returns the zones in the form of SDK models, nil for none: zones are immutable, and a region without zones
// does not accept a list.
func sortedZones(zones []string) []*string {
	if len(zones) == 0 {
		return nil
	}
	return plan.ToPointers(slices.Sorted(slices.Values(zones)))
}
