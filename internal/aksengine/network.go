package aksengine

import (
	"net/netip"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Ranges of a network that the model leaves to aks-engine. They do not overlap with its default range of Services. bastionRange is the
// default of the provider.
const (
	vnetRange         = "10.0.0.0/8"
	controlPlaneRange = "10.239.0.0/16"
	nodeRange         = "10.240.0.0/13"
	bastionRange      = "10.255.255.192/26"
	controlPlaneLB    = "10.239.0.100"
	podRange          = "10.244.0.0/16"
)

// Network plug-ins of aks-engine.
const (
	pluginAzure   = "azure"
	pluginKubenet = "kubenet"
	pluginCalico  = "calico"
	pluginCilium  = "cilium"
	pluginFlannel = "flannel"
)

// subnetType is the type of a subnet of the model.
const subnetType = "Microsoft.Network/virtualNetworks/subnets"

// network has the settings of the model about the network.
type network struct {
	plugin string
	// brought is the virtual network of the users; it is empty for a network of the cluster.
	brought arm.ID
	// masters and nodes are names of subnets in a brought network. nodes are by the path of their pool.
	masters               string
	nodes                 map[string]string
	isPrivate, setsRanges bool
	pods, services        string
	nodeRange             string
	vnetRanges            []string
	labels                map[string]string
}

func (c *conversion) azureCluster(field string) string {
	return "AzureCluster " + c.Name + ": spec." + field
}

func (c *conversion) cluster(field string) string { return "Cluster " + c.Name + ": spec." + field }

// readNetwork reads all properties about the network.
func (c *conversion) readNetwork() {
	n := &c.network
	n.nodes, n.labels = map[string]string{}, map[string]string{"cloud-provider": "azure"}
	c.readPlugin()
	c.readBroughtNetwork()
	config := c.properties.get("orchestratorProfile", "kubernetesConfig")
	private := config.get("privateCluster")
	if n.isPrivate = private.get("enabled").isTrue(); n.isPrivate {
		private.get("enabled").carry(c.azureCluster("networkSpec.apiServerLB.type"))
		private.get("jumpboxProfile").replace("spec.bastionSpec of the AzureCluster has an Azure Bastion host, which needs no VM, no user and no key.")
	} else {
		private.replace("The cluster is not private, which is the default. The settings of a jumpbox have no effect then.")
	}
	c.readRanges(config)
}

// readPlugin chooses the network plug-in.
func (c *conversion) readPlugin() {
	n := &c.network
	config := c.properties.get("orchestratorProfile", "kubernetesConfig")
	plugin, policy := config.get("networkPlugin"), config.get("networkPolicy")
	n.plugin = strings.ToLower(plugin.text())
	wanted := strings.ToLower(policy.text())
	if n.plugin == "" {
		n.plugin = pluginAzure
		if wanted == pluginCalico || wanted == pluginCilium {
			n.plugin = wanted
		}
	}
	const install = "Nodes are Ready when the plug-in is installed, see docs/book/selfmanaged/addons.md."
	switch n.plugin {
	case pluginAzure:
		plugin.replace("Interfaces have an address for each pod: networkInterfaces[0].privateIPConfigs and max-pods. " + install)
		c.before("Install Azure CNI in the new cluster, and cloud-provider-azure: docs/book/selfmanaged/addons.md.")
	case pluginKubenet:
		plugin.replace("kube-controller-manager gives nodes ranges, cloud-provider-azure writes routes, and interfaces forward packets. " + install)
		c.before("Install cloud-provider-azure in the new cluster with routes enabled: docs/book/selfmanaged/addons.md.")
	case pluginCalico, pluginCilium, pluginFlannel:
		plugin.replace("The label cni of the Cluster selects the plug-in. " + install)
		n.labels["cni"] = n.plugin
		c.before("Install %s in the new cluster, and cloud-provider-azure: docs/book/selfmanaged/addons.md.", n.plugin)
	default:
		plugin.report("convert does not know this network plug-in.", "Install a network plug-in, see docs/book/selfmanaged/addons.md.")
		n.plugin = pluginCalico
	}
	switch {
	case policy.isEmpty(), wanted == "none":
		policy.replace("Policies are not enforced, which is the default.")
	case wanted == n.plugin && wanted != pluginAzure:
		policy.replace("The network plug-in of the same name enforces policies.")
	default:
		policy.report("Policies are enforced by a program in the workload cluster, which the manifests do not install.",
			"Install it in the workload cluster, with the network plug-in of the model.")
	}
}

// readBroughtNetwork reads the IDs of subnets.
func (c *conversion) readBroughtNetwork() {
	n := &c.network
	master := c.properties.get("masterProfile")
	masters := c.readSubnet(master.get("vnetSubnetId"))
	shared := c.readSubnet(master.get("agentVnetSubnetId"))
	n.masters = masters
	used := false
	for _, pool := range c.pools {
		own := c.readSubnet(pool.from.get("vnetSubnetId"))
		if own == "" {
			own, used = shared, true
		}
		if own == "" {
			own = masters
		}
		n.nodes[pool.from.path] = own
	}
	if shared != "" && !used {
		master.get("agentVnetSubnetId").replace("Each pool has a vnetSubnetId of its own.")
	}
	ranges := master.get("vnetCidr")
	if n.brought == "" {
		ranges.report("It excludes a range from the translation of addresses, and the network of the cluster is not an existing one.",
			"Set the range in the configuration of ip-masq-agent or of the network plug-in.")
	} else if prefix := c.readRange(ranges, c.azureCluster("networkSpec.vnet.cidrBlocks[0]")); prefix != "" {
		n.vnetRanges = []string{prefix}
	}
	first := master.get("firstConsecutiveStaticIP")
	if n.brought != "" && c.properties.get("orchestratorProfile", "kubernetesConfig", "privateCluster", "enabled").isTrue() {
		return // addCluster carries it.
	}
	first.report("Machines have dynamic addresses.",
		"If the API server needs a fixed address, set networkSpec.apiServerLB.frontendIPs of the AzureCluster.")
}

// readSubnet returns the name of a subnet in the brought network.
func (c *conversion) readSubnet(v *value) string {
	if v.isEmpty() {
		return ""
	}
	id, err := arm.ParseID(v.text())
	if err != nil || !strings.EqualFold(id.Type(), subnetType) {
		v.report("It is not the ID of a subnet.", "Set networkSpec.vnet and networkSpec.subnets of the AzureCluster.")
		return ""
	}
	if c.SubscriptionID == "" {
		c.SubscriptionID = id.Subscription()
	}
	switch {
	case !strings.EqualFold(id.Subscription(), c.SubscriptionID):
		v.report("The subnet is in another subscription than the cluster.",
			"Peer the networks, or create the cluster in the subscription of the subnet.")
		return ""
	case c.network.brought == "":
		c.network.brought = id.Parent()
	case !strings.EqualFold(string(c.network.brought), string(id.Parent())):
		v.report("The subnet is in another virtual network than an earlier one. A cluster has one network.",
			"Choose a subnet of the same network.")
		return ""
	}
	v.carry(c.azureCluster("networkSpec.vnet and networkSpec.subnets"))
	return id.Name()
}

// readRange returns a range of addresses.
func (c *conversion) readRange(v *value, target string) string {
	text := v.carryText(target)
	if text == "" {
		return ""
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		v.report("It is not a range of addresses.", "Correct the model.")
		return ""
	}
	return prefix.Masked().String()
}

// overlaps reports whether two ranges have an address in common.
func overlaps(a, b string) bool { return netip.MustParsePrefix(a).Overlaps(netip.MustParsePrefix(b)) }

// readRanges reads the ranges of pods and Services.
func (c *conversion) readRanges(config *value) {
	n := &c.network
	ownAzure := n.plugin == pluginAzure && n.brought == ""
	n.nodeRange, n.setsRanges = nodeRange, ownAzure
	subnet := config.get("clusterSubnet")
	switch {
	case ownAzure:
		prefix := c.readRange(subnet, c.azureCluster("networkSpec.subnets[1].cidrBlocks[0]"))
		if prefix != "" && (!overlaps(prefix, vnetRange) || overlaps(prefix, controlPlaneRange) || n.isPrivate && overlaps(prefix,
			bastionRange)) {
			subnet.report("It is not in the network of the new cluster, "+vnetRange+", or it overlaps with its subnet "+controlPlaneRange+" or "+bastionRange+".",
				"Set networkSpec.vnet.cidrBlocks and networkSpec.subnets of the AzureCluster.")
			prefix = ""
		}
		if prefix != "" {
			n.nodeRange = prefix
		}
		n.pods = n.nodeRange
	case n.plugin == pluginAzure:
		subnet.replace("Pods have addresses of the existing subnet.")
		if len(n.vnetRanges) > 0 {
			n.pods = n.vnetRanges[0]
		}
	default:
		if n.pods = c.readRange(subnet, c.cluster("clusterNetwork.pods.cidrBlocks[0]")); n.pods == "" {
			n.pods = podRange
		}
	}
	services := config.get("serviceCidr")
	n.services = c.readRange(services, c.cluster("clusterNetwork.services.cidrBlocks[0]"))
	if n.services == "" {
		return
	}
	n.setsRanges = n.setsRanges || n.brought == ""
	if n.brought == "" && (overlaps(n.services, controlPlaneRange) || overlaps(n.services,
		n.nodeRange)) || n.pods != "" && overlaps(n.services, n.pods) {
		services.report("It overlaps with the network or the pods of the new cluster.",
			"Choose another range, and set clusterNetwork.services of the Cluster.")
		n.services = ""
	}
	dns := config.get("dnsServiceIP")
	if prefix, err := netip.ParsePrefix(n.services); err == nil && prefix.Addr().Is4() {
		address := prefix.Masked().Addr()
		for range 10 {
			address = address.Next()
		}
		if address.String() == dns.text() {
			dns.replace("kubeadm chooses the tenth address of the range of Services, which is this one.")
		}
	}
}

// subnets returns the subnets of the AzureCluster.
func (n *network) subnets() infrav1.Subnets {
	newSubnet := func(name string, role infrav1.SubnetRole, ranges ...string) infrav1.SubnetSpec {
		return infrav1.SubnetSpec{SubnetClassSpec: infrav1.SubnetClassSpec{Name: name, Role: role, CIDRBlocks: ranges}}
	}
	if n.brought == "" {
		out := infrav1.Subnets{newSubnet("control-plane-subnet", infrav1.SubnetControlPlane), newSubnet("node-subnet", infrav1.SubnetNode)}
		if n.setsRanges {
			out[0].CIDRBlocks, out[1].CIDRBlocks = []string{controlPlaneRange}, []string{n.nodeRange}
		}
		if n.plugin == pluginKubenet {
			for i := range out {
				out[i].RouteTable.Name = "pods"
			}
		}
		return out
	}
	roles := map[string]infrav1.SubnetRole{}
	var order []string
	note := func(name string, role infrav1.SubnetRole) {
		if name == "" {
			return
		}
		if roles[name] == "" {
			order = append(order, name)
			roles[name] = role
		} else if roles[name] != role {
			roles[name] = infrav1.SubnetCluster
		}
	}
	note(n.masters, infrav1.SubnetControlPlane)
	for _, path := range sortedKeys(n.nodes) {
		note(n.nodes[path], infrav1.SubnetNode)
	}
	if len(n.nodes) == 0 {
		note(n.masters, infrav1.SubnetNode) // A cluster needs a subnet for nodes.
	}
	var out infrav1.Subnets
	for _, name := range order {
		out = append(out, newSubnet(name, roles[name]))
	}
	return out
}
