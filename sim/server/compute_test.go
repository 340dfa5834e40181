package server_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

// decodeInto turns a fixture into an SDK model.
func decodeInto[T any](t *testing.T, o obj) T {
	t.Helper()
	var out T
	raw, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVirtualMachineWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	a.createBase()
	nics, err := armnetwork.NewInterfacesClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	np, err := nics.BeginCreateOrUpdate(ctx, "rg", "nic0", decodeInto[armnetwork.Interface](t, newNIC("cp", nil)), nil)
	if err == nil && !np.Done() {
		t.Error("a network interface is written synchronously; its poller must be done at once")
	}
	made, err := pollUntilDone(a, np, err)
	if err != nil {
		t.Fatal(err)
	}
	if ip := *made.Properties.IPConfigurations[0].Properties.PrivateIPAddress; ip != "10.0.0.4" {
		t.Errorf("the first interface got %s, Azure reserves the first four addresses", ip)
	}
	vms, err := armcompute.NewVirtualMachinesClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	p, err := vms.BeginCreateOrUpdate(ctx, "rg", "vm0", decodeInto[armcompute.VirtualMachine](t, newVM("nic0", nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Done() {
		t.Error("the create was done without a poll")
	}
	got, err := pollUntilDone(a, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if *got.Properties.ProvisioningState != "Succeeded" || *got.Properties.VMID == "" ||
		*got.Properties.StorageProfile.OSDisk.ManagedDisk.ID == "" {
		t.Errorf("state %s, vmId %q", *got.Properties.ProvisioningState, *got.Properties.VMID)
	}
	if got.Properties.OSProfile.CustomData != nil {
		t.Error("custom data came back")
	}
	view, err := vms.InstanceView(ctx, "rg", "vm0", nil)
	if err != nil {
		t.Fatal(err)
	}
	if code := *view.Statuses[len(view.Statuses)-1].Code; code != "PowerState/running" {
		t.Errorf("power state %s", code)
	}
	exts, err := armcompute.NewVirtualMachineExtensionsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	ep, err := exts.BeginCreateOrUpdate(ctx, "rg", "vm0", "CAPZ.Linux.Bootstrapping",
		armcompute.VirtualMachineExtension{Location: new("westus3"), Properties: &armcompute.VirtualMachineExtensionProperties{
			Publisher: new("Microsoft.Azure.ContainerUpstream"), Type: new("CAPZ.Linux.Bootstrapping"), TypeHandlerVersion: new("1.0"),
			ProtectedSettings: map[string]any{"commandToExecute": "secret"}}}, nil)
	ext, err := pollUntilDone(a, ep, err)
	if err != nil {
		t.Fatal(err)
	}
	if ext.Properties.ProtectedSettings != nil {
		t.Error("protected settings came back")
	}
	deal, err := vms.BeginDeallocate(ctx, "rg", "vm0", nil)
	if _, err := pollUntilDone(a, deal, err); err != nil {
		t.Fatal(err)
	}
	again, err := vms.BeginStart(ctx, "rg", "vm0", nil)
	if _, err := pollUntilDone(a, again, err); err != nil {
		t.Fatal(err)
	}
	del, err := vms.BeginDelete(ctx, "rg", "vm0", &armcompute.VirtualMachinesClientBeginDeleteOptions{ForceDeletion: new(true)})
	if _, err := pollUntilDone(a, del, err); err != nil {
		t.Fatal(err)
	}
	disks, err := armcompute.NewDisksClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := disks.Get(ctx, "rg", *got.Properties.StorageProfile.OSDisk.Name, nil); codeOf(err) != "ResourceNotFound" {
		t.Errorf("the OS disk with deleteOption Delete: %v", err)
	}
	etcd, err := disks.Get(ctx, "rg", "etcd", nil)
	if err != nil || *etcd.Properties.DiskState != armcompute.DiskStateUnattached {
		t.Errorf("the data disk with deleteOption Detach: %v %v", etcd.Properties, err)
	}
	dd, err := disks.BeginDelete(ctx, "rg", "etcd", nil)
	if _, err := pollUntilDone(a, dd, err); err != nil {
		t.Fatal(err)
	}
	nd, err := nics.BeginDelete(ctx, "rg", "nic0", nil)
	if _, err := pollUntilDone(a, nd, err); err != nil {
		t.Fatal(err)
	}
}

func TestSKUsUsagesAndAvailabilitySetsWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	a.createGroup()
	skus, err := armcompute.NewResourceSKUsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*armcompute.ResourceSKU{}
	for pager := skus.NewListPager(&armcompute.ResourceSKUsClientListOptions{Filter: new("location eq 'eastus'")}); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Value {
			found[*s.ResourceType+"/"+*s.Name] = s
		}
	}
	d2 := found["virtualMachines/Standard_D2s_v3"]
	caps := map[string]string{}
	for _, c := range d2.Capabilities {
		caps[*c.Name] = *c.Value
	}
	for name, want := range map[string]string{"vCPUs": "2", "MemoryGB": "8", "EphemeralOSDiskSupported": "True",
		"AcceleratedNetworkingEnabled": "True", "EncryptionAtHostSupported": "True", "CpuArchitectureType": "x64"} {
		if caps[name] != want {
			t.Errorf("capability %s = %q, want %q", name, caps[name], want)
		}
	}
	if r := found["virtualMachines/Standard_E8s_v5"].Restrictions; len(r) != 1 || *r[0].RestrictionInfo.Zones[0] != "3" {
		t.Errorf("Standard_E8s_v5 should be missing in zone 3: %v", r)
	}
	if found["availabilitySets/Aligned"] == nil || found["disks/UltraSSD_LRS"] == nil {
		t.Error("SKUs of availability sets or disks are missing")
	}
	usage, err := armcompute.NewUsageClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	page, err := usage.NewListPager("eastus", nil).NextPage(ctx)
	if err != nil || len(page.Value) < 5 {
		t.Errorf("usages: %d %v", len(page.Value), err)
	}
	sets, err := armcompute.NewAvailabilitySetsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	set, err := sets.CreateOrUpdate(ctx, "rg", "as",
		armcompute.AvailabilitySet{Location: new("westus3"), SKU: &armcompute.SKU{Name: new("Aligned")},
			Properties: &armcompute.AvailabilitySetProperties{PlatformFaultDomainCount: new(int32(2))}}, nil)
	if err != nil || *set.Properties.PlatformFaultDomainCount != 2 {
		t.Fatalf("availability set: %v", err)
	}
	if _, err := sets.Delete(ctx, "rg", "as", nil); err != nil {
		t.Fatal(err)
	}
}

func TestVirtualMachineIsRefused(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(p obj)
		zones  []any
		code   string
	}{
		"size": {"a size that is not offered is a 400 that names vmSize", func(p obj) { p["hardwareProfile"] = obj{"vmSize": "Standard_X1"} },
			nil, "InvalidParameter"},
		"zone": {"the region offers the size, the zone does not", func(p obj) { p["hardwareProfile"] = obj{"vmSize": "Standard_NC6s_v3"} },
			[]any{"1"}, "SkuNotAvailable"},
		"zone4": {"zones are 1 to 3", func(obj) {}, []any{"4"}, "InvalidAvailabilityZone"},
		"quota": {"the family's limit is 8 cores", func(p obj) { p["hardwareProfile"] = obj{"vmSize": "Standard_D16s_v3"} }, nil,
			"OperationNotAllowed"},
		"image": {"a marketplace image needs all four parts",
			func(p obj) { p["storageProfile"].(obj)["imageReference"] = obj{"publisher": "Canonical"} }, nil, "InvalidParameter"},
		"nic": {"the interface must exist",
			func(p obj) {
				p["networkProfile"] = obj{
					"networkInterfaces": newRefs(net + "/networkInterfaces/none")}
			}, nil, "InvalidResourceReference"},
		"nicTaken": {"an interface belongs to one VM",
			func(p obj) { p["networkProfile"] = obj{"networkInterfaces": newRefs(net + "/networkInterfaces/nic0")} }, nil, "NicInUse"},
		"customData": {"custom data must be base64", func(p obj) { p["osProfile"].(obj)["customData"] = "#cloud-config" }, nil,
			"InvalidParameter"},
		"identity": {"the size cannot encrypt at host", func(p obj) {
			p["hardwareProfile"] = obj{"vmSize": "Standard_B2s"}
			p["securityProfile"] = obj{"encryptionAtHost": true}
		}, nil, "InvalidParameter"},
		"ephemeral": {"the size has no place for an ephemeral disk", func(p obj) {
			p["hardwareProfile"] = obj{"vmSize": "Standard_D2s_v5"}
			p["storageProfile"].(obj)["osDisk"].(obj)["diffDiskSettings"] = obj{"option": "Local"}
		}, nil, "InvalidParameter"},
		"ultra": {"ultra disks have to be switched on", func(p obj) {
			p["storageProfile"].(obj)["dataDisks"] = []any{obj{"lun": 0, "createOption": "Empty", "diskSizeGB": 4,
				"managedDisk": obj{"storageAccountType": "UltraSSD_LRS"}}}
		}, nil, "InvalidParameter"},
	}
	a := newAzure(t, func(o *server.Options) { o.Quota = map[string]int{"standardDSv3Family": 8} })
	a.createMachine()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic1", newNIC("cp", nil))
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newVM("nic1", func(p obj) {
				// vm0 has the disk of that name.
				p["storageProfile"].(obj)["dataDisks"].([]any)[0].(obj)["name"] = "data"
				tc.change(p)
			})
			if tc.zones != nil {
				b["zones"] = tc.zones
			}
			if name == "quota" || name == "size" || name == "image" {
				b["zones"] = []any{"2"}
			}
			if r := a.sendRequest("PUT", comp+"/virtualMachines/vm1", b); r.errorCode() != tc.code &&
				!strings.HasPrefix(r.errorCode(), tc.code+"/") {
				t.Errorf("%s: got %d %s %s, want %s", tc.reason, r.status, r.errorCode(), r.errorMessage(), tc.code)
			}
			if r := a.sendRequest("GET", comp+"/virtualMachines/vm1", nil); r.status != 404 {
				t.Error("a refused VM was stored")
			}
		})
	}
}

func TestVirtualMachineChanges(t *testing.T) {
	a := newAzure(t)
	a.createMachine()
	id := comp + "/virtualMachines/vm0"
	if r := a.sendRequest("PUT", id, newVM("nic0", nil)); r.status != 200 || r.header.Get("Azure-AsyncOperation") != "" ||
		r.valueAt("properties.provisioningState") != "Succeeded" {
		t.Errorf("a PUT that changes nothing: %d %v %v", r.status, r.header.Get("Azure-AsyncOperation"),
			r.valueAt("properties.provisioningState"))
	}
	for path, change := range map[string]func(p obj){
		"osProfile.customData":   func(p obj) { p["osProfile"].(obj)["customData"] = "eA==" },
		"osProfile.computerName": func(p obj) { p["osProfile"].(obj)["computerName"] = "other" },
		"storageProfile.imageReference.communityGalleryImageId": func(p obj) {
			p["storageProfile"].(obj)["imageReference"] = obj{"communityGalleryImageId": "/CommunityGalleries/x"}
		},
	} {
		if r := a.sendRequest("PUT", id, newVM("nic0", change)); r.status != 409 || r.errorCode() != "PropertyChangeNotAllowed" ||
			valueAt(r.body, "error.target") != path {
			t.Errorf("changing %s: %d %s %v", path, r.status, r.errorCode(), valueAt(r.body, "error.target"))
		}
	}
	if r := a.sendRequest("PATCH", id, obj{"tags": obj{"a": "b"}}); r.status != 200 || r.valueAt("tags.a") != "b" ||
		r.valueAt("properties.provisioningState") != "Updating" {
		t.Errorf("PATCH tags: %d %v", r.status, r.body)
	}
	if r := a.sendRequest("PUT", id+"/extensions/x",
		obj{"location": "westus3", "properties": obj{"publisher": "p", "type": "t", "typeHandlerVersion": "1.0"}}); r.status != 409 ||
		r.errorCode() != "Conflict" {
		t.Errorf("an extension while the VM is updated: %d %s", r.status, r.errorCode())
	}
	if r := a.sendRequest("DELETE", id, nil); r.status != 202 || r.header.Get("Location") == "" {
		t.Errorf("DELETE: %d", r.status)
	}
	if r := a.sendRequest("PUT", id, newVM("nic0", nil)); r.errorCode() != "OperationNotAllowed" ||
		!strings.Contains(r.errorMessage(), "marked for deletion") {
		t.Errorf("PUT while deleting: %s %s", r.errorCode(), r.errorMessage())
	}
	if r := a.sendRequest("GET", id, nil); r.valueAt("properties.provisioningState") != "Deleting" {
		t.Errorf("GET while deleting: %v", r.valueAt("properties.provisioningState"))
	}
	a.sim.Settle()
	if r := a.sendRequest("GET", id, nil); r.status != 404 || r.errorCode() != "ResourceNotFound" {
		t.Errorf("GET after: %d %s", r.status, r.errorCode())
	}
}

func TestFailedAllocationKeepsTheMachineAndReservesItsInterface(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Allocate, Type: "Microsoft.Compute/virtualMachines",
		Code: "ZonalAllocationFailed"}); err != nil {
		t.Fatal(err)
	}
	r := a.sendRequest("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil))
	op := r.header.Get("Azure-AsyncOperation")
	if r.status != 201 || op == "" {
		t.Fatalf("PUT = %d", r.status)
	}
	a.sim.Settle()
	if r := a.sendRequest("GET", op, nil); r.status != 200 || r.valueAt("status") != "Failed" ||
		r.valueAt("error.code") != "ZonalAllocationFailed" {
		t.Errorf("poll: %d %v", r.status, r.body)
	}
	if r := a.sendRequest("GET", comp+"/virtualMachines/vm0", nil); r.valueAt("properties.provisioningState") != "Failed" {
		t.Errorf("the VM must stay in state Failed: %d %v", r.status, r.valueAt("properties.provisioningState"))
	}
	a.mustSucceed("DELETE", comp+"/virtualMachines/vm0", nil)
	if r := a.sendRequest("DELETE", net+"/networkInterfaces/nic0", nil); r.errorCode() != "NicReservedForAnotherVm/" &&
		r.errorCode() != "NicReservedForAnotherVm" {
		t.Errorf("the interface right after: %s", r.errorCode())
	}
	a.sim.Advance(181 * time.Second)
	a.mustSucceed("DELETE", net+"/networkInterfaces/nic0", nil)
}

func TestDeletingAMachineThatIsBeingCreatedPreemptsTheCreate(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	op := a.sendRequest("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil)).header.Get("Azure-AsyncOperation")
	a.mustSucceed("DELETE", comp+"/virtualMachines/vm0", nil)
	if r := a.sendRequest("GET", op, nil); r.valueAt("status") != "Canceled" || r.valueAt("error.code") != "OperationPreempted" {
		t.Errorf("the create's operation: %v", r.body)
	}
}

func TestSpotEviction(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", func(p obj) { p["priority"] = "Spot" }))
	if err := a.sim.AddFault(fault.Rule{Kind: fault.Evict, ID: comp + "/virtualMachines/vm0", Now: true}); err != nil {
		t.Fatal(err)
	}
	r := a.sendRequest("GET", comp+"/virtualMachines/vm0/instanceView", nil)
	list, _ := r.valueAt("statuses").([]any)
	if valueAt(list[len(list)-1], "code") != "PowerState/deallocated" {
		t.Errorf("after the eviction: %v", list)
	}
}
