package server

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Route is the destination of a connection, or the step at which it stops.
type Route struct {
	Address string   `json:"address,omitempty"` // loopback host:port of the guest's listener
	VMID    string   `json:"vmID,omitempty"`
	Step    string   `json:"step,omitempty"` // dns, frontend, rule, backendPool, probe, securityRule or listener
	Message string   `json:"message,omitempty"`
	Trace   []string `json:"trace"`
}

// turn makes successive connections go to different backends.
var turn atomic.Uint64

// path is one connection on its way.
type path struct {
	c      *provider.Call
	route  Route
	public bool
	vnets  map[string]bool // lower-case IDs of the virtual networks a private zone belongs to; nil: any
}

func (p *path) noteStep(format string, args ...any) {
	p.route.Trace = append(p.route.Trace, fmt.Sprintf(format, args...))
}

func (p *path) stopAt(step, format string, args ...any) {
	p.route.Step, p.route.Message = step, fmt.Sprintf(format, args...)
}

// traceDial follows a connection through DNS, load balancer, security rules and interfaces to the listener of a guest.
func (s *Server) traceDial(host string, port int) Route {
	var out Route
	s.store.View(func(tx *store.Tx) {
		p := &path{c: &provider.Call{Tx: tx, Env: s.env}, route: Route{Trace: []string{}}}
		name := strings.TrimSuffix(strings.ToLower(host), ".")
		if p.managedCluster(name, port) {
			out = p.route
			return
		}
		if addr, ok := p.resolveHost(name, 0); ok {
			p.continueFrom(addr, port)
		}
		out = p.route
	})
	return out
}

// resolveHost turns a name into an address.
func (p *path) resolveHost(host string, depth int) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(host); err == nil {
		p.noteStep("%s is an address", host)
		return a, true
	}
	for _, r := range p.c.List(network.PublicIPs, "") {
		if strings.EqualFold(body.String(r.Body, "properties.dnsSettings.fqdn"), host) {
			a, err := netip.ParseAddr(body.String(r.Body, "properties.ipAddress"))
			if err != nil {
				p.stopAt("dns", "public IP address %s has the name %s but no address yet", r.ID, host)
				return a, false
			}
			p.noteStep("%s is the DNS label of %s: %s", host, r.ID, a)
			return a, true
		}
	}
	zones := p.c.List("Microsoft.Network/privateDnsZones", "")
	slices.SortFunc(zones, func(a, b *store.Resource) int { return len(b.Name()) - len(a.Name()) })
	for _, z := range zones {
		name, ok := strings.CutSuffix(host, "."+strings.ToLower(z.Name()))
		if !ok {
			if host != strings.ToLower(z.Name()) {
				continue
			}
			name = "@"
		}
		if r := p.c.Get(z.ID + "/A/" + name); r != nil {
			for _, rec := range body.Objects(r.Body, "properties.aRecords") {
				if a, err := netip.ParseAddr(body.String(rec, "ipv4Address")); err == nil {
					p.vnets = map[string]bool{}
					for _, l := range p.c.List("Microsoft.Network/privateDnsZones/virtualNetworkLinks", z.ID) {
						p.vnets[store.Key(body.String(l.Body, "properties.virtualNetwork.id"))] = true
					}
					p.noteStep("%s is record %s of private zone %s: %s", host, name, z.Name(), a)
					return a, true
				}
			}
		}
		if r := p.c.Get(z.ID + "/CNAME/" + name); r != nil && depth < 8 {
			target := strings.TrimSuffix(strings.ToLower(body.String(r.Body, "properties.cnameRecord.cname")), ".")
			p.noteStep("%s is an alias of %s", host, target)
			return p.resolveHost(target, depth+1)
		}
	}
	p.stopAt("dns", "no public IP address has the DNS name %s and no private DNS zone has a record for it", host)
	return netip.Addr{}, false
}

// continueFrom continues the path from an address.
func (p *path) continueFrom(addr netip.Addr, port int) {
	c := p.c
	var users []store.Ref
	for _, r := range c.List(network.PublicIPs, "") {
		if body.String(r.Body, "properties.ipAddress") == addr.String() {
			p.public = true
			for _, ref := range c.Referrers(r.ID) {
				if ref.Field == "publicIPAddress" {
					users = append(users, ref)
				}
			}
			if len(users) == 0 {
				p.stopAt("frontend", "public IP address %s (%s) is not attached to a load balancer frontend or a network interface", r.ID, addr)
				return
			}
		}
	}
	if !p.public {
		users = p.addressHolders(addr)
	}
	if len(users) == 0 {
		p.stopAt("frontend", "no load balancer frontend and no network interface has the address %s", addr)
		return
	}
	for _, u := range users {
		p.route.Step, p.route.Message = "", ""
		r := c.Get(u.From)
		if strings.EqualFold(r.Type, network.LoadBalancers) {
			p.balanceRules(r, u.Path(), port)
		} else {
			p.noteStep("%s has the address %s", u.Path(), addr)
			p.deliverTo(r, u.Path(), port)
		}
		if p.route.Step == "" {
			return
		}
	}
}

// addressHolders finds the frontends and interfaces with a private address. Several virtual networks may have the same
// address.
func (p *path) addressHolders(addr netip.Addr) []store.Ref {
	var out []store.Ref
	for _, typ := range []string{network.LoadBalancers, network.Interfaces,
		"Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces"} {
		kind := "ipConfigurations"
		if typ == network.LoadBalancers {
			kind = "frontendIPConfigurations"
		}
		for _, r := range p.c.List(typ, "") {
			for _, cfg := range body.Objects(r.Body, "properties."+kind) {
				subnet, _ := store.ParseID(body.String(cfg, "properties.subnet.id"))
				if body.String(cfg, "properties.privateIPAddress") == addr.String() && (p.vnets == nil || p.vnets[subnet.Top().Key()]) {
					out = append(out, store.Ref{From: r.ID, Sub: kind + "/" + body.String(cfg, "name")})
				}
			}
		}
	}
	return out
}

// balanceRules goes through a load balancer's rules for the port.
func (p *path) balanceRules(lb *store.Resource, frontend string, port int) {
	p.noteStep("frontend %s", frontend)
	for _, nat := range body.Objects(lb.Body, "properties.inboundNatRules") {
		if !store.SameID(body.String(nat, "properties.frontendIPConfiguration.id"), frontend) ||
			body.Int(nat, "properties.frontendPort") != port {
			continue
		}
		id := lb.ID + "/inboundNatRules/" + body.String(nat, "name")
		p.noteStep("inbound NAT rule %s: port %d to %d", body.String(nat, "name"), port, body.Int(nat, "properties.backendPort"))
		for _, ref := range p.c.Referrers(id) {
			if nic := p.c.Get(ref.From); ref.Field == "loadBalancerInboundNatRules" && nic != nil {
				p.deliverTo(nic, ref.Path(), body.Int(nat, "properties.backendPort"))
				return
			}
		}
		p.stopAt("backendPool", "inbound NAT rule %s is not used by any network interface", id)
		return
	}
	for _, rule := range body.Objects(lb.Body, "properties.loadBalancingRules") {
		if !store.SameID(body.String(rule, "properties.frontendIPConfiguration.id"), frontend) ||
			body.Int(rule, "properties.frontendPort") != port {
			continue
		}
		backendPort := body.Int(rule, "properties.backendPort")
		p.noteStep("load balancing rule %s: port %d to %d", body.String(rule, "name"), port, backendPort)
		p.chooseBackend(lb, rule, backendPort)
		return
	}
	p.stopAt("rule", "load balancer %s has no rule for port %d on frontend %s", lb.ID, port, frontend)
}

// chooseBackend chooses among the backends of a rule: those whose probe would succeed, in turn.
func (p *path) chooseBackend(lb *store.Resource, rule body.Object, port int) {
	pool := body.String(rule, "properties.backendAddressPool.id")
	probePort := 0
	if id := body.String(rule, "properties.probe.id"); id != "" {
		_, probe := body.FindNamed(body.Objects(lb.Body, "properties.probes"), id[strings.LastIndexByte(id, '/')+1:])
		probePort = body.Int(probe, "properties.port")
	}
	type backend struct {
		nic *store.Resource
		cfg string
	}
	var members, healthy []backend
	for _, ref := range p.c.Referrers(pool) {
		nic := p.c.Get(ref.From)
		if ref.Field != "loadBalancerBackendAddressPools" || nic == nil || !strings.HasSuffix(strings.ToLower(nic.Type), "/networkinterfaces") {
			continue
		}
		b := backend{nic, ref.Path()}
		members = append(members, b)
		vm := vmOf(p.c, nic)
		if vm == nil || body.String(vm.Secret, "power") != "running" {
			continue
		}
		var addr string
		if probePort == 0 || p.c.ReadNote(listenerKey(vm, probePort), &addr) {
			healthy = append(healthy, b)
		}
	}
	switch {
	case len(members) == 0:
		p.stopAt("backendPool", "backend pool %s is empty", pool)
		return
	case len(healthy) == 0:
		p.stopAt("probe", "none of the %d members of backend pool %s answers the probe on port %d", len(members), pool, probePort)
		return
	}
	p.noteStep("backend pool %s: %d of %d members are healthy", pool, len(healthy), len(members))
	start := int(turn.Add(1) % uint64(len(healthy)))
	for i := range healthy {
		b := healthy[(start+i)%len(healthy)]
		p.route.Step, p.route.Message = "", ""
		if p.deliverTo(b.nic, b.cfg, port); p.route.Step == "" {
			return
		}
	}
}

// deliverTo ends at an interface: its security rules, its VM, its listener.
func (p *path) deliverTo(nic *store.Resource, cfgID string, port int) {
	_, cfg := body.FindNamed(body.Objects(nic.Body, "properties.ipConfigurations"), cfgID[strings.LastIndexByte(cfgID, '/')+1:])
	subnet := p.c.FindItem(body.String(cfg, "properties.subnet.id"))
	groups := []string{body.String(nic.Body, "properties.networkSecurityGroup.id")}
	if subnet != nil {
		groups = append([]string{body.String(subnet.Body, "properties.networkSecurityGroup.id")}, groups...)
	}
	for _, id := range groups {
		if g := p.c.Get(id); g != nil && !p.isAllowed(g, cfg, subnet, port) {
			return
		}
	}
	vm := vmOf(p.c, nic)
	if vm == nil {
		p.stopAt("listener", "network interface %s belongs to no VM", nic.ID)
		return
	}
	if power := body.String(vm.Secret, "power"); power != "running" {
		p.stopAt("listener", "VM %s is not running", vm.ID)
		return
	}
	var addr string
	if !p.c.ReadNote(listenerKey(vm, port), &addr) {
		p.stopAt("listener", "nothing on VM %s listens on port %d", vm.ID, port)
		return
	}
	p.noteStep("VM %s listens on port %d at %s", vm.ID, port, addr)
	p.route.Address, p.route.VMID = addr, vm.ID
}

// isAllowed evaluates the inbound rules of a security group in the order of their priority.
func (p *path) isAllowed(group *store.Resource, cfg body.Object, subnet *provider.Item, port int) bool {
	rules := append(body.Objects(group.Body, "properties.securityRules"), body.Objects(group.Body, "properties.defaultSecurityRules")...)
	slices.SortStableFunc(rules, func(a, b body.Object) int {
		return body.Int(a, "properties.priority") - body.Int(b, "properties.priority")
	})
	to, _ := netip.ParseAddr(body.String(cfg, "properties.privateIPAddress"))
	for _, r := range rules {
		if body.String(r, "properties.direction") != "Inbound" || !slices.Contains([]string{"*", "Tcp"}, body.String(r, "properties.protocol")) {
			continue
		}
		if !portIn(readTexts(r, "destinationPortRange"), port) || !p.fromMatches(readTexts(r, "sourceAddressPrefix"), to) ||
			!toMatches(readTexts(r, "destinationAddressPrefix"), to) {
			continue
		}
		if body.String(r, "properties.access") == "Deny" {
			p.stopAt("securityRule", "security rule %s of %s denies port %d", body.String(r, "name"), group.ID, port)
			return false
		}
		p.noteStep("security rule %s of %s allows port %d", body.String(r, "name"), group.Name(), port)
		return true
	}
	p.stopAt("securityRule", "no security rule of %s allows port %d", group.ID, port)
	return false
}

// readTexts reads a property that has a singular and a plural form.
func readTexts(rule body.Object, name string) []string {
	plural := name + "s"
	if strings.HasSuffix(name, "Prefix") {
		plural = name + "es"
	}
	out := body.Strings(rule, "properties."+plural)
	if one := body.String(rule, "properties."+name); one != "" {
		out = append(out, one)
	}
	return out
}

func portIn(ranges []string, port int) bool {
	for _, r := range ranges {
		low, high, isRange := strings.Cut(r, "-")
		if !isRange {
			high = low
		}
		a, err1 := strconv.Atoi(low)
		b, err2 := strconv.Atoi(high)
		if r == "*" || err1 == nil && err2 == nil && a <= port && port <= b {
			return true
		}
	}
	return false
}

// fromMatches matches the source address: the Internet, or a neighbour in the virtual network.
func (p *path) fromMatches(prefixes []string, neighbour netip.Addr) bool {
	for _, s := range prefixes {
		n, err := netip.ParsePrefix(s)
		switch {
		case s == "*" || strings.EqualFold(s, "Any") || s == "0.0.0.0/0" || s == "::/0":
			return true
		case strings.EqualFold(s, "Internet"):
			if p.public {
				return true
			}
		case strings.EqualFold(s, "VirtualNetwork"):
			if !p.public {
				return true
			}
		case err == nil && !p.public && n.Contains(neighbour):
			return true
		}
	}
	return false
}

func toMatches(prefixes []string, to netip.Addr) bool {
	for _, s := range prefixes {
		if s == "*" || strings.EqualFold(s, "Any") || strings.EqualFold(s, "VirtualNetwork") {
			return true
		}
		if n, err := netip.ParsePrefix(s); err == nil && n.Contains(to) {
			return true
		}
		if a, err := netip.ParseAddr(s); err == nil && a == to {
			return true
		}
	}
	return len(prefixes) == 0
}
