package containerservice

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/privatedns"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const outboundPool = "aksOutboundBackendPool"

// buildOutbound makes the nodes' way out, by outboundType. Source: https://learn.microsoft.com/azure/aks/egress-outboundtype
func (b *builder) buildOutbound(subnet string) {
	np := "properties.networkProfile."
	kind := body.String(b.cl.Body, np+"outboundType")
	if kind != "loadBalancer" {
		b.removeOutbound("lb", b.resourceID(network.LoadBalancers, "kubernetes"), np+"loadBalancerProfile")
	}
	if kind != "managedNATGateway" {
		b.removeOutbound("nat", b.resourceID(network.NatGateways, "aks-natgateway-"+b.drawDigits()), np+"natGatewayProfile")
	}
	switch kind {
	case "loadBalancer":
		b.loadBalancer(np + "loadBalancerProfile.")
	case "managedNATGateway":
		count := body.Int(b.cl.Body, np+"natGatewayProfile.managedOutboundIPProfile.count")
		ids, ready := b.keepAddresses("nat", count)
		if !ready {
			return
		}
		gateway := b.resourceID(network.NatGateways, "aks-natgateway-"+b.drawDigits())
		doc := b.newTracked(body.Object{"idleTimeoutInMinutes": body.Int(b.cl.Body, np+"natGatewayProfile.idleTimeoutInMinutes"),
			"publicIpAddresses": network.References(ids)})
		doc["sku"] = body.Object{"name": "Standard"}
		if b.ensureResource(gateway, doc) != nil {
			b.attachToSubnet(subnet, "natGateway", gateway)
			body.Set(b.cl.Body, np+"natGatewayProfile.effectiveOutboundIPs", network.References(ids))
		}
	}
}

// removeOutbound removes the resources of an earlier outboundType.
func (b *builder) removeOutbound(kind, id, profile string) {
	names := body.Strings(b.cl.Secret, "addresses."+kind)
	if len(names) == 0 && b.c.Get(id) == nil {
		return
	}
	dissociateFromSubnets(b.c, id, nodeGroupID(b.cl.ID, b.cl.Body), true)
	b.c.EraseTree(id)
	b.forgetResource(id)
	for _, name := range names {
		b.c.EraseTree(b.resourceID(network.PublicIPs, name))
	}
	body.Delete(b.cl.Secret, "addresses."+kind)
	body.Delete(b.cl.Body, profile+".effectiveOutboundIPs")
}

// keepAddresses keeps that many public addresses of AKS's own, with names that stay.
func (b *builder) keepAddresses(kind string, count int) (ids []string, ready bool) {
	names := body.Strings(b.cl.Secret, "addresses."+kind)
	for len(names) < count {
		names = append(names, b.c.NewGUID())
	}
	body.Set(b.cl.Secret, "addresses."+kind, names)
	ready = true
	for _, name := range names[:count] {
		doc := b.newTracked(body.Object{"publicIPAllocationMethod": "Static", "idleTimeoutInMinutes": 30})
		doc["sku"] = body.Object{"name": "Standard"}
		r := b.ensureResource(b.resourceID(network.PublicIPs, name), doc)
		if r == nil {
			ready = false
			continue
		}
		ids = append(ids, r.ID)
	}
	return ids, ready
}

// loadBalancer makes the load balancer "kubernetes" with one outbound rule for TCP and UDP.
func (b *builder) loadBalancer(lp string) {
	type front struct{ name, field, id string }
	var fronts []front
	last := func(id string) string { return id[strings.LastIndexByte(id, '/')+1:] }
	for _, ref := range body.Objects(b.cl.Body, lp+"outboundIPs.publicIPs") {
		fronts = append(fronts, front{last(body.String(ref, "id")), "publicIPAddress", body.String(ref, "id")})
	}
	for _, ref := range body.Objects(b.cl.Body, lp+"outboundIPPrefixes.publicIPPrefixes") {
		fronts = append(fronts, front{last(body.String(ref, "id")), "publicIPPrefix", body.String(ref, "id")})
	}
	managed := 0
	if len(fronts) == 0 {
		managed = max(1, body.Int(b.cl.Body, lp+"managedOutboundIPs.count"))
		ids, ready := b.keepAddresses("lb", managed)
		if !ready {
			return
		}
		for _, id := range ids {
			fronts = append(fronts, front{last(id), "publicIPAddress", id})
		}
	}
	lb := b.resourceID(network.LoadBalancers, "kubernetes")
	var docs, rule, effective []any
	for _, f := range fronts {
		docs = append(docs, body.Object{"name": f.name, "properties": body.Object{f.field: body.Object{"id": f.id}}})
		rule = append(rule, body.Object{"id": lb + "/frontendIPConfigurations/" + f.name})
		effective = append(effective, body.Object{"id": f.id})
	}
	idle := body.Int(b.cl.Body, lp+"idleTimeoutInMinutes")
	if idle == 0 {
		idle = 30
	}
	doc := b.newTracked(body.Object{"frontendIPConfigurations": docs,
		"backendAddressPools": []any{body.Object{"name": outboundPool}, body.Object{"name": "kubernetes"}},
		"outboundRules": []any{body.Object{"name": "aksOutboundRule",
			"properties": body.Object{"protocol": "All", "idleTimeoutInMinutes": idle, "enableTcpReset": true,
				"allocatedOutboundPorts": body.Int(b.cl.Body, lp+"allocatedOutboundPorts"),
				"backendAddressPool":     body.Object{"id": lb + "/backendAddressPools/" + outboundPool}, "frontendIPConfigurations": rule}}}})
	doc["sku"] = body.Object{"name": "Standard"}
	if b.ensureResource(lb, doc) == nil {
		return
	}
	body.Set(b.cl.Body, lp+"effectiveOutboundIPs", effective)
	for _, name := range body.Strings(b.cl.Secret, "addresses.lb")[min(managed, len(body.Strings(b.cl.Secret, "addresses.lb"))):] {
		b.c.EraseTree(b.resourceID(network.PublicIPs, name)) // no longer needed
	}
	body.Set(b.cl.Secret, "addresses.lb",
		body.Strings(b.cl.Secret, "addresses.lb")[:min(managed, len(body.Strings(b.cl.Secret, "addresses.lb")))])
}

// backendPools returns the pools of the load balancer that nodes belong to.
func backendPools(c *provider.Call, cl *store.Resource) []string {
	lb := inNodeGroup(cl, network.LoadBalancers, "kubernetes")
	if c.Get(lb) == nil {
		return nil
	}
	return []string{lb + "/backendAddressPools/" + outboundPool, lb + "/backendAddressPools/kubernetes"}
}

// privateAccess makes the private endpoint of the API server and the record that leads to it.
func (b *builder) privateAccess(subnet string) {
	endpoint := b.ensureResource(b.resourceID(network.PrivateEndpoints, "kube-apiserver"),
		b.newTracked(body.Object{"subnet": body.Object{"id": subnet},
			"privateLinkServiceConnections": []any{body.Object{"name": "kube-apiserver",
				"properties": body.Object{"privateLinkServiceId": b.cl.ID, "groupIds": []any{"management"}}}}}))
	b.buildPrivateZone(subnet, func() string {
		for _, ref := range body.Objects(endpoint.Body, "properties.networkInterfaces") {
			if nic := b.c.Get(body.String(ref, "id")); nic != nil {
				return body.String(body.Objects(nic.Body, "properties.ipConfigurations")[0], "properties.privateIPAddress")
			}
		}
		return ""
	}, endpoint != nil)
}

// integratedAccess creates the internal load balancer of an API server inside the virtual network.
func (b *builder) integratedAccess(subnet string) {
	if own := body.String(b.cl.Body, "properties.apiServerAccessProfile.subnetId"); own != "" {
		subnet = own
	}
	doc := b.newTracked(body.Object{"frontendIPConfigurations": []any{body.Object{"name": "kube-apiserver-frontend",
		"properties": body.Object{"subnet": body.Object{"id": subnet}}}},
		"backendAddressPools": []any{body.Object{"name": "kube-apiserver-backendpool"}}})
	doc["sku"] = body.Object{"name": "Standard"}
	lb := b.ensureResource(b.resourceID(network.LoadBalancers, "kube-apiserver"), doc)
	if !body.Bool(b.cl.Body, "properties.apiServerAccessProfile.enablePrivateCluster") {
		return
	}
	b.buildPrivateZone(subnet, func() string {
		return body.String(body.Objects(lb.Body, "properties.frontendIPConfigurations")[0], "properties.privateIPAddress")
	}, lb != nil)
}

// buildPrivateZone makes the private DNS zone, unless the user brought one or wants none, links it, and keeps the API server's record.
func (b *builder) buildPrivateZone(subnet string, address func() string, ready bool) {
	fqdn, given := body.String(b.cl.Body, "properties.privateFQDN"), body.String(b.cl.Body, "properties.apiServerAccessProfile.privateDNSZone")
	if fqdn == "" {
		return
	}
	record, name, _ := strings.Cut(fqdn, ".")
	zone := given
	if !strings.HasPrefix(given, "/") {
		zone = b.resourceID(privatedns.Zones, name)
		if b.ensureResource(zone, body.Object{"location": "global"}) == nil {
			return
		}
	} else if it := b.c.FindItem(given); it != nil {
		zone = it.ID
	}
	id, _ := store.ParseID(subnet)
	vnet, linked := id.Top().String(), false
	for _, l := range b.c.List(privatedns.Links, zone) {
		linked = linked || store.SameID(body.String(l.Body, "properties.virtualNetwork.id"), vnet) && l.Name() != record
	}
	link, a := zone+"/virtualNetworkLinks/"+record, zone+"/A/"+record
	if strings.HasPrefix(given, "/") {
		for _, made := range []string{link, a} {
			if !linked || made == a {
				setContains(b.cl.Secret, "foreign", made)
			}
		}
	}
	if !linked {
		b.ensureResource(link, body.Object{"location": "global",
			"properties": body.Object{"virtualNetwork": body.Object{"id": vnet}, "registrationEnabled": false}})
	}
	if !ready {
		return
	}
	if ip := address(); ip != "" {
		b.ensureResource(a, body.Object{"properties": body.Object{"ttl": 300, "aRecords": []any{body.Object{"ipv4Address": ip}}}})
	}
}
