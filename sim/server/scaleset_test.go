package server_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

const pool = comp + "/virtualMachineScaleSets/pool"

// scaleSet returns a valid scale set of the subnet "node"; change edits its document.
func scaleSet(capacity int, change func(set, profile obj)) obj {
	profile := obj{
		"osProfile": obj{"computerNamePrefix": "pool", "adminUsername": "capi", "customData": cloudInit,
			"linuxConfiguration": obj{"disablePasswordAuthentication": true,
				"ssh": obj{"publicKeys": []any{obj{"path": "/home/capi/.ssh/authorized_keys", "keyData": "ssh-rsa AAAA"}}}}},
		"storageProfile": obj{
			"imageReference": obj{"communityGalleryImageId": "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.33.1"},
			"osDisk":         obj{"createOption": "FromImage", "managedDisk": obj{"storageAccountType": "Premium_LRS"}},
		},
		"networkProfile": obj{"networkInterfaceConfigurations": []any{obj{"name": "nic",
			"properties": obj{"primary": true, "ipConfigurations": []any{
				obj{"name": "ip0", "properties": obj{"primary": true, "subnet": newRef(net + "/virtualNetworks/vnet/subnets/node")}}}}}}},
	}
	set := obj{"location": "westus3", "zones": []any{"1", "2"}, "sku": obj{"name": "Standard_D2s_v3", "capacity": capacity},
		"properties": obj{"upgradePolicy": obj{"mode": "Manual"}, "overprovision": false, "singlePlacementGroup": false,
			"virtualMachineProfile": profile}}
	if change != nil {
		change(set, profile)
	}
	return set
}

func TestScaleSetWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	a.createBase()
	sets, err := armcompute.NewVirtualMachineScaleSetsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	vms, err := armcompute.NewVirtualMachineScaleSetVMsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	apply := func(capacity int, change func(set, profile obj)) armcompute.VirtualMachineScaleSetsClientCreateOrUpdateResponse {
		t.Helper()
		p, err := sets.BeginCreateOrUpdate(ctx, "rg", "pool", decodeInto[armcompute.VirtualMachineScaleSet](t, scaleSet(capacity, change)), nil)
		got, err := pollUntilDone(a, p, err)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	list := func() map[string]*armcompute.VirtualMachineScaleSetVM {
		t.Helper()
		out := map[string]*armcompute.VirtualMachineScaleSetVM{}
		pager := vms.NewListPager("rg", "pool", &armcompute.VirtualMachineScaleSetVMsClientListOptions{Expand: new("instanceView")})
		for pager.More() {
			page, err := pager.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, vm := range page.Value {
				out[*vm.InstanceID] = vm
			}
		}
		return out
	}
	made := apply(3, nil)
	if made.Properties.VirtualMachineProfile.OSProfile.CustomData != nil || *made.Properties.UniqueID == "" {
		t.Error("custom data came back, or there is no unique ID")
	}
	got := list()
	if len(got) != 3 {
		t.Fatalf("%d instances, want 3", len(got))
	}
	zones := map[string]int{}
	for id, vm := range got {
		zones[*vm.Zones[0]]++
		view := vm.Properties.InstanceView.Statuses
		if *vm.ID != pool+"/virtualMachines/"+id || *vm.Name != "pool_"+id || *vm.Properties.OSProfile.ComputerName != "pool00000"+id ||
			!*vm.Properties.LatestModelApplied ||
			*vm.Properties.ProvisioningState != "Succeeded" || *view[len(view)-1].Code != "PowerState/running" {
			t.Errorf("instance %s: %s %s %s %s", id, *vm.ID, *vm.Name, *vm.Properties.OSProfile.ComputerName, *vm.Properties.ProvisioningState)
		}
	}
	if zones["1"] != 2 || zones["2"] != 1 {
		t.Errorf("instances per zone %v, want them spread", zones)
	}
	nic := a.sendRequest("GET", pool+"/virtualMachines/1/networkInterfaces/nic", nil)
	if ip := nic.valueAt("properties.ipConfigurations.0.properties.privateIPAddress"); ip != "10.1.0.5" {
		t.Errorf("the second instance has the address %v, want 10.1.0.5", ip)
	}

	newer := func(_, profile obj) {
		profile["storageProfile"].(obj)["imageReference"] = obj{
			"communityGalleryImageId": "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.34.0"}
	}
	apply(4, newer)
	for id, vm := range list() {
		if *vm.Properties.LatestModelApplied != (id == "3") {
			t.Errorf("instance %s: latestModelApplied %v after the image changed; only the new instance has it", id,
				*vm.Properties.LatestModelApplied)
		}
	}
	up, err := sets.BeginUpdateInstances(ctx, "rg", "pool",
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{new("0")}}, nil)
	if _, err := pollUntilDone(a, up, err); err != nil {
		t.Fatal(err)
	}
	if vm := list()["0"]; !*vm.Properties.LatestModelApplied ||
		!strings.HasSuffix(*vm.Properties.StorageProfile.ImageReference.CommunityGalleryImageID, "1.34.0") {
		t.Error("manual upgrade did not bring instance 0 to the latest model")
	}

	del, err := vms.BeginDelete(ctx, "rg", "pool", "1", nil)
	if _, err := pollUntilDone(a, del, err); err != nil {
		t.Fatal(err)
	}
	more, err := sets.BeginDeleteInstances(ctx, "rg", "pool",
		armcompute.VirtualMachineScaleSetVMInstanceRequiredIDs{InstanceIDs: []*string{new("2")}}, nil)
	if _, err := pollUntilDone(a, more, err); err != nil {
		t.Fatal(err)
	}
	if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 2.0 {
		t.Errorf("capacity %v after two of four instances were deleted, want 2", n)
	}
	off, err := vms.BeginDeallocate(ctx, "rg", "pool", "0", nil)
	if _, err := pollUntilDone(a, off, err); err != nil {
		t.Fatal(err)
	}
	view, err := sets.GetInstanceView(ctx, "rg", "pool", nil)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int32{}
	for _, s := range view.VirtualMachine.StatusesSummary {
		counts[*s.Code] = *s.Count
	}
	if counts["PowerState/running"] != 1 || counts["PowerState/deallocated"] != 1 {
		t.Errorf("instance view counts %v", counts)
	}
	apply(3, newer)
	if got := list(); len(got) != 3 || got["4"] == nil {
		t.Errorf("after scaling out there are %d instances; numbers are not used again", len(got))
	}
	gone, err := sets.BeginDelete(ctx, "rg", "pool", nil)
	if _, err := pollUntilDone(a, gone, err); err != nil {
		t.Fatal(err)
	}
	for id := range a.storedResources() {
		if strings.Contains(strings.ToLower(id), "/virtualmachinescalesets/") || strings.Contains(strings.ToLower(id), "/disks/") {
			t.Errorf("%s is left after the scale set was deleted", id)
		}
	}
	a.mustSucceed("DELETE", net+"/virtualNetworks/vnet", nil)
}

// storedResources returns all stored resources by ID.
func (a *azure) storedResources() map[string]bool {
	out := map[string]bool{}
	for _, r := range a.sim.State() {
		out[r["id"].(string)] = true
	}
	return out
}

func TestScaleSetPaging(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.PageSize = 2 })
	a.createBase()
	a.mustSucceed("PUT", pool, scaleSet(5, nil))
	seen, path := map[any]bool{}, pool+"/virtualMachines"
	for pages := 0; path != "" && pages < 4; pages++ {
		r := a.sendRequest("GET", path, nil)
		for _, e := range r.valueAt("value").([]any) {
			seen[e.(obj)["instanceId"]] = true
		}
		path, _ = r.valueAt("nextLink").(string)
	}
	if len(seen) != 5 || path != "" {
		t.Errorf("%d instances in the pages, want 5", len(seen))
	}
}

func TestScaleSetRefusals(t *testing.T) {
	prop := func(key string, value any) func(set, _ obj) {
		return func(set, _ obj) { set["properties"].(obj)[key] = value }
	}
	cases := map[string]struct {
		reason  string
		setup   func(a *azure)
		change  func(set, profile obj)
		status  int
		code    string
		message string
	}{
		"no upgrade policy": {"a uniform scale set must have an upgrade mode", nil, prop("upgradePolicy", obj{}), 400, "InvalidParameter",
			"upgradePolicy.mode"},
		"fault domains": {"a flexible scale set must have a number of fault domains", nil, prop("orchestrationMode", "Flexible"), 400, "InvalidParameter",
			"platformFaultDomainCount"},
		"orchestration": {"there are two modes", nil, prop("orchestrationMode", "Other"), 400, "InvalidParameter", "Flexible, Uniform"},
		"no model": {"instances need a model", nil, prop("virtualMachineProfile", obj{}), 400, "InvalidParameter",
			"virtualMachineProfile"},
		"capacity": {"one placement group holds 100 instances", nil, func(set, _ obj) {
			set["sku"].(obj)["capacity"] = 101
			delete(set["properties"].(obj), "singlePlacementGroup")
		}, 400, "InvalidParameter", "0 to 100"},
		"unknown size": {"sizes are checked", nil, func(set, _ obj) { set["sku"].(obj)["name"] = "Standard_Nope" }, 400, "InvalidParameter",
			"Standard_Nope"},
		"custom data": {"custom data must be base64", nil, func(_, p obj) { p["osProfile"].(obj)["customData"] = "#cloud-config" }, 400,
			"InvalidParameter", "Base64"},
		"Windows prefix": {"names of Windows computers have 15 characters, six of them for the number", nil, func(_, p obj) {
			p["osProfile"] = obj{"computerNamePrefix": "windowspool", "adminUsername": "capi", "adminPassword": "x", "windowsConfiguration": obj{}}
		}, 400, "InvalidParameter", "the maximum is 9"},
		"no interface": {"instances need an interface", nil, func(_, p obj) { p["networkProfile"] = obj{} }, 400, "InvalidParameter",
			"networkInterfaceConfigurations"},
		"unknown subnet": {"references are checked", nil, func(_, p obj) {
			p["networkProfile"] = obj{"networkInterfaceConfigurations": []any{obj{"name": "nic",
				"properties": obj{"ipConfigurations": []any{obj{"name": "ip0",
					"properties": obj{"subnet": newRef(net + "/virtualNetworks/vnet/subnets/none")}}}}}}}
		}, 400, "InvalidResourceReference", "subnets/none"},
		"load balancer of another region": {"load balancers are regional", func(a *azure) {
			a.mustSucceed("PUT", net+"/loadBalancers/east",
				obj{"location": "eastus", "properties": obj{"backendAddressPools": []any{obj{"name": "pool"}}}})
		}, func(_, p obj) {
			ip := valueAt(p, "networkProfile.networkInterfaceConfigurations.0.properties.ipConfigurations.0.properties").(obj)
			ip["loadBalancerBackendAddressPools"] = newRefs(net + "/loadBalancers/east/backendAddressPools/pool")
		}, 400, "InvalidResourceReference", "loadBalancers/east"},
		"no application security group": {"references are checked", nil, func(_, p obj) {
			ip := valueAt(p, "networkProfile.networkInterfaceConfigurations.0.properties.ipConfigurations.0.properties").(obj)
			ip["applicationSecurityGroups"] = newRefs(net + "/applicationSecurityGroups/none")
		}, 400, "InvalidResourceReference", "applicationSecurityGroups/none"},
		"no image": {"images are checked", nil, func(_, p obj) { imageRef("id", comp+"/images/none")(p) }, 404, "NotFound",
			"not found in this Azure location"},
		"no key": {"keys are checked", nil, func(_, p obj) { osDisk(diskSetKey("none"))(p) }, 404, "NotFound",
			"not found in this Azure location"},
		"no password": {"Windows has no SSH keys", nil, func(_, p obj) {
			p["osProfile"] = obj{"computerNamePrefix": "win", "adminUsername": "capi", "windowsConfiguration": obj{}}
			p["storageProfile"].(obj)["imageReference"] = obj{"publisher": "MicrosoftWindowsServer", "offer": "WindowsServer", "sku": "2022",
				"version": "latest"}
		}, 400, "InvalidParameter", "adminPassword"},
		"eviction without spot": {"only spot instances are evicted", nil, func(_, p obj) { p["evictionPolicy"] = "Delete" }, 400,
			"InvalidParameter", "Spot"},
		"prefix changed": {"names of computers cannot change", func(a *azure) { a.mustSucceed("PUT", pool, scaleSet(0, nil)) },
			func(_, p obj) { p["osProfile"].(obj)["computerNamePrefix"] = "other" }, 409, "PropertyChangeNotAllowed",
			"computerNamePrefix"},
		"zone taken away": {"zones can only be added", func(a *azure) { a.mustSucceed("PUT", pool, scaleSet(0, nil)) },
			func(set, _ obj) { set["zones"] = []any{"1"} }, 409, "PropertyChangeNotAllowed", "zone 2"},
		"spot afterwards": {"VMs cannot become spot VMs", func(a *azure) { a.mustSucceed("PUT", pool, scaleSet(0, nil)) },
			func(_, p obj) { p["priority"] = "Spot" }, 409, "PropertyChangeNotAllowed", "priority"},
		"quota": {"every instance takes its cores from the quota", nil, func(set, _ obj) { set["sku"].(obj)["capacity"] = 6 }, 409,
			"OperationNotAllowed", "Additional Required: 12"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t, func(o *server.Options) { o.Quota = map[string]int{"cores": 10} })
			a.createBase()
			if c.setup != nil {
				c.setup(a)
			}
			r := a.sendRequest("PUT", pool, scaleSet(1, c.change))
			if r.status != c.status || r.errorCode() != c.code || !strings.Contains(r.errorMessage(), c.message) {
				t.Errorf("%s: %d %s %q, want %d %s with %q", c.reason, r.status, r.errorCode(), r.errorMessage(), c.status, c.code, c.message)
			}
		})
	}
}

func TestScaleSetInstancesAreGuests(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createBase()
	a.callControl("GET", "/_sim/guests?after=0&wait=1", nil, nil)
	withExtension := func(_, profile obj) {
		profile["extensionProfile"] = obj{"extensions": []any{obj{"name": "boot",
			"properties": obj{"publisher": "Microsoft.Azure.ContainerUpstream", "type": "CAPZ.Linux.Bootstrapping", "typeHandlerVersion": "1.0",
				"protectedSettings": obj{"commandToExecute": "secret"}}}}}
	}
	if r := a.sendRequest("PUT", pool, scaleSet(2, withExtension)); r.status != 201 {
		t.Fatalf("%d %v", r.status, r.body)
	}
	a.sim.Advance(2 * time.Minute)
	var page struct{ Guests []server.Guest }
	a.callControl("GET", "/_sim/guests", nil, &page)
	guests := page.Guests
	if len(guests) != 2 || guests[0].CustomData != cloudInit || guests[0].ComputerName != "pool000000" || len(guests[0].NICs) != 1 ||
		guests[0].NICs[0].PrivateIPs[0] != "10.1.0.4" {
		t.Fatalf("guests %+v", guests)
	}
	if state := a.sendRequest("GET", pool, nil).valueAt("properties.provisioningState"); state != "Creating" {
		t.Errorf("the set is %v while its guests boot, want Creating", state)
	}
	a.callControl("PUT", "/_sim/guests/status", obj{"vmID": guests[0].VMID, "phase": "Running"}, nil)
	a.callControl("PUT", "/_sim/guests/status", obj{"vmID": guests[1].VMID, "phase": "Failed", "message": "kubeadm join: no route"}, nil)
	a.sim.Advance(5 * time.Second)
	set, ok, bad := a.sendRequest("GET", pool, nil), a.sendRequest("GET", guests[0].VMID, nil), a.sendRequest("GET", guests[1].VMID, nil)
	if set.valueAt("properties.provisioningState") != "Failed" || ok.valueAt("properties.provisioningState") != "Succeeded" ||
		bad.valueAt("properties.provisioningState") != "Failed" {
		t.Errorf("states %v %v %v", set.valueAt("properties.provisioningState"), ok.valueAt("properties.provisioningState"),
			bad.valueAt("properties.provisioningState"))
	}
	if s := ok.valueAt("resources.0.properties.provisioningState"); s != "Succeeded" {
		t.Errorf("the extension of the instance that joined is %v", s)
	}
	if s := bad.valueAt("resources.0.properties.provisioningState"); s != "Failed" {
		t.Errorf("the extension of the instance that failed is %v", s)
	}
	if ext := a.sendRequest("GET", pool+"/extensions/boot", nil); ext.valueAt("properties.type") != "CAPZ.Linux.Bootstrapping" ||
		ext.valueAt("properties.protectedSettings") != nil {
		t.Errorf("the extension of the model: %v", ext.body)
	}
}

func makeFlexible(set, profile obj) {
	p := set["properties"].(obj)
	delete(p, "upgradePolicy")
	p["orchestrationMode"], p["platformFaultDomainCount"] = "Flexible", 1
	profile["networkProfile"].(obj)["networkApiVersion"] = "2020-11-01"
	profile["extensionProfile"] = obj{"extensions": []any{obj{"name": "boot",
		"properties": obj{"publisher": "Microsoft.Azure.ContainerUpstream", "type": "CAPZ.Linux.Bootstrapping", "typeHandlerVersion": "1.0"}}}}
}

func TestFlexibleScaleSet(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createBase()
	a.mustSucceed("PUT", pool, scaleSet(2, makeFlexible))
	filter := comp + "/virtualMachines?$filter=" + url.QueryEscape("'virtualMachineScaleSet/id' eq '"+pool+"'")
	machines := func() (ids []string) {
		t.Helper()
		for _, e := range a.sendRequest("GET", filter, nil).valueAt("value").([]any) {
			ids = append(ids, e.(obj)["id"].(string))
		}
		return ids
	}
	made := machines()
	if len(made) != 2 {
		t.Fatalf("machines %v, want two", made)
	}
	zones := map[any]bool{}
	for _, id := range made {
		vm := a.sendRequest("GET", id, nil)
		nic := a.sendRequest("GET", fmt.Sprint(vm.valueAt("properties.networkProfile.networkInterfaces.0.id")), nil)
		zones[vm.valueAt("zones.0")] = true
		if vm.valueAt("properties.provisioningState") != "Succeeded" || vm.valueAt("properties.hardwareProfile.vmSize") != "Standard_D2s_v3" ||
			vm.valueAt("resources.0.properties.provisioningState") != "Succeeded" ||
			nic.status != 200 || valueAt(nic.body, "properties.virtualMachine.id") != id {
			t.Errorf("machine %v with interface %v", vm.body, nic.body)
		}
	}
	if len(zones) != 2 {
		t.Errorf("zones %v, want the machines spread", zones)
	}
	listed := a.sendRequest("GET", pool+"/virtualMachines", nil)
	if name := made[0][strings.LastIndexByte(made[0], '/')+1:]; listed.valueAt("value.0.id") != pool+"/virtualMachines/"+name ||
		listed.valueAt("value.0.instanceId") != name {
		t.Errorf("instances as the scale set lists them: %v", listed.body)
	}
	var page struct{ Guests []server.Guest }
	a.callControl("GET", "/_sim/guests", nil, &page)
	if len(page.Guests) != 2 || page.Guests[0].CustomData != cloudInit || !strings.HasPrefix(page.Guests[0].ComputerName, "pool") {
		t.Errorf("guests %+v", page.Guests)
	}
	a.mustSucceed("DELETE", made[0], nil)
	if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 1.0 {
		t.Errorf("capacity %v after one of two machines was deleted, want 1", n)
	}
	if r := a.sendRequest("POST", pool+"/manualupgrade", obj{"instanceIds": []any{"*"}}); r.status != 409 ||
		r.errorCode() != "OperationNotAllowed" {
		t.Errorf("manual upgrade = %d %s, want 409", r.status, r.errorCode())
	}
	a.mustSucceed("PUT", pool, scaleSet(3, makeFlexible))
	if got := machines(); len(got) != 3 {
		t.Errorf("machines %v after scaling out to three", got)
	}
	a.mustSucceed("PUT", pool, scaleSet(1, makeFlexible))
	if got := machines(); len(got) != 1 || got[0] != made[1] {
		t.Errorf("machines %v after scaling in to one, want the oldest %s", got, made[1])
	}
	a.mustSucceed("DELETE", pool, nil)
	for id := range a.storedResources() {
		if strings.HasPrefix(id, comp) || strings.Contains(id, "/networkInterfaces/") {
			t.Errorf("%s is left after the scale set was deleted", id)
		}
	}
	empty := obj{"location": "westus3", "properties": obj{"orchestrationMode": "Flexible", "platformFaultDomainCount": 1}}
	if r := a.sendRequest("PUT", pool, empty); r.status != 201 || r.valueAt("properties.virtualMachineProfile") != nil {
		t.Errorf("a flexible scale set without a model = %d %v", r.status, r.body)
	}
}

func TestSpotInstanceIsEvicted(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", pool, scaleSet(2, func(_, p obj) { p["priority"], p["evictionPolicy"] = "Spot", "Delete" }))
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Evict, Now: true, ID: strings.ToLower(pool + "/virtualMachines/0")}); err != nil {
		t.Fatal(err)
	}
	if r := a.sendRequest("GET", pool+"/virtualMachines/0", nil); r.status != 404 || r.errorCode() != "NotFound" {
		t.Errorf("the evicted instance: %d %s", r.status, r.errorCode())
	}
	if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 1.0 {
		t.Errorf("capacity %v after an eviction with policy Delete, want 1", n)
	}
}

func TestNodesOfAKSAreNoGuests(t *testing.T) {
	a := newAzure(t, func(o *server.Options) { o.ControlToken = "token" })
	a.createBase()
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	var page struct{ Guests []server.Guest }
	a.callControl("GET", "/_sim/guests", nil, &page)
	if len(page.Guests) != 1 || page.Guests[0].VMID != pool+"/virtualMachines/0" {
		t.Errorf("guests are %+v, want the instance of the user's scale set and none of AKS's", page.Guests)
	}
}

func TestDeletionBelowWhatIsGone(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	for name, c := range map[string]struct{ id, code string }{
		"an instance without a set":      {pool + "/virtualMachines/0", "ParentResourceNotFound"},
		"an extension without a machine": {comp + "/virtualMachines/none/extensions/x", "ParentResourceNotFound"},
		// Recording Test_Networking_ApplicationGateway_20220701_CRUD has this of a subnet.
		"a rule without a group": {net + "/networkSecurityGroups/none/securityRules/x", "ResourceNotFound"}} {
		if r := a.sendRequest("DELETE", c.id, nil); r.status != 404 || r.errorCode() != c.code {
			t.Errorf("%s: DELETE = %d %s, want 404 %s", name, r.status, r.errorCode(), c.code)
		}
	}
	if r := a.sendRequest("DELETE", net+"/networkSecurityGroups/none", nil); r.status != 204 {
		t.Errorf("DELETE of what stands by itself = %d, want 204", r.status)
	}
}

func TestPollsOfAClusterDeletionCarryAnErrorThatMeansNothing(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", aks+aksV, aksCluster(nil))
	op := a.sendRequest("DELETE", aks+aksV, nil).header.Get("Azure-AsyncOperation")
	if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "InProgress" || r.valueAt("error.code") != "NotLatestOperation" {
		t.Errorf("poll = %v", r.body)
	}
	a.sim.Settle()
	if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "Succeeded" || r.valueAt("error.code") != "NotLatestOperation" {
		t.Errorf("last poll = %v", r.body)
	}
}
