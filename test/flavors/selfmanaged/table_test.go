package selfmanaged_test

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// look reads the resources of a flavor.
type look struct {
	*harness.Stage
	cluster *flavors.Cluster
}

const (
	computeVersion = "2024-07-01"
	networkVersion = "2024-05-01"
)

func (l *look) getResource(path, apiVersion string) map[string]any {
	l.T.Helper()
	status, resource := l.Azure.GetResource("resourceGroups/c1/providers/"+path, apiVersion)
	if status != 200 {
		l.T.Errorf("%s: status %d", path, status)
	}
	return resource
}

// groupVMs returns those of the group of machines with this name after the cluster's.
func (l *look) groupVMs(group string) []map[string]any {
	l.T.Helper()
	names := l.cluster.ByGroup(l.cluster.Name + group)
	if len(names) == 0 {
		l.T.Errorf("there is no group of machines %s%s", l.cluster.Name, group)
	}
	var vms []map[string]any
	for _, name := range names {
		vms = append(vms, l.getResource("Microsoft.Compute/virtualMachines/"+name, computeVersion))
	}
	return vms
}

func (l *look) groupInterfaces(group string) []map[string]any {
	l.T.Helper()
	var nics []map[string]any
	for _, name := range l.cluster.ByGroup(l.cluster.Name + group) {
		nics = append(nics, l.getResource("Microsoft.Network/networkInterfaces/"+name+"-nic", networkVersion))
	}
	return nics
}

// expectValue compares the value at a path of each resource.
func (l *look) expectValue(resources []map[string]any, path, want string) {
	l.T.Helper()
	if len(resources) == 0 {
		l.T.Errorf("no resource to look for %s in", path)
	}
	for _, resource := range resources {
		if got := flavors.ValueText(resource, path); got != want {
			l.T.Errorf("%v: %s is %q, want %q", resource["name"], path, got, want)
		}
	}
}

const (
	controlPlane = "-control-plane"
	worker       = "-md-0"
)

// table has every flavor, by its name.
var table = map[string]flavor{
	"default": {
		reason:    "three control-plane machines and two workers in a network of their own",
		variables: map[string]string{"CONTROL_PLANE_MACHINE_COUNT": "3"},
		machines:  5,
		check: func(l *look) {
			l.expectValue(l.groupVMs(controlPlane), "properties.storageProfile.imageReference.communityGalleryImageId",
				"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/"+strings.TrimPrefix(harness.KubernetesVersion, "v"))
			l.expectValue(l.groupVMs(controlPlane), "properties.storageProfile.dataDisks.0.diskSizeGB", "256")
			l.expectValue(l.groupVMs(controlPlane), "identity.type", "UserAssigned")
			l.expectValue(l.groupVMs(worker), "identity.type", "")
			var zones []string
			for _, vm := range l.groupVMs(controlPlane) {
				zones = append(zones, flavors.ValueText(vm, "zones.0"))
			}
			if slices.Sort(zones); !slices.Equal(zones, []string{"1", "2", "3"}) {
				l.T.Errorf("the control plane is in the zones %q, want one machine in each", zones)
			}
		},
	},
	"private": {
		reason: "nothing of the cluster's API is reachable from the internet",
		check: func(l *look) {
			lb := l.getResource("Microsoft.Network/loadBalancers/c1-internal-lb", networkVersion)
			l.expectValue([]map[string]any{lb}, "properties.frontendIPConfigurations.0.properties.privateIPAddress", "10.0.0.100")
			l.expectValue([]map[string]any{lb}, "properties.frontendIPConfigurations.0.properties.publicIPAddress.id", "")
			l.getResource("Microsoft.Network/bastionHosts/c1-azure-bastion", networkVersion)
			l.getResource("Microsoft.Network/privateDnsZones/c1.capz.io", "2024-06-01")
			l.getResource("Microsoft.Network/loadBalancers/c1-outbound-lb", networkVersion)
		},
	},
	"azure-bastion": {
		reason: "a bastion host beside the default cluster",
		check: func(l *look) {
			bastion := l.getResource("Microsoft.Network/bastionHosts/c1-azure-bastion", networkVersion)
			l.expectValue([]map[string]any{bastion}, "sku.name", "Basic")
		},
	},
	"azure-cni-v1": {
		reason: "pods get addresses of the network interface, so there are as many as pods on a node",
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				for _, nic := range l.groupInterfaces(group) {
					configurations, _ := nic["properties"].(map[string]any)["ipConfigurations"].([]any)
					if len(configurations) != 110 {
						l.T.Errorf("%v has %d addresses, want 110", nic["name"], len(configurations))
					}
				}
			}
		},
	},
	"dual-stack": {
		reason: "nodes have addresses of both families",
		check:  bothFamilies,
	},
	"ipv6": {
		reason: "pods and services have IPv6 only, nodes both",
		check:  bothFamilies,
	},
	"edgezone": {
		reason: "resources that can be in an edge zone are in it, without availability zones",
		variables: map[string]string{"AZURE_LOCATION": "westus", "AZURE_EXTENDEDLOCATION_NAME": "losangeles",
			"AZURE_EXTENDEDLOCATION_TYPE": "EdgeZone"},
		check: func(l *look) {
			l.expectValue(l.groupVMs(controlPlane), "extendedLocation.name", "losangeles")
			l.expectValue(l.groupVMs(controlPlane), "zones.0", "")
			l.expectValue([]map[string]any{l.getResource("Microsoft.Network/virtualNetworks/c1-vnet", networkVersion)}, "extendedLocation.type",
				"EdgeZone")
		},
	},
	"ephemeral": {
		reason: "OS disks are on the host, so there is nothing to delete with a machine",
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				l.expectValue(l.groupVMs(group), "properties.storageProfile.osDisk.diffDiskSettings.option", "Local")
				l.expectValue(l.groupVMs(group), "properties.storageProfile.osDisk.caching", "ReadOnly")
				l.expectValue(l.groupVMs(group), "properties.storageProfile.osDisk.diskSizeGB", "50")
			}
		},
	},
	"nvidia-gpu": {
		reason:    "workers of a size with GPUs have premium disks",
		variables: map[string]string{"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"},
		check: func(l *look) {
			l.expectValue(l.groupVMs(worker), "properties.hardwareProfile.vmSize", "Standard_NC4as_T4_v3")
			l.expectValue(l.groupVMs(worker), "properties.storageProfile.osDisk.managedDisk.storageAccountType", "Premium_LRS")
		},
	},
	"spot": {
		reason: "workers may be evicted, control planes not",
		check: func(l *look) {
			l.expectValue(l.groupVMs(worker), "properties.priority", "Spot")
			l.expectValue(l.groupVMs(worker), "properties.evictionPolicy", "Deallocate")
			l.expectValue(l.groupVMs(controlPlane), "properties.priority", "")
		},
	},
	"aad": {
		reason:    "the API server trusts tokens of Entra ID",
		variables: map[string]string{"AZURE_SERVER_APP_ID": "22222222-aaaa-4bbb-8ccc-333333333333"},
		check: func(l *look) {
			l.expectValue(l.groupVMs(worker), "properties.storageProfile.osDisk.managedDisk.storageAccountType", "Premium_LRS")
		},
	},
	"user-assigned-identity": {
		reason:    "all machines have the identity that exists already, and azure.json names it",
		variables: map[string]string{"USER_ASSIGNED_IDENTITY_PROVIDER_ID": "/subscriptions/" + flavors.TemplateVariables(nil)["AZURE_SUBSCRIPTION_ID"] + "/" + flavors.OwnIdentity},
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				l.expectValue(l.groupVMs(group), "identity.type", "UserAssigned")
			}
			secret := &corev1.Secret{}
			l.ReadObject(secret, "c1-md-0-azure-json")
			_, identity := l.Azure.GetResource(flavors.OwnIdentity, "2023-01-31")
			if id := flavors.ValueText(identity, "properties.clientId"); id == "" ||
				!strings.Contains(string(secret.Data["worker-node-azure.json"]), id) {
				l.T.Errorf("azure.json of workers does not have the client ID %q of the identity:\n%s", id, secret.Data["worker-node-azure.json"])
			}
		},
	},
	"system-assigned-identity": {
		reason: "every machine has an identity of its own with a role, which goes with the machine",
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				l.expectValue(l.groupVMs(group), "identity.type", "SystemAssigned")
			}
			assignments := 0
			for _, id := range l.Azure.ListResources() {
				if strings.Contains(strings.ToLower(id), "/roleassignments/") {
					assignments++
				}
			}
			if assignments != 3 {
				l.T.Errorf("%d role assignments, want one for each machine", assignments)
			}
		},
	},
	"windows": {
		reason:    "workers with Windows beside those with Linux, with names that Windows takes",
		variables: map[string]string{"AZURE_SSH_PUBLIC_KEY": flavors.SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": flavors.SSHKeyB64},
		machines:  5,
		check:     windowsWorkers,
	},
	"flatcar": {
		reason:    "machines boot Flatcar's image for this version of Kubernetes with Ignition",
		variables: map[string]string{"FLATCAR_VERSION": "3815.2.0"},
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				l.expectValue(l.groupVMs(group), "properties.storageProfile.imageReference.communityGalleryImageId",
					"/CommunityGalleries/flatcar4capi-742ef0cb-dcaa-4ecb-9cb0-bfd2e43dccc0/Images/flatcar-stable-amd64-capi-"+harness.KubernetesVersion+"/Versions/3815.2.0")
			}
		},
	},
	"flatcar-sysext": {
		reason:    "machines boot Flatcar as it is released, which needs no plan",
		variables: map[string]string{"FLATCAR_VERSION": "3815.2.0"},
		check: func(l *look) {
			for _, group := range []string{controlPlane, worker} {
				l.expectValue(l.groupVMs(group), "properties.storageProfile.imageReference.offer", "flatcar-container-linux-corevm-amd64")
				l.expectValue(l.groupVMs(group), "plan.name", "")
			}
		},
	},
	"topology": {
		reason:    "a cluster of the class has the resources of the default flavor, and Secrets by the names of its own templates",
		variables: map[string]string{"CLUSTER_CLASS_NAME": "default"},
		check: func(l *look) {
			l.getResource("Microsoft.Network/natGateways/node-natgateway", networkVersion)
			for _, name := range []string{"c1-control-plane-x7k2p-azure-json", "c1-md-0-q4w9z-azure-json"} {
				if l.cluster.Secrets[name] == "" {
					l.T.Errorf("no machine takes azure.json from the Secret %s: %v", name, l.cluster.Secrets)
				}
			}
		},
	},
}

func bothFamilies(l *look) {
	for _, group := range []string{controlPlane, worker} {
		l.expectValue(l.groupInterfaces(group), "properties.enableIPForwarding", "true")
		for _, nic := range l.groupInterfaces(group) {
			families := map[string]int{}
			configurations, _ := nic["properties"].(map[string]any)["ipConfigurations"].([]any)
			for _, configuration := range configurations {
				families[flavors.ValueText(configuration, "properties.privateIPAddressVersion")]++
			}
			if families["IPv4"] != 1 || families["IPv6"] != 1 {
				l.T.Errorf("%v has addresses %v, want one of each family", nic["name"], families)
			}
		}
	}
	// NAT gateways do IPv4 only.
	l.getResource("Microsoft.Network/loadBalancers/c1", networkVersion)
}

func windowsWorkers(l *look) {
	for i, name := range l.cluster.ByGroup("c1-md-win") {
		short := fmt.Sprintf("c1-md-win-%05d", i)
		if len(name) > 15 {
			short = strings.TrimSuffix(name[:9], "-") + "-" + name[len(name)-5:]
		}
		vm := l.getResource("Microsoft.Compute/virtualMachines/"+short, computeVersion)
		l.expectValue([]map[string]any{vm}, "properties.storageProfile.osDisk.osType", "Windows")
		l.expectValue([]map[string]any{vm}, "properties.storageProfile.imageReference.communityGalleryImageId",
			"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-win-2022-containerd/Versions/"+strings.TrimPrefix(harness.KubernetesVersion, "v"))
		l.expectValue([]map[string]any{vm}, "identity.type", "UserAssigned")
	}
}
