package importing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Parts of the names of addresses for outbound connections.
const (
	nodeOutbound         = "node-outbound"
	controlPlaneOutbound = "controlplane-outbound"
)

// outboundAddress is the name of an address for outbound connections: that of the AzureCluster, the purpose, and a number if there are
// several.
var outboundAddress = regexp.MustCompile(`^pip-(.+)-(` + nodeOutbound + `|` + controlPlaneOutbound + `)(-[0-9]+)?$`)

// outboundAddressOwner returns the name of the AzureCluster in the name of an address for outbound connections, "" if there is none.
func outboundAddressOwner(address, purpose string) string {
	parts := outboundAddress.FindStringSubmatch(address)
	if parts == nil || parts[2] != purpose {
		return ""
	}
	return parts[1]
}

// nameAzureCluster gives the AzureCluster its former name, if addresses for outbound connections show it: no field of the spec has their
// names, which follow from that of the AzureCluster. Cluster API gave another name than the Cluster's to one of a topology.
func (w *writer) nameAzureCluster() error {
	for _, outbound := range []struct {
		of      *balancer
		purpose string
	}{{w.balancers.nodeOutbound, nodeOutbound}, {w.balancers.controlPlaneOutbound, controlPlaneOutbound}} {
		if outbound.of == nil {
			continue
		}
		for _, frontend := range outbound.of.Properties.FrontendIPConfigurations {
			if !isOutboundFrontend(outbound.of, frontend) {
				continue
			}
			name := outboundAddressOwner(arm.ID(frontend.Properties.PublicIPAddress.ID).Name(), outbound.purpose)
			if len(validation.IsDNS1123Label(name)) == 0 {
				w.azure.Name, w.cluster.Spec.InfrastructureRef.Name = name, name
				return nil
			}
		}
	}
	return nil
}

// isOutboundFrontend reports whether a frontend has the name that the provider gives it.
func isOutboundFrontend(of *balancer, frontend frontendBody) bool {
	return strings.HasPrefix(frontend.Name, of.ID.Name()+"-frontEnd") && frontend.Properties.PublicIPAddress != nil
}

// outboundSpec returns the spec of a load balancer for outbound connections. The names of its frontends and addresses follow from its
// name and that of the AzureCluster, so only their number is in the spec.
func (w *writer) outboundSpec(of *balancer, purpose string) *infrav1.LoadBalancerSpec {
	lb := &infrav1.LoadBalancerSpec{Name: of.ID.Name()}
	count := int32(0)
	for _, frontend := range of.Properties.FrontendIPConfigurations {
		if isOutboundFrontend(of, frontend) {
			count++
			if address := arm.ID(frontend.Properties.PublicIPAddress.ID).Name(); outboundAddressOwner(address, purpose) != w.azure.Name {
				w.explain(of.ID, fmt.Sprintf("properties.frontendIPConfigurations[%s].properties.publicIPAddress.id", frontend.Name),
					fmt.Sprintf("addresses of this load balancer are named pip-%s-%s, and this one is %s. It stays", w.azure.Name, purpose, address))
			}
			if zones := w.addressZones(frontend.Properties.PublicIPAddress.ID); !slices.Equal(zones, sorted(w.regionZones())) {
				lb.AvailabilityZones = zones
			}
			continue
		}
		reason := "frontends of this load balancer are named " + lb.Name + "-frontEnd and their addresses pip-" + w.azure.Name + "-" + purpose + ". It stays as it is"
		if serviceEntry.MatchString(frontend.Name) {
			reason = fromService
		}
		w.explain(of.ID, fmt.Sprintf("properties.frontendIPConfigurations[%s]", frontend.Name), reason)
	}
	lb.FrontendIPsCount = &count
	for _, rule := range of.Properties.OutboundRules {
		if rule.Name != plan.OutboundRule {
			continue
		}
		lb.IdleTimeoutInMinutes = rule.Properties.IdleTimeoutInMinutes
		if pool := rule.Properties.BackendAddressPool; pool != nil {
			lb.BackendPool.Name = arm.ID(pool.ID).Name()
		}
	}
	for _, rule := range of.Properties.LoadBalancingRules {
		w.explain(of.ID, fmt.Sprintf("properties.loadBalancingRules[%s]", rule.Name), fromService)
	}
	return lb
}
