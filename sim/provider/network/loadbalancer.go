package network

import (
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func loadBalancerTypes() []*provider.Type {
	lb := &provider.Type{
		Name: LoadBalancers, Style: provider.Network, Etag: provider.Weak, Immediate: true, EdgeZones: true, Waits: newAndPrivate, RetryAfter: 3,
		Create:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(1)},
		Delete:        provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		ReadOnlyPaths: []string{"properties.resourceGuid"}, Immutable: []string{"sku"},
		Prepare: prepareLoadBalancer, Deleted: forgetLoadBalancer,
	}
	child := func(name string, prepare func(*provider.Call, *provider.Draft) error, view func(*provider.Call, *provider.Item),
		readOnlyPaths ...string) *provider.Type {
		return &provider.Type{
			Name: LoadBalancers + "/" + name, Style: provider.Network, Etag: provider.Weak, Untracked: true, Inline: "properties." + name,
			ReadOnly: true,
			Prepare:  prepare, View: view, ReadOnlyPaths: readOnlyPaths,
		}
	}
	front := child("frontendIPConfigurations", prepareFrontend,
		viewUses(map[string]string{"loadBalancingRules": "loadBalancingRules", "inboundNatRules": "inboundNatRules",
			"outboundRules": "outboundRules", "inboundNatPools": "inboundNatPools"}),
		"properties.loadBalancingRules", "properties.inboundNatRules", "properties.outboundRules", "properties.inboundNatPools")
	pool := child("backendAddressPools", preparePool, viewPool, "properties.backendIPConfigurations", "properties.loadBalancingRules",
		"properties.outboundRules", "properties.outboundRule", "properties.inboundNatRules")
	pool.ReadOnly, pool.Immediate = false, true
	pool.Create, pool.Delete = provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(1)},
		provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(2)}
	pool.CanDelete = poolInUse
	rules := child("loadBalancingRules", prepareLoadBalancingRule, nil)
	probes := child("probes", prepareProbe, viewUses(map[string]string{"loadBalancingRules": "loadBalancingRules"}),
		"properties.loadBalancingRules")
	nat := child("inboundNatRules", prepareNatRule, viewNatRule, "properties.backendIPConfiguration")
	nat.ReadOnly, nat.Immediate = false, true
	nat.KeepOmitted = func(string) bool { return true }
	nat.Create, nat.Delete = provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(1)},
		provider.Timing{HTTP: 200 * time.Millisecond, LRO: provider.Seconds(2)}
	outbound := child("outboundRules", prepareOutboundRule, nil)
	pools := child("inboundNatPools", prepareNatPool, nil)
	return []*provider.Type{lb, front, pool, rules, probes, nat, outbound, pools}
}

// newAndPrivate reports whether a load balancer is new and has a frontend in a subnet. In recordings only such load
// balancers are in state Updating at first.
func newAndPrivate(d *provider.Draft) bool {
	for _, e := range body.Objects(d.New, "properties.frontendIPConfigurations") {
		if d.Old == nil && body.String(e, "properties.subnet.id") != "" {
			return true
		}
	}
	return false
}

func prepareNatPool(_ *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, p+"idleTimeoutInMinutes", 4)
	for _, flag := range []string{"allowBackendPortConflict", "enableDestinationServiceEndpoint", "enableFloatingIP", "enableTcpReset"} {
		body.Default(d.New, p+flag, false)
	}
	return nil
}

func prepareLoadBalancer(c *provider.Call, d *provider.Draft) error {
	resourceGUID(c, d)
	body.Default(d.New, "sku.name", "Basic")
	body.Default(d.New, "sku.tier", "Regional")
	return nil
}

// ownChild checks a reference to another child of the same load balancer.
func ownChild(d *provider.Draft, ref, kind string) error {
	if ref == "" {
		return nil
	}
	list := body.Objects(d.Parent, "properties."+kind)
	prefix := strings.ToLower(d.ParentID + "/" + kind + "/")
	name, ok := strings.CutPrefix(strings.ToLower(ref), prefix)
	if _, e := body.FindNamed(list, name); !ok || e == nil {
		return provider.InvalidReference(ref, d.ID)
	}
	return nil
}

func prepareFrontend(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, p+"privateIPAllocationMethod", "Dynamic")
	subnet, public, prefix := body.String(d.New, p+"subnet.id"), body.String(d.New, p+"publicIPAddress.id"),
		body.String(d.New, p+"publicIPPrefix.id")
	if err := checkZones(c, d); err != nil {
		return err
	}
	standard := strings.EqualFold(body.String(d.Parent, "sku.name"), "Standard")
	switch {
	case public != "":
		it, err := publicIPFree(c, public, d.ID, d.Location)
		if err != nil {
			return err
		}
		if strings.EqualFold(body.String(it.Body, "sku.name"), "Standard") != standard {
			return invalidValue("PublicIPAndLBSkuDoNotMatch",
				"Load balancer %s has %s sku, which does not match the sku %s of public IP address %s.", d.ParentID, body.String(d.Parent, "sku.name"),
				body.String(it.Body, "sku.name"), it.ID)
		}
		body.Delete(d.New, p+"privateIPAddress")
	case subnet != "":
		if _, err := c.RequireReference(subnet, d.ID, Subnets, d.Location); err != nil {
			return err
		}
		body.Default(d.New, p+"privateIPAddressVersion", "IPv4")
		if err := AllocateAddress(c, d.ID, d.New, d.Old, siblingAddresses(d, "properties.frontendIPConfigurations")); err != nil {
			return err
		}
	case prefix != "":
		_, err := c.RequireReference(prefix, d.ID, PublicIPPrefixes, d.Location)
		return err
	default:
		return invalidValue("LoadBalancerFrontendIPConfigurationMissing",
			"Frontend IP configuration %s must refer to a subnet, a public IP address or a public IP prefix.", d.ID)
	}
	return nil
}

// siblingAddresses collects the addresses the other configurations of the same request already have.
func siblingAddresses(d *provider.Draft, path string) map[netip.Addr]bool {
	out := map[netip.Addr]bool{}
	for _, e := range body.Objects(d.Parent, path) {
		if a, err := netip.ParseAddr(body.String(e, "properties.privateIPAddress")); err == nil &&
			!strings.EqualFold(body.String(e, "name"), d.Name) {
			out[a] = true
		}
	}
	return out
}

// preparePool drops the addresses that the view derives from interfaces: those of others have an address or a frontend of their own.
func preparePool(_ *provider.Call, d *provider.Draft) error {
	var own []body.Object
	for _, e := range body.Objects(d.New, "properties.loadBalancerBackendAddresses") {
		if body.Has(e, "properties.ipAddress") || body.Has(e, "properties.loadBalancerFrontendIPConfiguration") {
			own = append(own, e)
		}
	}
	body.Delete(d.New, "properties.loadBalancerBackendAddresses")
	if own != nil {
		body.Set(d.New, "properties.loadBalancerBackendAddresses", own)
	}
	return nil
}

func poolInUse(c *provider.Call, it *provider.Item) error {
	for _, ref := range c.Referrers(it.ID) {
		r := c.Get(ref.From)
		if r != nil && strings.HasSuffix(strings.ToLower(r.Type), "virtualmachinescalesets") {
			return invalidValue("LoadBalancerInUseByVirtualMachineScaleSet",
				"Cannot delete load balancer %s since its child resources %s are in use by virtual machine scale set %s.", it.Resource.ID, it.Name,
				r.ID)
		}
		// A rule goes with its load balancer, and a PUT can leave out both. The error for the pool alone is assumed to be that of such a PUT
		// that keeps the rule.
		if store.SameID(c.ID.String(), it.ID) && r != nil && store.SameID(r.ID, it.Resource.ID) {
			return provider.InvalidReference(it.ID, ref.Path())
		}
	}
	return nil
}

// forgetLoadBalancer takes the references to a deleted load balancer out of the interfaces, as Azure does.
func forgetLoadBalancer(c *provider.Call, r *store.Resource) {
	for _, kind := range []string{"backendAddressPools", "inboundNatRules"} {
		for _, e := range body.Objects(r.Body, "properties."+kind) {
			forgetAddresses(c, r.ID+"/"+kind+"/"+body.String(e, "name"))
		}
	}
}

func forgetAddresses(c *provider.Call, id string) {
	for _, ref := range c.Referrers(id) {
		nic := c.Edit(ref.From)
		if nic == nil || !strings.HasSuffix(strings.ToLower(nic.Type), "networkinterfaces") {
			continue
		}
		e := findElement(nic, ref.Sub)
		var keep []body.Object
		for _, o := range body.Objects(e, "properties."+ref.Field) {
			if !store.SameID(body.String(o, "id"), id) {
				keep = append(keep, o)
			}
		}
		if keep == nil {
			body.Delete(e, "properties."+ref.Field)
		} else {
			body.Set(e, "properties."+ref.Field, keep)
		}
		c.SaveResource(nic)
	}
}

func prepareLoadBalancingRule(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	if err := oneOf(d.New, p+"protocol", "protocol of "+d.ID, "Tcp", "Udp", "All"); err != nil {
		return err
	}
	if body.String(d.New, p+"frontendIPConfiguration.id") == "" {
		return invalidValue("LoadBalancingRuleMissingFrontend", "Load balancing rule %s must refer to a frontend IP configuration.", d.ID)
	}
	refs := map[string]string{body.String(d.New, p+"frontendIPConfiguration.id"): "frontendIPConfigurations",
		body.String(d.New, p+"backendAddressPool.id"): "backendAddressPools", body.String(d.New, p+"probe.id"): "probes"}
	for _, e := range body.Objects(d.New, p+"backendAddressPools") {
		refs[body.String(e, "id")] = "backendAddressPools"
	}
	for ref, kind := range body.Sorted(refs) {
		if err := ownChild(d, ref, kind); err != nil {
			return err
		}
	}
	if id := body.String(d.New, p+"backendAddressPool.id"); id != "" {
		body.Default(d.New, p+"backendAddressPools", References([]string{id}))
	}
	body.Default(d.New, p+"loadDistribution", "Default")
	body.Default(d.New, p+"idleTimeoutInMinutes", 4)
	for _, flag := range []string{"enableFloatingIP", "enableTcpReset", "disableOutboundSnat"} {
		body.Default(d.New, p+flag, false)
	}
	body.Default(d.New, p+"backendPort", body.Int(d.New, p+"frontendPort"))
	if err := samePort(d); err != nil {
		return err
	}
	return sameBackendPort(c, d)
}

// samePort refuses two rules on one frontend, port and protocol.
func samePort(d *provider.Draft) error {
	key := func(e body.Object) [3]string {
		return [3]string{strings.ToLower(body.String(e, "properties.frontendIPConfiguration.id")),
			strings.ToLower(body.String(e, "properties.protocol")), ""}
	}
	port := body.Int(d.New, "properties.frontendPort")
	for _, kind := range []string{"loadBalancingRules", "inboundNatRules"} {
		for _, e := range body.Objects(d.Parent, "properties."+kind) {
			id := d.ParentID + "/" + kind + "/" + body.String(e, "name")
			if !store.SameID(id, d.ID) && key(e) == key(d.New) && body.Int(e, "properties.frontendPort") == port && port != 0 {
				return invalidValue("RulesUseSameFrontendPortProtocolAndIPConfig",
					"Rules %s and %s cannot use the same frontend IP configuration, frontend port %d and protocol.", d.ID, id, port)
			}
		}
	}
	return nil
}

func prepareProbe(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	if err := oneOf(d.New, p+"protocol", "protocol of "+d.ID, "Tcp", "Http", "Https"); err != nil {
		return err
	}
	if body.String(d.New, p+"protocol") != "Tcp" && body.String(d.New, p+"requestPath") == "" {
		return invalidValue("ProbeRequestPathMissing", "Probe %s of protocol %s needs a requestPath.", d.ID, body.String(d.New, p+"protocol"))
	}
	if n := body.Int(d.New, p+"port"); n < 1 || n > 65535 {
		return invalidValue("ProbePortOutOfRange", "Port %d of probe %s is not between 1 and 65535.", n, d.ID)
	}
	body.Default(d.New, p+"intervalInSeconds", 15)
	body.Default(d.New, p+"numberOfProbes", 2)
	body.Default(d.New, p+"probeThreshold", 1)
	body.Default(d.New, p+"noHealthyBackendsBehavior", "AllProbedDown")
	return nil
}

func prepareNatRule(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, p+"protocol", "Tcp")
	if err := oneOf(d.New, p+"protocol", "protocol of "+d.ID, "Tcp", "Udp", "All"); err != nil {
		return err
	}
	if err := ownChild(d, body.String(d.New, p+"frontendIPConfiguration.id"), "frontendIPConfigurations"); err != nil {
		return err
	}
	body.Default(d.New, p+"idleTimeoutInMinutes", 4)
	for _, flag := range []string{"enableFloatingIP", "enableTcpReset", "enableDestinationServiceEndpoint", "allowBackendPortConflict"} {
		body.Default(d.New, p+flag, false)
	}
	body.Default(d.New, p+"frontendPort", 0)
	return samePort(d)
}

func viewNatRule(c *provider.Call, it *provider.Item) {
	if users := referrerPaths(c, it.ID, "loadBalancerInboundNatRules"); len(users) > 0 {
		body.Set(it.Body, "properties.backendIPConfiguration", body.Object{"id": users[0]})
	}
}

func prepareOutboundRule(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	if err := oneOf(d.New, p+"protocol", "protocol of "+d.ID, "Tcp", "Udp", "All"); err != nil {
		return err
	}
	if err := ownChild(d, body.String(d.New, p+"backendAddressPool.id"), "backendAddressPools"); err != nil {
		return err
	}
	for _, e := range body.Objects(d.New, p+"frontendIPConfigurations") {
		if err := ownChild(d, body.String(e, "id"), "frontendIPConfigurations"); err != nil {
			return err
		}
	}
	body.Default(d.New, p+"allocatedOutboundPorts", 0)
	body.Default(d.New, p+"idleTimeoutInMinutes", 4)
	body.Default(d.New, p+"enableTcpReset", false)
	return nil
}

// viewUses shows which other children of the load balancer refer to this one, by the array they are in.
func viewUses(kinds map[string]string) func(*provider.Call, *provider.Item) {
	return func(c *provider.Call, it *provider.Item) {
		found := map[string][]string{}
		seen := map[string]bool{}
		for _, ref := range c.Referrers(it.ID) {
			kind, _, _ := strings.Cut(ref.Sub, "/")
			if prop := kinds[kind]; prop != "" && it.Resource != nil && store.SameID(ref.From, it.Resource.ID) && !seen[ref.Path()] {
				seen[ref.Path()] = true
				found[prop] = append(found[prop], ref.Path())
			}
		}
		for prop, ids := range found {
			body.Set(it.Body, "properties."+prop, References(ids))
		}
	}
}

func viewPool(c *provider.Call, it *provider.Item) {
	viewUses(map[string]string{"loadBalancingRules": "loadBalancingRules", "outboundRules": "outboundRules",
		"inboundNatRules": "inboundNatRules"})(c, it)
	var cfgs []string
	for _, ref := range c.Referrers(it.ID) {
		if ref.Field == "loadBalancerBackendAddressPools" && strings.Contains(strings.ToLower(ref.From), "/networkinterfaces/") {
			cfgs = append(cfgs, ref.Path())
		}
	}
	if cfgs != nil {
		body.Set(it.Body, "properties.backendIPConfigurations", References(cfgs))
	}
	body.Default(it.Body, "properties.loadBalancerBackendAddresses", backendAddresses(cfgs))
}

func backendAddresses(cfgs []string) []any {
	out := []any{}
	for _, id := range cfgs {
		out = append(out, body.Object{"name": id[strings.LastIndexByte(id, '/')+1:],
			"properties": body.Object{"networkInterfaceIPConfiguration": body.Object{"id": id}}})
	}
	return out
}
