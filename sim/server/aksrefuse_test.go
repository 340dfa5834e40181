package server_test

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// aksRefused checks that an answer is a refusal with that status, code and part of the message.
func aksRefused(t *testing.T, reason string, r response, status int, code, part string) {
	t.Helper()
	message, _ := r.body["message"].(string)
	if message == "" {
		message = r.errorMessage()
	}
	if r.status != status || r.aksCode() != code || !strings.Contains(message, part) {
		t.Errorf("%s: %d %s %q, want %d %s %q", reason, r.status, r.aksCode(), message, status, code, part)
	}
}

func TestManagedClusterRefusals(t *testing.T) {
	np := func(more obj) func(obj) { return func(p obj) { p["networkProfile"] = more } }
	first := func(more obj) func(obj) {
		return func(p obj) { p["agentPoolProfiles"] = []any{aksProfile("pool0", more)} }
	}
	subnet := net + "/virtualNetworks/vnet/subnets/"
	own := func(outbound, name string) func(obj) {
		return func(p obj) {
			p["networkProfile"] = obj{"outboundType": outbound, "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"vnetSubnetID": subnet + name})}
		}
	}
	cases := map[string]struct {
		change func(p obj)
		status int
		code   string
		part   string
	}{
		"version that is none": {func(p obj) { p["kubernetesVersion"] = "v1.33.2" }, 400, "K8sVersionNotSupported",
			"not supported in this region"},
		"version too old":                {func(p obj) { p["kubernetesVersion"] = "1.27.1" }, 400, "K8sVersionNotSupported", "1.27.1"},
		"long-term version without plan": {func(p obj) { p["kubernetesVersion"] = "1.29.4" }, 400, "K8sVersionNotSupported", "1.29.4"},
		"long-term plan without Premium": {func(p obj) { p["supportPlan"] = "AKSLongTermSupport" }, 400, "BadRequest", "Premium"},
		"pool above the control plane": {first(obj{"orchestratorVersion": "1.34.1"}), 400, "NodePoolMcVersionIncompatible",
			"bigger than control plane"},
		"pool far below": {func(p obj) { p["kubernetesVersion"] = "1.34.1"; first(obj{"orchestratorVersion": "1.31.2"})(p) },
			400, "NodePoolMcVersionIncompatible", "more than 2 versions"},
		"no pool": {func(p obj) { p["agentPoolProfiles"] = []any{} }, 400, "InvalidParameter",
			"At least one agent pool"},
		"no system pool": {first(obj{"mode": "User"}), 400, "BadRequest", "mode System"},
		"two pools of one name": {func(p obj) { p["agentPoolProfiles"] = []any{aksProfile("a", nil), aksProfile("a", nil)} }, 400,
			"InvalidParameter", "unique"},
		"pool name": {func(p obj) { p["agentPoolProfiles"] = []any{aksProfile("Pool-0", nil)} }, 400, "InvalidParameter",
			"Invalid AgentPoolProfile name"},
		"Windows system pool":              {first(obj{"osType": "Windows"}), 400, "InvalidParameter", "osType Linux"},
		"system pool of none":              {first(obj{"count": 0}), 400, "InvalidParameter", "between 1 and 1000"},
		"system pool with few pods":        {first(obj{"maxPods": 10}), 400, "InvalidParameter", "at least 30"},
		"system pool of a small size":      {first(obj{"vmSize": "Standard_B1s"}), 400, "SystemPoolSkuTooLow", "Standard_B1s"},
		"spot system pool":                 {first(obj{"scaleSetPriority": "Spot"}), 400, "BadRequest", "Spot"},
		"size unknown":                     {first(obj{"vmSize": "Standard_X1"}), 400, "BadRequest", "Standard_X1"},
		"zone that is none":                {first(obj{"availabilityZones": []any{"4"}}), 400, "InvalidParameter", "Zone '4'"},
		"ephemeral disk that does not fit": {first(obj{"osDiskType": "Ephemeral"}), 400, "BadRequest", "ephemeral OS disk"},
		"taint":                            {first(obj{"nodeTaints": []any{"a=b"}}), 400, "InvalidParameter", "Taint 'a=b'"},
		"taint of a system pool": {first(obj{"nodeTaints": []any{"CriticalAddonsOnly=true:NoSchedule", "a=b:PreferNoSchedule", "a=b:NoExecute"}}), 400,
			"SystemPoolHasRestrictedTaint", "Placing custom taints on system pool is not supported"},
		"label of Azure's": {first(obj{"nodeLabels": obj{"kubernetes.azure.com/x": "y"}}), 400, "InvalidParameter",
			"reserved prefix"},
		"minimum above maximum": {first(obj{"enableAutoScaling": true, "minCount": 5, "maxCount": 3}), 400, "InvalidParameter",
			"greater than maxCount"},
		"overlay with kubenet": {np(obj{"networkPlugin": "kubenet", "networkPluginMode": "overlay"}), 400, "InvalidParameter",
			"overlay requires network plugin azure"},
		"cilium dataplane with kubenet": {np(obj{"networkPlugin": "kubenet", "networkDataplane": "cilium"}), 400, "InvalidParameter",
			"requires network plugin azure"},
		"cilium policy without dataplane": {np(obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "networkPolicy": "cilium"}), 400,
			"InvalidParameter", "requires network dataplane cilium"},
		"network plugin unknown": {np(obj{"networkPlugin": "flannel"}), 400, "InvalidParameter", "not one of azure, kubenet, none"},
		"DNS address outside": {np(obj{"serviceCidr": "192.168.0.0/16", "dnsServiceIP": "10.0.0.10"}), 400, "InvalidParameter",
			"not an address of the service CIDR"},
		"own NAT gateway without subnet": {np(obj{"outboundType": "userAssignedNATGateway"}), 400, "BadRequest",
			"virtual network of your own"},
		"own NAT gateway, missing": {own("userAssignedNATGateway", "cp"), 400, "BadRequest", "none is associated"},
		"routing without a table":  {own("userDefinedRouting", "cp"), 400, "ExistingRouteTableNotAssociatedWithSubnet", "route table"},
		"subnet, missing":          {own("loadBalancer", "nothere"), 404, "SubnetNotFound", "nothere"},
		"service range over the subnet": {func(p obj) { own("loadBalancer", "cp")(p); np(obj{"serviceCidr": "10.0.0.0/16"})(p) }, 400,
			"ServiceCidrOverlapExistingSubnetsCidr", "conflicted"},
		"pods that do not fit": {func(p obj) {
			p["networkProfile"] = obj{"networkPlugin": "azure", "serviceCidr": "192.168.0.0/16", "dnsServiceIP": "192.168.0.10"}
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"count": 20, "vnetSubnetID": subnet + "cp"})}
		}, 400, "InsufficientSubnetSize", "Pre-allocated IPs 620 exceeds IPs available 251"},
		"zone of one's own on a public cluster": {func(p obj) { p["apiServerAccessProfile"] = obj{"privateDNSZone": "system"} }, 400,
			"InvalidParameter", "private cluster"},
		"no zone and no public name": {func(p obj) {
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "privateDNSZone": "none", "enablePrivateClusterPublicFQDN": false}
		}, 400, "InvalidParameter", "cannot be disabled"},
		"workload identity without issuer": {func(p obj) { p["securityProfile"] = obj{"workloadIdentity": obj{"enabled": true}} }, 400,
			"BadRequest", "OIDC"},
		"KMS without user identity": {func(p obj) {
			p["securityProfile"] = obj{"azureKeyVaultKms": obj{"enabled": true, "keyId": "https://kv/keys/k/1"}}
		}, 400, "BadRequest", "user assigned identity"},
		"SSH key": {func(p obj) {
			p["linuxProfile"] = obj{"adminUsername": "azureuser", "ssh": obj{"publicKeys": []any{obj{"keyData": "nonsense"}}}}
		}, 400, "InvalidParameter", "SSH"},
		"image cleaner": {func(p obj) { p["securityProfile"] = obj{"imageCleaner": obj{"enabled": true, "intervalHours": 5}} }, 400,
			"InvalidParameter", "between 24 and 2160"},
		"authorized range": {func(p obj) { p["apiServerAccessProfile"] = obj{"authorizedIPRanges": []any{"1.2.3"}} }, 400, "InvalidParameter",
			"'1.2.3'"},
		"ranges on a private one": {func(p obj) {
			p["apiServerAccessProfile"] = obj{"enablePrivateCluster": true, "authorizedIPRanges": []any{"1.2.3.4"}}
		}, 400, "BadRequest", "private cluster"},
		"subdomain without a zone": {func(p obj) { delete(p, "dnsPrefix"); p["fqdnSubdomain"] = "x" }, 400, "InvalidParameter",
			"zone of your own"},
		"two kinds of outbound IPs": {np(obj{"loadBalancerProfile": obj{"managedOutboundIPs": obj{"count": 1},
			"outboundIPs": obj{"publicIPs": newRefs(net + "/publicIPAddresses/x")}}}), 400, "InvalidParameter", "Only one of"},
		"too many outbound IPs": {np(obj{"loadBalancerProfile": obj{"managedOutboundIPs": obj{"count": 101}}}), 400, "InvalidParameter",
			"between 1 and 100"},
		"odd number of ports": {np(obj{"loadBalancerProfile": obj{"allocatedOutboundPorts": 7}}), 400, "InvalidParameter",
			"multiple of 8"},
		"idle timeout": {np(obj{"loadBalancerProfile": obj{"idleTimeoutInMinutes": 1}}), 400, "InvalidParameter",
			"between 4 and 120"},
		"NAT gateway addresses": {np(obj{"outboundType": "managedNATGateway",
			"natGatewayProfile": obj{"managedOutboundIPProfile": obj{"count": 17}}}), 400, "InvalidParameter", "between 1 and 16"},
		"pods over services": {np(obj{"networkPlugin": "kubenet", "podCidr": "10.0.0.0/8"}), 400, "InvalidParameter", "overlaps"},
		"Azure policy and kubenet": {np(obj{"networkPlugin": "kubenet", "networkPolicy": "azure"}), 400, "InvalidParameter",
			"not supported with network plugin kubenet"},
		"cilium and calico": {np(obj{"networkPluginMode": "overlay", "networkPlugin": "azure", "networkDataplane": "cilium",
			"networkPolicy": "calico"}), 400, "InvalidParameter", "cilium or none"},
		"public IP prefix alone": {first(obj{"nodePublicIPPrefixID": net + "/publicIPPrefixes/x"}), 400, "InvalidParameter",
			"requires enableNodePublicIP"},
		"OS SKU of the other kind": {first(obj{"osSKU": "Windows2022"}), 400, "InvalidParameter", "does not go with"},
		"encryption at host": {first(obj{"vmSize": "Standard_D2_v3", "enableEncryptionAtHost": true}), 400, "BadRequest",
			"encryption at host"},
		"ultra disks without zone":     {first(obj{"enableUltraSSD": true}), 400, "BadRequest", "ultra disks"},
		"disk too small":               {first(obj{"osDiskSizeGB": 10}), 400, "InvalidParameter", "between 30 and 2048"},
		"count that is text":           {first(obj{"count": "3"}), 400, "UnmarshalError", "count"},
		"autoscaler without limits":    {first(obj{"enableAutoScaling": true}), 400, "InvalidParameter", "required"},
		"price of a regular pool":      {first(obj{"spotMaxPrice": 0.5}), 400, "InvalidParameter", "priority Spot"},
		"surge":                        {first(obj{"upgradeSettings": obj{"maxSurge": "many"}}), 400, "InvalidParameter", "percentage"},
		"kind of pool":                 {first(obj{"type": "AvailabilitySet"}), 400, "InvalidParameter", "VirtualMachineScaleSets"},
		"local accounts without Entra": {func(p obj) { p["disableLocalAccounts"] = true }, 400, "BadRequest", "AAD enabled"},
		"DNS prefix":                   {func(p obj) { p["dnsPrefix"] = "-a" }, 400, "InvalidParameter", "DNS prefix"},
		"kubelet identity of one's own": {func(p obj) {
			p["identityProfile"] = obj{
				"kubeletidentity": obj{"resourceId": groupA + "/providers/x"}}
		}, 400, "InvalidParameter", "user assigned identity"},
	}
	a := newAzure(t)
	a.createBase()
	before := len(a.sim.State())
	for name, tc := range cases {
		aksRefused(t, name, a.sendRequest("PUT", aks+aksV, aksCluster(tc.change)), tc.status, tc.code, tc.part)
	}
	if after := len(a.sim.State()); after != before {
		t.Errorf("refusals left %d resources behind", after-before)
	}
	aksRefused(t, "no identity", a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": aksCluster(nil)["properties"]}), 400,
		"InvalidParameter", "identity")
}

func TestManagedClusterChangesThatAreRefused(t *testing.T) {
	a := newAzure(t)
	a.createAKS(func(p obj) { p["oidcIssuerProfile"] = obj{"enabled": true}; p["aadProfile"] = obj{"managed": true} })
	cases := map[string]struct {
		props      obj
		code, part string
	}{
		"skipped minor": {obj{"kubernetesVersion": "1.35.0"}, "BadRequest",
			"Upgrading Kubernetes version 1.33.2 to 1.35.0 is not allowed. Available upgrades: ["},
		"downgrade":       {obj{"kubernetesVersion": "1.32.5"}, "BadRequest", "Downgrading"},
		"patch downgrade": {obj{"kubernetesVersion": "1.33.1"}, "BadRequest", "Downgrading"},
		"DNS prefix":      {obj{"dnsPrefix": "other"}, "PropertyChangeNotAllowed", "properties.dnsPrefix"},
		"network plugin": {obj{"networkProfile": obj{"networkPlugin": "kubenet", "networkPluginMode": nil}}, "PropertyChangeNotAllowed",
			"networkPlugin"},
		"private afterwards": {obj{"apiServerAccessProfile": obj{"enablePrivateCluster": true}}, "PropertyChangeNotAllowed",
			"enablePrivateCluster"},
		"issuer off": {obj{"oidcIssuerProfile": obj{"enabled": false}}, "BadRequest", "cannot be disabled"},
		"Entra off":  {obj{"aadProfile": nil}, "BadRequest", "cannot be removed"},
		"new pool": {obj{"agentPoolProfiles": []any{aksProfile("pool0", nil), aksProfile("pool1", nil)}}, "BadRequest",
			"A new agent pool was introduced"},
		"last system pool": {obj{"agentPoolProfiles": []any{aksProfile("pool0", obj{"mode": "User"})}}, "BadRequest", "mode System"},
		"size in a profile": {obj{"agentPoolProfiles": []any{aksProfile("pool0", obj{"vmSize": "Standard_D4s_v5"})}}, "PropertyChangeNotAllowed",
			"properties.vmSize"},
	}
	for name, tc := range cases {
		aksRefused(t, name, a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": tc.props}), 400, tc.code, tc.part)
	}
	for name, p := range map[string]obj{"vmSize": {"vmSize": "Standard_D4s_v5"},
		"osDiskType": {"osDiskType": "Ephemeral", "vmSize": "Standard_D2s_v5"}, "maxPods": {"maxPods": 50},
		"osDiskSizeGB": {"osDiskSizeGB": 60}} {
		aksRefused(t, "pool's "+name, a.sendRequest("PUT", pools+"pool0"+aksV, obj{"properties": p}), 400, "PropertyChangeNotAllowed",
			"properties."+name)
	}
	aksRefused(t, "last system pool", a.sendRequest("DELETE", pools+"pool0"+aksV, nil), 400, "BadRequest", "the last one")
	aksRefused(t, "last system pool becomes User", a.sendRequest("PUT", pools+"pool0"+aksV, obj{"properties": obj{"mode": "User"}}), 400,
		"BadRequest", "the last one")
	aksRefused(t, "pool above the control plane",
		a.sendRequest("PUT", pools+"pool0"+aksV, obj{"properties": obj{"orchestratorVersion": "1.33.4"}}), 400, "NodePoolMcVersionIncompatible",
		"bigger")
	aksRefused(t, "long name of a Windows pool", a.sendRequest("PUT", pools+"windows"+aksV, agentPool(obj{"osType": "Windows"})), 400,
		"InvalidParameter", "1 to 6")
	aksRefused(t, "etag", a.sendRequest("PUT", aks+aksV, aksCluster(nil), "If-Match", `"old"`), 409, "EtagMismatch", "does not go with")
	if r := a.sendRequest("GET", pools+"nothere"+aksV, nil); r.status != 404 {
		t.Errorf("GET of no pool = %d", r.status)
	}
}

// TestManagedClusterAccepts checks bodies that look faulty but that AKS accepts.
func TestManagedClusterAccepts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reason string
		change func(p obj)
	}{
		"image cleaner that is off": {"charts of users ship it with an interval that AKS does not take", func(p obj) {
			p["securityProfile"] = obj{"imageCleaner": obj{"enabled": false, "intervalHours": 1}}
		}},
		"KMS that is off": {"nothing else of it counts", func(p obj) {
			p["securityProfile"] = obj{"azureKeyVaultKms": obj{"enabled": false, "keyVaultNetworkAccess": "Private"}}
		}},
		"autoscaler that is off": {"its limits do not count", func(p obj) {
			p["agentPoolProfiles"] = []any{aksProfile("pool0", obj{"enableAutoScaling": false, "minCount": 5, "maxCount": 3})}
		}},
		"Cilium in the subnet of the nodes": {"Cilium goes with pods in the subnet of the nodes", func(p obj) {
			p["networkProfile"] = obj{"networkPlugin": "azure", "networkDataplane": "cilium", "networkPolicy": "cilium"}
		}},
		"Cilium with overlay": {"Cilium goes with pods in an overlay", func(p obj) {
			p["networkProfile"] = obj{"networkPlugin": "azure", "networkPluginMode": "overlay", "networkDataplane": "cilium",
				"networkPolicy": "cilium"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAzure(t)
			a.createGroup()
			if r := a.mustSucceed("PUT", aks+aksV, aksCluster(test.change)); r.status != 201 && r.status != 200 {
				t.Errorf("%s: %d %v", test.reason, r.status, r.body)
			}
		})
	}
}

func TestManagedClusterQuotaAndCapacity(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.Quota = map[string]int{"standardDSv5Family": 10} })
	a.createAKS(nil)
	aksRefused(t, "family quota", a.sendRequest("PUT", pools+"big"+aksV, agentPool(obj{"count": 4})), 400, "ErrCode_InsufficientVCPUQuota",
		"standardDSv5Family")
	if err := a.sim.AddFault(fault.Rule{Kind: "skuCapacity", Method: "PUT",
		Type: "Microsoft.ContainerService/managedClusters/agentPools"}); err != nil {
		t.Fatal(err)
	}
	aksRefused(t, "capacity", a.sendRequest("PUT", pools+"big"+aksV, agentPool(nil)), 400, "BadRequest", "not allowed in your subscription")
	if r := a.sendRequest("PUT", pools+"big"+aksV, agentPool(nil)); r.status != 201 {
		t.Errorf("afterwards = %d %v", r.status, r.body)
	}
	aksRefused(t, "zone without the size",
		a.sendRequest("PUT", strings.Replace(aks, "/rg/", "/rg/", 1)+"east"+aksV,
			obj{"location": "eastus", "identity": obj{"type": "SystemAssigned"}, "properties": obj{"dnsPrefix": "x",
				"agentPoolProfiles": []any{aksProfile("pool0", obj{"vmSize": "Standard_E8s_v5", "availabilityZones": []any{"3"}})}}}), 400,
		"AvailabilityZoneNotSupported", "The supported zones for location 'eastus' are '1,2'")
}

func TestManagedClusterIsBusy(t *testing.T) {
	a := newAzure(t)
	a.createAKS(nil)
	a.sendRequest("PUT", pools+"one"+aksV, agentPool(nil))
	aksRefused(t, "the cluster while a pool is made",
		a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"kubernetesVersion": "1.33.4"}}), 409, "OperationNotAllowed",
		"agent pool one in state Creating")
	aksRefused(t, "the same pool", a.sendRequest("PUT", pools+"one"+aksV, agentPool(obj{"count": 2})), 409, "OperationNotAllowed",
		"aka.ms/aks-pending-operation")
	if r := a.sendRequest("PUT", pools+"two"+aksV, agentPool(nil)); r.status != 201 {
		t.Errorf("another pool meanwhile = %d %v", r.status, r.body)
	}
	a.sim.Settle()
	a.sendRequest("PUT", aks+aksV, obj{"location": "westus3", "properties": obj{"kubernetesVersion": "1.33.4"}})
	for name, r := range map[string]response{"a pool's PUT": a.sendRequest("PUT", pools+"one"+aksV, agentPool(obj{"count": 2})),
		"a pool's DELETE": a.sendRequest("DELETE", pools+"one"+aksV, nil)} {
		aksRefused(t, name+" while the cluster is upgraded", r, 409, "OperationNotAllowed", "managed cluster in state Upgrading")
	}
	aksRefused(t, "the cluster's DELETE", a.sendRequest("DELETE", aks+aksV, nil), 409, "OperationNotAllowed", "in progress")
}
