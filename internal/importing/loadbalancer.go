package importing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// balancer is a load balancer with its body.
type balancer struct {
	Resource
	loadBalancerBody
}

// balancers are the load balancers of the cluster by role.
type balancers struct{ apiServer, internal, nodeOutbound, controlPlaneOutbound *balancer }

// findBalancers finds the load balancers by their role tags. Without the ownership tag, the one of the API server is that with a rule for its port.
func (w *writer) findBalancers() error {
	for _, r := range w.estate.list(types.LoadBalancer) {
		body, err := decodeBody[loadBalancerBody](r)
		if err != nil {
			return err
		}
		of := &balancer{r, body}
		if !w.id.tagged {
			if w.balancers.apiServer == nil && len(clustersOf(body.head)) == 0 && slices.ContainsFunc(body.Properties.LoadBalancingRules, isAPIServerRule) {
				w.balancers.apiServer = of
			}
			continue
		}
		if !w.id.owns(body.head) {
			continue
		}
		switch body.tag(infrav1.RoleTag) {
		case infrav1.RoleAPIServer:
			w.balancers.apiServer = of
		case infrav1.RoleAPIServerInternal:
			w.balancers.internal = of
		case infrav1.RoleNodeOutbound:
			w.balancers.nodeOutbound = of
		case infrav1.RoleControlPlaneOutbound:
			w.balancers.controlPlaneOutbound = of
		}
	}
	if w.id.tagged && w.balancers.apiServer == nil {
		// Another program runs the API server, or the control plane is elsewhere.
		w.azure.Spec.ControlPlaneEnabled = false
	}
	return nil
}

// isAPIServerRule reports whether a rule leads to the API server.
func isAPIServerRule(rule ruleBody) bool {
	return rule.Properties.BackendPort == plan.DefaultAPIServerPort && !serviceEntry.MatchString(rule.Name)
}

// apiServerRule returns the rule of the API server.
func (b *balancer) apiServerRule() (ruleBody, bool) {
	rules := b.Properties.LoadBalancingRules
	for _, is := range []func(ruleBody) bool{func(r ruleBody) bool { return r.Name == plan.APIServerRule }, isAPIServerRule} {
		if i := slices.IndexFunc(rules, is); i >= 0 {
			return rules[i], true
		}
	}
	return ruleBody{}, false
}

// writeBalancers writes the load balancers of the cluster.
func (w *writer) writeBalancers() error {
	if !w.id.tagged {
		if of := w.balancers.apiServer; of != nil {
			w.explain(of.ID, "", "it does not carry the ownership tag, so the manifests use its address only, and it stays as it is")
		}
		return nil
	}
	network := &w.azure.Spec.NetworkSpec
	if of := w.balancers.apiServer; of != nil {
		lb, err := w.apiServerSpec(of)
		if err != nil {
			return err
		}
		network.APIServerLB = lb
	}
	if of := w.balancers.nodeOutbound; of != nil {
		network.NodeOutboundLB = w.outboundSpec(of, nodeOutbound)
	}
	if of := w.balancers.controlPlaneOutbound; of != nil {
		network.ControlPlaneOutboundLB = w.outboundSpec(of, controlPlaneOutbound)
	}
	return nil
}

// apiServerSpec returns the spec of the API server's load balancer.
func (w *writer) apiServerSpec(of *balancer) (*infrav1.LoadBalancerSpec, error) {
	lb := &infrav1.LoadBalancerSpec{Name: of.ID.Name()}
	lb.Type, lb.SKU = infrav1.Internal, infrav1.SKU(of.SKU.Name)
	for _, frontend := range of.Properties.FrontendIPConfigurations {
		switch {
		case serviceEntry.MatchString(frontend.Name):
			w.explain(of.ID, fmt.Sprintf("properties.frontendIPConfigurations[%s]", frontend.Name), fromService)
		case frontend.Properties.PublicIPAddress != nil:
			address, err := w.publicIPSpec(frontend.Properties.PublicIPAddress.ID, true)
			if err != nil {
				return nil, err
			}
			lb.Type = infrav1.Public
			lb.FrontendIPs = append(lb.FrontendIPs, infrav1.FrontendIP{Name: frontend.Name, PublicIP: &address})
			if r, ok := w.estate.find(frontend.Properties.PublicIPAddress.ID); ok {
				if body, err := decodeBody[head](r); err == nil && !slices.Equal(sorted(body.Zones), sorted(w.regionZones())) {
					lb.AvailabilityZones = sorted(body.Zones)
				}
			}
		default:
			lb.FrontendIPs = append(lb.FrontendIPs, infrav1.FrontendIP{Name: frontend.Name,
				FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: frontend.Properties.PrivateIPAddress}})
			lb.AvailabilityZones = sorted(frontend.Zones)
		}
	}
	if w.balancers.internal != nil {
		for _, frontend := range w.balancers.internal.Properties.FrontendIPConfigurations {
			lb.FrontendIPs = append(lb.FrontendIPs, infrav1.FrontendIP{Name: frontend.Name,
				FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: frontend.Properties.PrivateIPAddress}})
		}
	}
	rule, ok := of.apiServerRule()
	if !ok {
		return lb, nil
	}
	lb.IdleTimeoutInMinutes = rule.Properties.IdleTimeoutInMinutes
	if pool := rule.Properties.BackendAddressPool; pool != nil {
		lb.BackendPool.Name = arm.ID(pool.ID).Name()
	}
	if port := rule.Properties.BackendPort; port != plan.DefaultAPIServerPort {
		w.cluster.Spec.ClusterNetwork.APIServerPort = port
	}
	for _, other := range of.Properties.LoadBalancingRules {
		path, properties := fmt.Sprintf("properties.loadBalancingRules[%s]", other.Name), other.Properties
		switch {
		case other.Name == rule.Name:
		case serviceEntry.MatchString(other.Name):
			w.explain(of.ID, path, fromService)
		case properties.FrontendPort != properties.BackendPort || properties.Probe == nil || rule.Properties.Probe == nil ||
			!strings.EqualFold(properties.Probe.ID, rule.Properties.Probe.ID):
			w.explain(of.ID, path, "an additional port of the spec has the same number on both sides and the probe of the API server. The rule stays as it is")
		default:
			w.azure.Spec.NetworkSpec.AdditionalAPIServerLBPorts = append(w.azure.Spec.NetworkSpec.AdditionalAPIServerLBPorts,
				infrav1.LoadBalancerPort{Name: other.Name, Port: properties.FrontendPort})
		}
	}
	return lb, nil
}

// addressZones returns the zones of a public IP address, sorted.
func (w *writer) addressZones(id string) []string {
	r, ok := w.estate.find(id)
	if !ok {
		return nil
	}
	body, err := decodeBody[head](r)
	if err != nil {
		return nil
	}
	return sorted(body.Zones)
}

func sorted(texts []string) []string { return slices.Sorted(slices.Values(texts)) }

// regionZones returns the zones of the region as far as addresses of the cluster show them.
func (w *writer) regionZones() []string {
	var out []string
	for _, r := range w.estate.list(types.PublicIPAddress) {
		if body, err := decodeBody[head](r); err == nil && w.id.owns(body) && len(body.Zones) > len(out) {
			out = sorted(body.Zones)
		}
	}
	return out
}

// writeEndpoint writes the address of the API server: that of the user, or that of the load balancer.
func (w *writer) writeEndpoint() error {
	endpoint := &w.azure.Spec.ControlPlaneEndpoint
	endpoint.Host, endpoint.Port = w.EndpointHost, w.EndpointPort
	if of := w.balancers.apiServer; of != nil && endpoint.Host == "" {
		rule, ok := of.apiServerRule()
		if ok {
			endpoint.Port = cmp.Or(endpoint.Port, rule.Properties.FrontendPort)
			endpoint.Host = w.addressOf(of, rule)
		}
	}
	if endpoint.Host == "" || endpoint.Port == 0 {
		return fmt.Errorf("the address of the API server is not known, because cluster %s has no load balancer with a rule for port %d. Pass it with --endpoint HOST:PORT",
			w.id.name, plan.DefaultAPIServerPort)
	}
	w.cluster.Spec.ControlPlaneEndpoint.Host, w.cluster.Spec.ControlPlaneEndpoint.Port = endpoint.Host, endpoint.Port
	return nil
}

// addressOf returns the address at which clients reach a rule.
func (w *writer) addressOf(of *balancer, rule ruleBody) string {
	for _, frontend := range of.Properties.FrontendIPConfigurations {
		if at := rule.Properties.FrontendIPConfiguration; at != nil && !strings.EqualFold(arm.ID(at.ID).Name(), frontend.Name) {
			continue
		}
		if frontend.Properties.PublicIPAddress == nil {
			if !w.id.tagged {
				return frontend.Properties.PrivateIPAddress
			}
			return plan.APIServerRecord + "." + plan.PrivateDNSZoneName(plan.ClusterInput{Cluster: w.cluster, AzureCluster: w.azure})
		}
		r, ok := w.estate.find(frontend.Properties.PublicIPAddress.ID)
		if !ok {
			return ""
		}
		body, err := decodeBody[publicIPBody](r)
		if err != nil {
			return ""
		}
		if dns := body.Properties.DNSSettings; dns != nil && dns.FQDN != "" {
			return dns.FQDN
		}
		return body.Properties.IPAddress
	}
	return ""
}

// writePrivateDNS writes the private DNS zone of an internal API server.
func (w *writer) writePrivateDNS() error {
	network := &w.azure.Spec.NetworkSpec
	if network.APIServerLB == nil || network.APIServerLB.Type != infrav1.Internal {
		return nil
	}
	for _, r := range w.estate.list(types.VirtualNetworkLink) {
		zone := r.ID.Parent()
		body, err := decodeBody[struct {
			head
			Properties struct{ VirtualNetwork reference }
		}](r)
		if err != nil {
			return err
		}
		_, hasRecord := w.estate.find(string(zone.Child("A", plan.APIServerRecord)))
		_, hasV6Record := w.estate.find(string(zone.Child("AAAA", plan.APIServerRecord)))
		if !strings.EqualFold(body.Properties.VirtualNetwork.ID, w.networkID) || !hasRecord && !hasV6Record {
			continue
		}
		network.PrivateDNSZoneName = zone.Name()
		if group := zone.ResourceGroup(); !strings.EqualFold(group, w.estate.Group) {
			network.PrivateDNSZoneResourceGroup = group
		}
		return nil
	}
	network.PrivateDNSZone = new(infrav1.PrivateDNSZoneModeNone)
	return nil
}
