package network

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// backendRule is a rule of a load balancer, as its backends see it.
type backendRule struct {
	id, protocol string
	port         int
	floating     bool
	pools        []string // in lower case
}

func readBackendRule(id string, rule body.Object) backendRule {
	out := backendRule{id: id, protocol: body.String(rule, "properties.protocol"), port: body.Int(rule, "properties.backendPort"),
		floating: body.Bool(rule, "properties.enableFloatingIP")}
	for _, pool := range append(body.Objects(rule, "properties.backendAddressPools"), body.Child(rule, "properties.backendAddressPool")) {
		if id := body.String(pool, "id"); id != "" {
			out.pools = append(out.pools, strings.ToLower(id))
		}
	}
	return out
}

// collides reports whether a backend cannot tell the traffic of two rules apart.
func (r backendRule) collides(with backendRule) bool {
	return !store.SameID(r.id, with.id) && r.port == with.port && strings.EqualFold(r.protocol, with.protocol) && !r.floating && !with.floating
}

// listRules returns the rules of one kind of a load balancer.
func listRules(balancer body.Object, id, kind string) []backendRule {
	var out []backendRule
	for _, rule := range body.Objects(balancer, "properties."+kind) {
		out = append(out, readBackendRule(id+"/"+kind+"/"+body.String(rule, "name"), rule))
	}
	return out
}

// sameBackendPort refuses a load-balancing rule with the backend port and protocol of another one of a pool, or of an inbound NAT rule of an
// interface in the pool.
// Source of the first: https://github.com/MicrosoftDocs/azure-docs/issues/94673 and https://github.com/MicrosoftDocs/azure-docs/issues/117762.
func sameBackendPort(c *provider.Call, d *provider.Draft) error {
	rule := readBackendRule(d.ID, d.New)
	for _, other := range listRules(d.Parent, d.ParentID, "loadBalancingRules") {
		for _, pool := range rule.pools {
			if rule.collides(other) && slices.Contains(other.pools, pool) {
				return invalidValue("RulesUseSameBackendPortProtocolAndPool",
					"Load balancing rules %s and %s with floating IP disabled use the same protocol %s and backend port %d, and must not be used with the same backend address pool %s.",
					other.id, rule.id, rule.protocol, rule.port, pool)
			}
		}
	}
	for _, other := range listRules(d.Parent, d.ParentID, "inboundNatRules") {
		if !rule.collides(other) {
			continue
		}
		for _, backend := range referrerPaths(c, other.id, "loadBalancerInboundNatRules") {
			for _, pool := range rule.pools {
				if slices.ContainsFunc(referrerPaths(c, pool, "loadBalancerBackendAddressPools"),
					func(member string) bool { return store.SameID(member, backend) }) {
					return sameBackend(other, rule, backend)
				}
			}
		}
	}
	return nil
}

// sameBackendOfInterface refuses an IP configuration with two rules of one load balancer that have one backend port and protocol.
func sameBackendOfInterface(c *provider.Call, id string, configuration body.Object) error {
	var rules []backendRule
	for _, ref := range body.Objects(configuration, "properties.loadBalancerInboundNatRules") {
		if it := c.FindItem(body.String(ref, "id")); it != nil {
			rules = append(rules, readBackendRule(it.ID, it.Body))
		}
	}
	for _, ref := range body.Objects(configuration, "properties.loadBalancerBackendAddressPools") {
		pool := body.String(ref, "id")
		it := c.FindItem(pool)
		if it == nil {
			continue
		}
		for _, rule := range listRules(it.Resource.Body, it.Resource.ID, "loadBalancingRules") {
			if slices.Contains(rule.pools, strings.ToLower(pool)) {
				rules = append(rules, rule)
			}
		}
	}
	for i, rule := range rules {
		for _, other := range rules[:i] {
			if rule.collides(other) && store.SameID(balancerOf(rule.id), balancerOf(other.id)) {
				return sameBackend(other, rule, id)
			}
		}
	}
	return nil
}

// balancerOf returns the load balancer of a rule.
func balancerOf(rule string) string { return strings.Join(strings.Split(rule, "/")[:9], "/") }

// sameBackend is the answer for two rules of one IP configuration. The source has two inbound NAT rules; that it is the answer for a
// load-balancing rule and an inbound NAT rule, too, is an assumption from its words: https://github.com/hashicorp/terraform-provider-azurerm/issues/84.
func sameBackend(one, other backendRule, backend string) error {
	return invalidValue("RulesUseSameBackendPortProtocolAndIPConfig",
		"Load balancer rules %s and %s with floating IP disabled use the same backend port %d and protocol %s, and must not be used with the same backend IP %s.",
		one.id, other.id, one.port, one.protocol, backend)
}
