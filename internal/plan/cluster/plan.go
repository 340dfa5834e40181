// Package cluster plans the Azure resources of a self-managed cluster: resource group, network, load balancers, private
// DNS and what belongs to them.
//
// It is pure: Plan, BuildDeletePlan, Check and Unsupported are functions of their input alone. Check and Unsupported are to
// be asked before Plan; when they find something, nothing is to be made.
package cluster

import (
	"cmp"
	"slices"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// addFeatures add the nodes of one kind of resource each, in the order in which people think of them.
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

// BuildPlan is the desired state of the cluster's resources. The error is that of a graph that does not hold together, which
// is a bug and not bad input.
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

// APIServerEndpoint is where the API server is reached: what the spec says, else the name of the load balancer and the port. The
// host is "" when somebody else runs the control plane and has not said where.
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

// FailureDomains are the availability zones of the region. Control planes may use those that spec.failureDomains does
// not exclude and that offer the size of the control plane's machines. An edge zone has none.
//
// A size that fits into none of the zones that the spec allows excludes none: the machine's own refusal says what is wrong.
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

// regionZones are the zones of public IP addresses that no load balancer says anything about.
func regionZones(in plan.ClusterInput) []string {
	if in.AzureCluster.Spec.ExtendedLocation != nil {
		return nil
	}
	return slices.Sorted(slices.Values(in.Facts.Zones))
}

// sortedZones is the list as models want it. It is left out when empty: zones cannot be changed, and a region without any
// takes no list.
func sortedZones(zones []string) []*string {
	if len(zones) == 0 {
		return nil
	}
	return plan.ToPointers(slices.Sorted(slices.Values(zones)))
}
