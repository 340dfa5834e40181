package transitions_test

import (
	"maps"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

type body = map[string]any

// asoManifest returns one of the operator's, with more in its spec.
func asoManifest(apiVersion, kind, name string, spec body, more ...body) body {
	spec = maps.Clone(spec)
	for _, each := range more {
		maps.Copy(spec, each)
	}
	return body{"apiVersion": apiVersion, "kind": kind, "spec": spec,
		"metadata": body{"name": name, "annotations": body{"serviceoperator.azure.com/credential-from": harness.OperatorSecret}}}
}

// manifestLists are values for lists of documents: the first one, with more in its spec each time, and others beside it.
func manifestLists(first func(more ...body) body, more []body, beside ...body) (out []any) {
	for i, each := range more {
		out = append(out, []any{first(each)}, []any{first(each, more[(i+1)%len(more)])})
	}
	for _, each := range beside {
		out = append(out, []any{first(), each})
	}
	return append(out, []any{first()})
}

const aksVersion = "containerservice.azure.com/v1api20251001"

func resourceGroup(more ...body) body {
	return asoManifest("resources.azure.com/v1api20200601", "ResourceGroup", "docs", body{"location": "eastus"}, more...)
}

func managedCluster(more ...body) body {
	return asoManifest(aksVersion, "ManagedCluster", "docs", body{
		"location": "eastus", "owner": body{"name": "docs"}, "dnsPrefix": "docs", "identity": body{"type": "SystemAssigned"},
		"networkProfile": body{"networkPlugin": "azure"}, "servicePrincipalProfile": body{"clientId": "msi"},
	}, more...)
}

func agentPool(name, mode string) func(more ...body) body {
	return func(more ...body) body {
		return asoManifest(aksVersion, "ManagedClustersAgentPool", "docs-"+name, body{
			"azureName": name, "owner": body{"name": "docs"}, "mode": mode, "type": "VirtualMachineScaleSets", "vmSize": "Standard_D2s_v3",
		}, more...)
	}
}

// changes of documents are those that Azure takes in place, and some that it does not.
var (
	groupChanges   = []body{{"tags": body{"a": "x"}}, {"tags": body{"a": "y", "b": "z"}}, {"location": "westus3"}}
	clusterChanges = []body{
		{"tags": body{"a": "x"}}, {"tags": body{"b": ""}}, {"sku": body{"name": "Base", "tier": "Standard"}}, {"dnsPrefix": "other"},
		{"apiServerAccessProfile": body{"authorizedIPRanges": []any{"192.0.2.0/24"}}}, {"autoUpgradeProfile": body{"upgradeChannel": "patch"}},
		{"oidcIssuerProfile": body{"enabled": true}}, {"disableLocalAccounts": false},
		{"addonProfiles": body{"azurepolicy": body{"enabled": true}}}, {"nothing": int64(1)},
	}
	poolChanges = []body{
		{"tags": body{"a": "x"}}, {"nodeLabels": body{"a": "x"}}, {"nodeLabels": body{"a": "y", "b": "z"}},
		{"nodeTaints": []any{"a=b:NoSchedule"}},
		{"upgradeSettings": body{"maxSurge": "33%"}}, {"vmSize": "Standard_D4s_v3"},
		{"enableAutoScaling": true, "minCount": int64(1), "maxCount": int64(3)}, {"maxPods": int64(50)},
	}
)

// documents is an AKS cluster of documents with two pools.
var documents = life{
	kinds: map[string]kind{
		"AzureASOManagedCluster": {plural: "azureasomanagedclusters",
			hints: hints{"controlPlaneEndpoint": nil, "azureEnvironment": nil, "identityRef": nil,
				"resources": manifestLists(resourceGroup, groupChanges,
					asoManifest("managedidentity.azure.com/v20241130", "UserAssignedIdentity", "workload",
						body{"location": "eastus", "owner": body{"name": "docs"}}),
					asoManifest("network.azure.com/v1api20240301", "NetworkSecurityGroup", "rules",
						body{"location": "eastus", "owner": body{"name": "docs"}}))}},
		"AzureASOManagedControlPlane": {plural: "azureasomanagedcontrolplanes",
			hints: hints{"azureEnvironment": nil, "identityRef": nil, "controlPlaneEndpoint": nil, "version": {harness.ManagedVersion, "v1.34.2"},
				"resources": manifestLists(managedCluster, clusterChanges)}},
		"AzureASOManagedMachinePool": {plural: "azureasomanagedmachinepools", hints: hints{"providerIDList": nil,
			"resources": manifestLists(agentPool("pool1", "User"), poolChanges)}},
	},
	cluster: "docs",
	objects: []object{
		{name: "docs-infra", kind: "AzureASOManagedCluster", base: body{"resources": []any{resourceGroup()}}},
		{name: "docs", kind: "AzureASOManagedControlPlane", base: body{"version": harness.ManagedVersion, "resources": []any{managedCluster()}}},
		{name: "docs-pool1", kind: "AzureASOManagedMachinePool", base: body{"resources": []any{agentPool("pool1", "User")()}}},
	},
	create: func(w *world, admitted map[string]client.Object) {
		of := w.BuildASOCluster("docs", "pool0", "pool1")
		of.Infrastructure = admitted["docs-infra"].(*infrav1.AzureASOManagedCluster)
		of.ControlPlane = admitted["docs"].(*infrav1.AzureASOManagedControlPlane)
		of.Pools[1] = admitted["docs-pool1"].(*infrav1.AzureASOManagedMachinePool)
		w.CreateManifests(of)
	},
	excused: []excuse{
		{reason: "the resources of nodes are AKS's own: they come and go with the nodes, and keep their first settings",
			difference: regexp.MustCompile(`^(?i:resourceGroups)/MC_[^/]*/providers/`)},
		{reason: "a version that the spec no longer names stays, and a new cluster without one gets Azure's default",
			difference: regexp.MustCompile(`Version: (1\.33(\.6)? is missing|1\.3[34]\.2 is too much)$`)},
		{reason: "with a channel, a version above that of the spec is one to which AKS has upgraded",
			difference: regexp.MustCompile(`Version: 1\.33\.2 is missing$`), where: regexp.MustCompile(`\.upgradeChannel: patch$`)},
		{reason: "no document has a profile of the autoscaler: the simulator keeps the defaults that it shows while a pool scales by itself",
			difference: regexp.MustCompile(`\.autoScalerProfile\.[\w-]+: \S+ is too much$`)},
		{reason: "a channel is turned off by the word; without one there is none either (armcontainerservice.UpgradeChannel)",
			difference: regexp.MustCompile(`\.upgradeChannel: none is too much$`)},
		{reason: "the simulator does not make the nodes of a pool anew", difference: regexp.MustCompile(`\.nodeImageVersion: AKS`)},
	},
}
