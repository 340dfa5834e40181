package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shownCase lists the values that a resource shows at some paths in a version; nil means absent.
type shownCase struct {
	reason, path, version string
	want                  map[string]any
}

func (a *azure) checkShown(t *testing.T, cases map[string]shownCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := a.sendRequest("GET", c.path+"?api-version="+c.version, nil)
			shown := map[string]any{}
			for path := range c.want {
				shown[path] = got.valueAt(path)
			}
			if diff := cmp.Diff(c.want, shown); got.status != 200 || diff != "" {
				t.Errorf("%s: %d (-want +got):\n%s", c.reason, got.status, diff)
			}
		})
	}
}

// A property that an api-version does not have is not shown in it, also where definitions/ has no such version. The
// same holds inside parents.
func TestShownByVersion(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	vnets := net + "/virtualNetworks/"
	a.mustSucceed("PUT", vnets+"other",
		obj{"location": "westus3", "properties": obj{"addressSpace": obj{"addressPrefixes": []any{"172.16.0.0/16"}}}})
	a.mustSucceed("PUT", vnets+"vnet/virtualNetworkPeerings/p", obj{"properties": obj{"remoteVirtualNetwork": newRef(vnets + "other")}})
	a.mustSucceed("PUT", net+"/natGateways/nat", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{}})
	a.mustSucceed("PUT", net+"/privateDnsZones/a.b?api-version=2024-06-01", obj{"location": "global"})
	a.mustSucceed("PUT", comp+"/disks/d",
		obj{"location": "westus3", "properties": obj{"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}}})
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	const profile = "properties.virtualMachineProfile."
	a.checkShown(t, map[string]shownCase{
		"network, old": {"recorded", vnets + "vnet", "2020-11-01",
			obj{"properties.privateEndpointVNetPolicies": nil, "properties.virtualNetworkPeerings.0.properties.peeringSyncLevel": nil,
				"properties.virtualNetworkPeerings.0.name": "p"}},
		"network": {"recorded", vnets + "vnet", "2024-03-01",
			obj{"properties.privateEndpointVNetPolicies": "Disabled",
				"properties.virtualNetworkPeerings.0.properties.peeringSyncLevel": "RemoteNotInSync"}},
		"peering, old": {"a peering that is read by itself has the properties of the version, too",
			vnets + "vnet/virtualNetworkPeerings/p", "2020-11-01",
			obj{"properties.peerCompleteVnets": nil, "properties.remoteVirtualNetworkAddressSpace": nil, "properties.peeringState": "Initiated"}},
		"peering": {"a peering that is read by itself is as within its network", vnets + "vnet/virtualNetworkPeerings/p", "2024-03-01",
			obj{"properties.peerCompleteVnets": true}},
		"address, old": {"recorded", net + "/publicIPAddresses/pip", "2020-11-01", obj{"properties.ddosSettings": nil}},
		"address": {"recorded", net + "/publicIPAddresses/pip", "2024-03-01",
			obj{"properties.ddosSettings.protectionMode": "VirtualNetworkInherited"}},
		"interface, old": {"recorded", net + "/networkInterfaces/nic0", "2020-11-01",
			obj{"properties.auxiliaryMode": nil, "properties.allowPort25Out": nil, "properties.disableTcpStateTracking": nil,
				"properties.auxiliarySku": nil, "properties.nicType": "Standard"}},
		"interface, 2022": {"recorded of private endpoints", net + "/networkInterfaces/nic0", "2022-01-01",
			obj{"properties.auxiliaryMode": "None", "properties.allowPort25Out": true, "properties.disableTcpStateTracking": nil,
				"properties.auxiliarySku": nil}},
		"NAT gateway": {"recorded", net + "/natGateways/nat", "2022-07-01",
			obj{"properties.type": nil, "properties.idleTimeoutInMinutes": 4.0}},
		"zone, old": {"recorded", net + "/privateDnsZones/a.b", "2018-09-01",
			obj{"properties.internalId": nil, "properties.maxNumberOfRecordSets": 25000.0}},
		"disk, old": {"recorded", comp + "/disks/d", "2020-09-30",
			obj{"properties.publicNetworkAccess": nil, "properties.networkAccessPolicy": "AllowAll"}},
		"disk": {"recorded", comp + "/disks/d", "2024-03-02", obj{"properties.publicNetworkAccess": "Enabled"}},
		"machine, old": {"recorded", comp + "/virtualMachines/vm0", "2020-12-01",
			obj{"properties.timeCreated": nil, "properties.storageProfile.diskControllerType": nil,
				"properties.storageProfile.osDisk.deleteOption":         nil,
				"properties.osProfile.linuxConfiguration.patchSettings": obj{"patchMode": "ImageDefault"}}},
		"machine, 2022": {"recorded", comp + "/virtualMachines/vm0", "2022-03-01",
			obj{"properties.storageProfile.diskControllerType": nil, "properties.storageProfile.osDisk.deleteOption": "Delete",
				"properties.osProfile.linuxConfiguration.patchSettings.assessmentMode": "ImageDefault"}},
		"scale set, old": {"recorded", pool, "2020-12-01",
			obj{"properties.timeCreated": nil, profile + "timeCreated": nil,
				profile + "osProfile.linuxConfiguration.enableVMAgentPlatformUpdates": nil}},
		"scale set, 2022": {"recorded", pool, "2022-03-01",
			obj{profile + "timeCreated": nil, profile + "storageProfile.diskControllerType": nil,
				profile + "osProfile.linuxConfiguration.enableVMAgentPlatformUpdates": false}},
	})
	if id, _ := a.sendRequest("GET", net+"/privateDnsZones/a.b?api-version=2024-06-01",
		nil).valueAt("properties.internalId").(string); !strings.HasPrefix(id, "SW1tdXRhYmxlWm9uZUlkZW50aXR5O") {
		t.Errorf("the internal ID is %q, recordings have ImmutableZoneIdentity in base64", id)
	}
}

// Azure does not show these values unless they were sent, although it has a default for them.
func TestShownOnlyWhenSaid(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", net+"/virtualNetworks/vnet/subnets/AzureBastionSubnet", obj{"properties": obj{"addressPrefix": "10.9.0.0/26"}})
	a.mustSucceed("PUT", net+"/publicIPAddresses/jump", publicIP("jump"))
	host := obj{"location": "westus3",
		"properties": obj{"ipConfigurations": []any{obj{"name": "ip",
			"properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/AzureBastionSubnet"),
				"publicIPAddress": newRef(net + "/publicIPAddresses/jump")}}}}}
	if r := a.sendRequest("PUT", net+"/bastionHosts/jump", host); r.valueAt("properties.provisioningState") != "Updating" ||
		r.valueAt("properties.ipConfigurations.0.properties.provisioningState") != "Succeeded" {
		t.Errorf("a new bastion host shows %v: recordings have its configuration ready at once", r.body)
	}
	a.sim.Settle()
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	const profile = "properties.virtualMachineProfile."
	a.checkShown(t, map[string]shownCase{
		"bastion host": {"recorded in 2022-07-01 and 2024-03-01", net + "/bastionHosts/jump", "2024-03-01",
			obj{"properties.enableTunneling": nil, "properties.disableCopyPaste": nil, "properties.scaleUnits": 2.0}},
		"machine": {"recorded in 2020-12-01 and 2022-03-01", comp + "/virtualMachines/vm0", "2022-03-01",
			obj{"properties.networkProfile.networkInterfaces.0.properties": nil}},
		"scale set": {"recorded in 2020-12-01 and 2022-03-01", pool, "2022-03-01",
			obj{profile + "osProfile.linuxConfiguration.patchSettings": nil, profile + "storageProfile.osDisk.deleteOption": nil,
				profile + "storageProfile.dataDisks": nil, profile + "storageProfile.imageReference.exactVersion": nil,
				profile + "storageProfile.osDisk.caching": "None"}},
		"instance": {"instances have them", pool + "/virtualMachines/0", "2022-03-01",
			obj{"properties.storageProfile.osDisk.deleteOption": "Delete", "properties.storageProfile.dataDisks": []any{}}},
	})
}

// While a resource is made, some providers show less or other things of it than later.
func TestShownWhileItIsMade(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	if r := a.sendRequest("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil)); r.valueAt("properties.storageProfile.osDisk.name") != nil {
		t.Errorf("the answer to PUT has the name %v, which Azure has not yet made up", r.valueAt("properties.storageProfile.osDisk.name"))
	}
	a.sim.Settle()
	if name, _ := a.sendRequest("GET", comp+"/virtualMachines/vm0",
		nil).valueAt("properties.storageProfile.osDisk.name").(string); !strings.HasPrefix(name, "vm0_OsDisk_1_") {
		t.Errorf("later its name is %q", name)
	}

	disk := obj{"name": "d", "location": "westus3", "sku": obj{"name": "Premium_LRS"},
		"properties": obj{"diskSizeGB": 500, "creationData": obj{"createOption": "Empty"}}}
	echo := a.sendRequest("PUT", comp+"/disks/d", disk)
	want := obj{"id": comp + "/disks/d", "name": "d", "type": "Microsoft.Compute/disks", "location": "westus3",
		"sku":        obj{"name": "Premium_LRS"},
		"properties": obj{"diskSizeGB": 500.0, "creationData": obj{"createOption": "Empty"}, "provisioningState": "Updating"}}
	if diff := cmp.Diff(want, echo.body); diff != "" {
		t.Errorf("an accepted PUT of a disk is answered with the sent body (-want +got):\n%s", diff)
	}
	a.sim.Settle()
	a.mustSucceed("PUT", comp+"/disks/s",
		obj{"location": "westus3", "sku": obj{"name": "Standard_LRS"},
			"properties": obj{"diskSizeGB": 32, "creationData": obj{"createOption": "Empty"}}})
	a.mustSucceed("PUT", comp+"/disks/g",
		obj{"location": "westus3", "sku": obj{"name": "Premium_LRS"},
			"properties": obj{"diskSizeGB": 32, "creationData": obj{"createOption": "Empty"}}})
	a.mustSucceed("PUT", comp+"/disks/g",
		obj{"location": "westus3", "properties": obj{"diskSizeGB": 1024, "creationData": obj{"createOption": "Empty"}}})
	a.checkShown(t, map[string]shownCase{
		"limits of hard disks": {"published", comp + "/disks/s", "2024-03-02",
			obj{"properties.tier": nil, "properties.diskIOPSReadWrite": 500.0, "properties.diskMBpsReadWrite": 60.0}},
		"limits that grow": {"published", comp + "/disks/g", "2024-03-02",
			obj{"properties.tier": "P30", "properties.diskIOPSReadWrite": 5000.0, "properties.diskMBpsReadWrite": 200.0}},
	})
	a.checkShown(t, map[string]shownCase{"limits of a tier": {"published by tier", comp + "/disks/d", "2024-03-02",
		obj{"properties.tier": "P20", "properties.diskIOPSReadWrite": 2300.0, "properties.diskMBpsReadWrite": 150.0}}})
	delete(disk, "sku")
	if r := a.sendRequest("PUT", comp+"/disks/d", disk); r.valueAt("sku.tier") != "Premium" || r.valueAt("properties.tier") != "P20" ||
		r.valueAt("properties.diskIOPSReadWrite") != nil {
		t.Errorf("an update is answered with %v, want the sent body and the present SKU and tier", r.body)
	}
	a.sim.Settle()

	set := a.sendRequest("PUT", comp+"/availabilitySets/as",
		obj{"location": "westus3", "sku": obj{"name": "Aligned"}, "properties": obj{"platformFaultDomainCount": 2}})
	if shown := a.sendRequest("GET", comp+"/availabilitySets/as", nil); set.valueAt("properties.virtualMachines") != nil ||
		shown.valueAt("properties.virtualMachines") == nil {
		t.Errorf("an empty availability set lists its machines in %v and %v, want only when it is read", set.body, shown.body)
	}

	const account = groupA + "/providers/Microsoft.Storage/storageAccounts/blobs"
	a.mustSucceed("PUT", account+"?api-version=2023-01-01",
		obj{"location": "westus3", "kind": "BlobStorage", "sku": obj{"name": "Standard_LRS"}, "properties": obj{"accessTier": "Hot"}})
	endpoint := net + "/privateEndpoints/pe"
	made := a.sendRequest("PUT", endpoint,
		obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"privateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": account, "groupIds": []any{"blob"}}}}}})
	const description = "properties.privateLinkServiceConnections.0.properties.privateLinkServiceConnectionState.description"
	if made.valueAt(description) != "Auto Approved" || made.valueAt("properties.applicationSecurityGroups") != nil {
		t.Errorf("a new private endpoint shows %v", made.body)
	}
	a.sim.Settle()
	done := a.sendRequest("GET", endpoint+"?api-version=2022-07-01", nil)
	if done.valueAt(description) != "Auto-Approved" || done.valueAt("properties.isIPv6EnabledPrivateEndpoint") != nil {
		t.Errorf("it becomes %v", done.body)
	}
	a.checkShown(t, map[string]shownCase{"its interface": {"recorded", done.valueAt("properties.networkInterfaces.0.id").(string),
		"2022-01-01", obj{"kind": "Regular", "managedBy": endpoint, "properties.macAddress": "",
			"properties.ipConfigurations.0.properties.privateLinkConnectionProperties": obj{"groupId": "blob", "requiredMemberName": "blob",
				"fqdns": []any{"blobs.blob.core.windows.net"}}}}})
	a.mustSucceed("PUT", net+"/privateDnsZones/a.b", obj{"location": "global"})
	zones := a.sendRequest("PUT", endpoint+"/privateDnsZoneGroups/g",
		obj{"properties": obj{"privateDnsZoneConfigs": []any{obj{"name": "z",
			"properties": obj{"privateDnsZoneId": net + "/privateDnsZones/a.b"}}}}})
	if zones.valueAt("properties.privateDnsZoneConfigs.0.properties.recordSets.0.provisioningState") != "Updating" {
		t.Errorf("a new zone group shows %v, want its records to be in the making", zones.body)
	}
}

// Service endpoints and delegations of a subnet depend on their service, and are in state Updating as long as the subnet is.
func TestServicesOfSubnets(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const id = net + "/virtualNetworks/vnet/subnets/db"
	made := a.sendRequest("PUT", id,
		obj{"properties": obj{"addressPrefix": "10.8.0.0/24",
			"serviceEndpoints": []any{obj{"service": "Microsoft.Sql"}, obj{"service": "Microsoft.KeyVault"}},
			"delegations":      []any{obj{"name": "d", "properties": obj{"serviceName": "Microsoft.DBforMySQL/flexibleServers"}}}}})
	if made.valueAt("properties.serviceEndpoints.0.provisioningState") != "Updating" {
		t.Errorf("a new subnet shows %v", made.body)
	}
	a.sim.Settle()
	a.checkShown(t, map[string]shownCase{"subnet": {"recorded", id, "2020-11-01",
		obj{"properties.serviceEndpoints.0.provisioningState": "Succeeded", "properties.serviceEndpoints.0.locations": []any{"westus3"},
			"properties.serviceEndpoints.1.locations":     []any{"*"},
			"properties.delegations.0.properties.actions": []any{"Microsoft.Network/virtualNetworks/subnets/join/action"}}}})
}

// Errors name resources that can be written: an IP configuration has no URL for writes, so its interface is named.
func TestErrorsNameWholeResources(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	id := net + "/networkInterfaces/nic0"
	inner := func(r response) string { return r.valueAt("error.details.0.message").(string) }
	if got := a.sendRequest("PUT", id, newNIC("none", nil)).errorMessage(); !strings.Contains(got,
		"referenced by resource "+id+" was not found") {
		t.Errorf("a missing subnet: %s", got)
	}
	a.sendRequest("PUT", net+"/publicIPAddresses/pip", publicIP("api"))
	if got := inner(a.sendRequest("PUT", id,
		newNIC("cp", obj{"publicIPAddress": newRef(net + "/publicIPAddresses/pip")}))); !strings.Contains(got,
		"used by resource "+id+" is not") || !strings.Contains(got, "PutPublicIpAddressOperation") {
		t.Errorf("an address that is being made: %s", got)
	}
	a.sim.Settle()
	for typ, want := range map[string]string{"disks/x": "Disk x is not found.", "snapshots/x": "Snapshot x is not found.",
		"diskAccesses/x": "DiskAccess object x not found."} {
		if got := a.sendRequest("GET", comp+"/"+typ, nil); got.status != 404 || got.errorCode() != "ResourceNotFound" {
			t.Errorf("%s, which never was: %q, want Resource Manager's answer", typ, got.errorCode())
		}
		made := obj{"location": "westus3"}
		if typ != "diskAccesses/x" {
			made["properties"] = obj{"diskSizeGB": 8, "creationData": obj{"createOption": "Empty"}}
		}
		a.mustSucceed("PUT", comp+"/"+typ, made)
		a.mustSucceed("DELETE", comp+"/"+typ, nil)
		if got := a.sendRequest("GET", comp+"/"+typ, nil); got.status != 404 || got.errorMessage() != want {
			t.Errorf("%s, just deleted: %q, want %q", typ, got.errorMessage(), want)
		}
		a.sim.Advance(time.Hour)
		if got := a.sendRequest("GET", comp+"/"+typ, nil); got.errorCode() != "ResourceNotFound" {
			t.Errorf("%s, deleted an hour ago: %q, want Resource Manager's answer", typ, got.errorCode())
		}
	}
}

// Operations end with the properties that their provider shows of them: some show only the state.
func TestPollsOfTheirOwn(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const workspace, account = groupA + "/providers/Microsoft.OperationalInsights/workspaces/logs",
		groupA + "/providers/Microsoft.Monitor/accounts/metrics"
	made := a.sendRequest("PUT", workspace+"?api-version=2023-09-01", obj{"location": "westus3", "properties": obj{}})
	a.sim.Settle()
	if got := a.sendRequest("GET", made.header.Get("Azure-AsyncOperation"), nil); got.valueAt("status") != "Succeeded" ||
		!cmp.Equal(got.valueAt("properties"), obj{}) {
		t.Errorf("a workspace is made with %v, want an empty result, as recorded", got.body)
	}
	a.mustSucceed("PUT", account+"?api-version=2023-04-03", obj{"location": "westus3", "properties": obj{}})
	gone := a.sendRequest("DELETE", account+"?api-version=2023-04-03", nil)
	for _, want := range []string{"InProgress", "Succeeded"} {
		got := a.sendRequest("GET", gone.header.Get("Azure-AsyncOperation"), nil)
		if diff := cmp.Diff(obj{"status": want}, got.body); diff != "" || got.header.Get("Retry-After") == "" {
			t.Errorf("an account's deletion tells its state and a time to wait only, as recorded (-want +got):\n%s", diff)
		}
		a.sim.Settle()
	}
}

// Extensions of scale sets are not like those of machines.
func TestExtensionsShown(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	extension := obj{"location": "westus3",
		"properties": obj{"publisher": "Microsoft.Azure.Extensions", "type": "CustomScript", "typeHandlerVersion": "2.1"}}
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0/extensions/script", extension)
	delete(extension, "location")
	if made := a.sendRequest("PUT", pool+"/extensions/script", extension); made.valueAt("properties.provisioningState") != "Creating" {
		t.Errorf("a new extension of a scale set is %v, recordings have it Creating", made.body)
	}
	a.sim.Settle()
	const first = "properties.virtualMachineProfile.extensionProfile.extensions.0"
	a.checkShown(t, map[string]shownCase{
		"in the scale set": {"recorded", pool, "2022-03-01", obj{first + ".name": "script", first + ".id": nil, first + ".type": nil}},
		"old":              {"recorded", comp + "/virtualMachines/vm0/extensions/script", "2022-03-01", obj{"properties.suppressFailures": nil}},
		"new": {"published", comp + "/virtualMachines/vm0/extensions/script", "2024-03-01",
			obj{"properties.suppressFailures": false}},
	})
	for path, want := range map[string]any{pool + "/extensions/none": nil, comp + "/virtualMachines/vm0/extensions/none": "extensionName"} {
		if got := a.sendRequest("GET", path, nil); got.valueAt("error.target") != want || got.errorCode() != "NotFound" {
			t.Errorf("%s: %v, want target %v", path, got.body, want)
		}
	}
}

// A resource shows the private endpoints that lead to it.
func TestDiskAccessOfPrivateEndpoint(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	const access = comp + "/diskAccesses/disks"
	a.mustSucceed("PUT", access, obj{"location": "westus3"})
	a.mustSucceed("PUT", net+"/privateEndpoints/pe",
		obj{"location": "westus3", "properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/node"),
			"privateLinkServiceConnections": []any{obj{"name": "c",
				"properties": obj{"privateLinkServiceId": access, "groupIds": []any{"disks"}}}}}})
	a.checkShown(t, map[string]shownCase{"disk access": {"recorded", access, "2024-03-02",
		obj{"properties.privateEndpointConnections.0.properties.privateEndpoint.id": net + "/privateEndpoints/pe",
			"properties.privateEndpointConnections.0.properties.privateLinkServiceConnectionState.status": "Approved",
			"properties.privateEndpointConnections.0.type":                                                "Microsoft.Compute/diskAccesses/PrivateEndpointConnections"}}})
}

// The answer to the write of a role differs from a later read.
func TestRolesThatAreNew(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	const role = "11111111-2222-4333-8444-555555555555"
	made := a.mustSucceed("PUT", groupA+"/providers/Microsoft.Authorization/roleDefinitions/"+role+"?api-version=2022-04-01",
		obj{"properties": obj{"roleName": "custom", "assignableScopes": []any{groupA}, "permissions": []any{obj{"actions": []any{"*/read"}}}}})
	if made.valueAt("properties.createdBy") != nil ||
		made.valueAt("id") != "/subscriptions/"+sub+"/providers/Microsoft.Authorization/roleDefinitions/"+role {
		t.Errorf("a new role definition shows %v: in recordings it has no creator yet, and the ID of the subscription's", made.body)
	}
	wrong := a.sendRequest("PUT", groupA+"/providers/Microsoft.Authorization/roleAssignments/"+role+"?api-version=2022-04-01",
		obj{"properties": obj{"roleDefinitionId": "/subscriptions/" + sub + "/providers/Microsoft.Authorization/roleDefinitions/" + role,
			"principalId": "me"}})
	if want := "The Principal ID 'me' is not valid. Principal ID must be a GUID."; wrong.errorMessage() != want {
		t.Errorf("%q, recordings have %q", wrong.errorMessage(), want)
	}
	if shown := a.sendRequest("GET", groupA+"/providers/Microsoft.Authorization/roleDefinitions/"+role+"?api-version=2022-04-01",
		nil); shown.valueAt("properties.createdBy") == nil {
		t.Errorf("later it has no creator: %v", shown.body)
	}
}
