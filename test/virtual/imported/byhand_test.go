package imported_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// object is a body.
type object = map[string]any

// handmade makes a cluster as people do who install kubeadm on virtual machines: in a network of their own in another group, behind a load
// balancer, without a tag of the provider.
type handmade struct {
	*virtual.Scenario
	// nic and configuration return the names of the interface of a machine and of its configuration.
	nic, configuration func(vm string) string
	// masters is the number of control-plane machines, 3 if it is 0.
	masters int
	// images has images in the community gallery of Cluster API by machine. The others have one of Ubuntu.
	images map[string]string
}

const (
	networkVersion = "2024-05-01"
	computeVersion = "2024-07-01"
)

func (h handmade) id(path string) string {
	return "/subscriptions/" + h.Azure.SubscriptionID + "/" + path
}

const (
	handNetwork = "resourceGroups/shared-network/providers/Microsoft.Network/"
	handGroup   = "resourceGroups/legacy/providers/"
)

// build makes control-plane machines and two workers.
func (h handmade) build() {
	h.T.Helper()
	for _, group := range []string{"legacy", "shared-network"} {
		h.PutAsUser("resourceGroups/"+group, "2021-04-01", object{"location": "eastus", "tags": object{"cost": "42"}})
	}
	h.PutAsUser(handNetwork+"networkSecurityGroups/office", networkVersion, object{"location": "eastus", "properties": object{"securityRules": []any{
		object{"name": "ssh", "properties": object{"protocol": "Tcp", "access": "Allow", "direction": "Inbound", "priority": 100,
			"sourcePortRange": "*", "destinationPortRange": "22", "sourceAddressPrefix": "192.0.2.0/24", "destinationAddressPrefix": "*"}}}}})
	h.PutAsUser(handNetwork+"virtualNetworks/shared", networkVersion, object{"location": "eastus", "properties": object{
		"addressSpace": object{"addressPrefixes": []any{"10.20.0.0/16"}},
		"subnets": []any{
			object{"name": "masters", "properties": object{"addressPrefix": "10.20.0.0/24", "networkSecurityGroup": object{"id": h.id(handNetwork + "networkSecurityGroups/office")}}},
			object{"name": "workers", "properties": object{"addressPrefix": "10.20.1.0/24"}},
			object{"name": "databases", "properties": object{"addressPrefix": "10.20.2.0/24"}}}}})
	h.PutAsUser(handGroup+"Microsoft.Network/publicIPAddresses/k8s-api", networkVersion, object{"location": "eastus", "sku": object{"name": "Standard"},
		"properties": object{"publicIPAllocationMethod": "Static", "dnsSettings": object{"domainNameLabel": "k8s-api-legacy"}}})
	lb := h.id(handGroup + "Microsoft.Network/loadBalancers/k8s-api")
	h.PutAsUser(handGroup+"Microsoft.Network/loadBalancers/k8s-api", networkVersion, object{"location": "eastus", "sku": object{"name": "Standard"},
		"properties": object{
			"frontendIPConfigurations": []any{object{"name": "front", "properties": object{"publicIPAddress": object{"id": h.id(handGroup + "Microsoft.Network/publicIPAddresses/k8s-api")}}}},
			"backendAddressPools":      []any{object{"name": "masters"}},
			"probes":                   []any{object{"name": "api", "properties": object{"protocol": "Tcp", "port": 6443, "intervalInSeconds": 5, "numberOfProbes": 2}}},
			"loadBalancingRules": []any{object{"name": "api", "properties": object{"protocol": "Tcp", "frontendPort": 443, "backendPort": 6443,
				"frontendIPConfiguration": object{"id": lb + "/frontendIPConfigurations/front"}, "backendAddressPool": object{"id": lb + "/backendAddressPools/masters"},
				"probe": object{"id": lb + "/probes/api"}}}},
		}})
	for i := range cmp.Or(h.masters, 3) {
		h.vm(fmt.Sprintf("master-%d", i), "masters", lb+"/backendAddressPools/masters")
	}
	for i := range 2 {
		h.vm(fmt.Sprintf("worker-%d", i), "workers", "")
	}
	h.PutAsUser(handGroup+"Microsoft.Compute/disks/data", "2024-03-02", object{"location": "eastus", "sku": object{"name": "Premium_LRS"},
		"properties": object{"creationData": object{"createOption": "Empty"}, "diskSizeGB": 32}})
}

// vm makes a virtual machine.
func (h handmade) vm(name, subnet, pool string) {
	h.T.Helper()
	properties := object{"primary": true, "privateIPAllocationMethod": "Dynamic", "subnet": object{"id": h.id(handNetwork + "virtualNetworks/shared/subnets/" + subnet)}}
	if pool != "" {
		properties["loadBalancerBackendAddressPools"] = []any{object{"id": pool}}
	}
	nic := handGroup + "Microsoft.Network/networkInterfaces/" + h.nic(name)
	image := object{"publisher": "Canonical", "offer": "ubuntu-24_04-lts", "sku": "server", "version": "latest"}
	if version := h.images[name]; version != "" {
		image = object{"communityGalleryImageId": "/communityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/images/capi-ubun2-2404/versions/" + version}
	}
	h.PutAsUser(nic, networkVersion, object{"location": "eastus", "properties": object{
		"ipConfigurations": []any{object{"name": h.configuration(name), "properties": properties}}}})
	h.PutAsUser(handGroup+"Microsoft.Compute/virtualMachines/"+name, computeVersion, object{"location": "eastus", "tags": object{"who": "ops"},
		"properties": object{
			"hardwareProfile": object{"vmSize": "Standard_D2s_v3"},
			"storageProfile": object{
				"imageReference": image,
				"osDisk":         object{"name": name + "_OsDisk_1_abc", "createOption": "FromImage", "managedDisk": object{"storageAccountType": "Premium_LRS"}}},
			"osProfile": object{"computerName": name, "adminUsername": "ops", "customData": "c2VjcmV0LXRva2Vu", "linuxConfiguration": object{
				"disablePasswordAuthentication": true, "ssh": object{"publicKeys": []any{object{"path": "/home/ops/.ssh/authorized_keys", "keyData": flavors.SSHKey}}}}},
			"networkProfile": object{"networkInterfaces": []any{object{"id": h.id(nic), "properties": object{"primary": true}}}},
		}})
}

// TestByHand imports clusters that kubeadm made on virtual machines of a user.
func TestByHand(t *testing.T) {
	for name, test := range map[string]struct {
		reason             string
		nic, configuration func(vm string) string
		machines, sets     int
		listed             string
	}{
		"names of az": {
			reason: "the names of interfaces do not fit, so the manifests have the network and the address, and the machines are listed",
			nic:    func(vm string) string { return vm + "VMNic" }, configuration: func(vm string) string { return "ipconfig" + vm },
			listed: "its network interface is master-0VMNic, and that of an AzureMachine has to be master-0-nic",
		},
		"fitting names": {
			reason: "the machines are taken over after they have the ownership tag",
			nic:    func(vm string) string { return vm + "-nic" }, configuration: func(string) string { return "pipConfig" },
			machines: 5, sets: 1,
			listed: "it does not carry the ownership tag, so the manifests use its address only",
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, plan.Features{}, func(s *virtual.Scenario) {
				handmade{Scenario: s, nic: test.nic, configuration: test.configuration}.build()
				got := mustImport(s, "--resource-group", "legacy", "--cluster", "legacy", "--kubernetes-version", "v1.34.2")
				dump(t, "byhand-"+strings.ReplaceAll(name, " ", "-"), got)
				if got.found {
					t.Errorf("%s: the plan of the manifests has changes or reports: %+v", test.reason, got.Check)
				}
				if !slices.ContainsFunc(got.Findings, func(f importing.Finding) bool { return strings.HasPrefix(f.Reason, test.listed) }) {
					t.Errorf("%s: no finding %q", test.reason, test.listed)
				}
				for _, secret := range []string{"c2VjcmV0LXRva2Vu", "secret-token"} {
					if strings.Contains(got.Manifests, secret) {
						t.Errorf("the manifests have the custom data")
					}
				}
				setTags(s, got.Tags)
				other := applyImport(s, got)
				machines := &infrav1.AzureMachineList{}
				if err := other.Kubernetes.List(t.Context(), machines); err != nil {
					t.Fatal(err)
				}
				if len(machines.Items) != test.machines || strings.Count(got.Manifests, "kind: MachineSet\n") != test.sets {
					t.Errorf("%s: %d AzureMachines, want %d; manifests:\n%s", test.reason, len(machines.Items), test.machines, got.Manifests)
				}
			})
		})
	}
}
