package containerservice

import (
	"fmt"
	"net/netip"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// syncRoutes keeps one route per node in the route table of a kubenet cluster: to the node's range of pods, which is a /24.
func syncRoutes(c *provider.Call, cl *store.Resource) {
	table := c.Edit(inNodeGroup(cl, network.RouteTables, "aks-agentpool-"+body.String(cl.Secret, "digits")+"-routetable"))
	pods, err := netip.ParsePrefix(body.String(cl.Body, "properties.networkProfile.podCidr"))
	if table == nil || err != nil || !pods.Addr().Is4() || pods.Bits() > 24 {
		return
	}
	addresses := map[string]string{} // by node
	var order []string
	for _, p := range poolsOf(c, cl.ID) {
		for _, r := range compute.ListInstances(c, scaleSetID(cl, p)) {
			if list := compute.ListAddresses(c, r); len(list) > 0 {
				name := body.String(r.Body, "properties.osProfile.computerName")
				addresses[name], order = list[0], append(order, name)
			}
		}
	}
	var routes []body.Object
	taken, has := map[string]bool{}, map[string]bool{}
	for _, e := range body.Objects(table.Body, "properties.routes") {
		node, _, _ := strings.Cut(body.String(e, "name"), "____")
		if addresses[node] != "" && addresses[node] == body.String(e, "properties.nextHopIpAddress") {
			routes = append(routes, e)
			taken[body.String(e, "properties.addressPrefix")], has[node] = true, true
		}
	}
	base := pods.Masked().Addr().As4()
	for _, node := range order {
		for i := 0; !has[node] && i < 1<<(24-pods.Bits()); i++ {
			n := int(base[1])<<8 + int(base[2]) + i
			prefix := fmt.Sprintf("%d.%d.%d.0/24", base[0], n>>8, n&255)
			if taken[prefix] {
				continue
			}
			taken[prefix], has[node] = true, true
			routes = append(routes, body.Object{"name": node + "____" + strings.NewReplacer(".", "", "/", "").Replace(prefix),
				"properties": body.Object{
					"provisioningState": store.Succeeded, "addressPrefix": prefix, "nextHopType": "VirtualAppliance", "nextHopIpAddress": addresses[node],
					"hasBgpOverride": false}})
		}
	}
	before := body.Clone(table.Body)
	if routes == nil {
		routes = []body.Object{}
	}
	body.Set(table.Body, "properties.routes", routes)
	if !body.Equal(before, table.Body) {
		c.SaveResource(table)
	}
}
