package server_test

import (
	"context"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
)

const (
	instance0   = pool + "/virtualMachines/0"
	lbPool      = net + "/loadBalancers/lb/backendAddressPools/pool"
	poolsOfIP   = "properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools"
	ownNetwork  = "properties.networkProfileConfiguration.networkInterfaceConfigurations"
	poolsOfOwn  = ownNetwork + ".0.properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools"
	volume      = comp + "/disks/volume"
	poolsOfUser = "properties.backendIPConfigurations"
)

// newPooledAzure has a load balancer, a disk, and a scale set of two instances that is in no backend pool.
func newPooledAzure(t *testing.T, change ...func(*server.Options)) *azure {
	a := newAzure(t, change...)
	a.createBase()
	a.mustSucceed("PUT", net+"/publicIPAddresses/pip", publicIP("api"))
	a.mustSucceed("PUT", net+"/loadBalancers/lb", apiLB())
	a.mustSucceed("PUT", comp+"/disks/volume",
		obj{"location": "westus3", "sku": obj{"name": "Premium_LRS"},
			"properties": obj{"creationData": obj{"createOption": "Empty"}, "diskSizeGB": 8}})
	a.mustSucceed("PUT", pool, scaleSet(2, func(set, _ obj) { set["tags"] = obj{"team": "a"} }))
	return a
}

// networkOnly returns the body of cloud-provider-azure's PUT of a scale set: location and network profile.
func networkOnly(pools ...string) obj {
	cfg := scaleSet(0, nil)["properties"].(obj)["virtualMachineProfile"].(obj)["networkProfile"].(obj)
	ip := cfg["networkInterfaceConfigurations"].([]any)[0].(obj)["properties"].(obj)["ipConfigurations"].([]any)[0].(obj)["properties"].(obj)
	ip["loadBalancerBackendAddressPools"] = newRefs(pools...)
	return obj{"location": "westus3", "properties": obj{"virtualMachineProfile": obj{"networkProfile": cfg}}}
}

func TestPutWithoutTags(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		drops  bool
		want   any
	}{
		"default": {"a PUT of Microsoft.Compute keeps omitted properties", false, obj{"team": "a"}},
		"switch":  {"a provider has to cope with a PUT that drops them", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := newPooledAzure(t, func(o *server.Options) { o.PutDropsTags = test.drops })
			a.mustSucceed("PUT", pool, networkOnly(lbPool))
			if diff := cmp.Diff(test.want, a.sendRequest("GET", pool, nil).valueAt("tags")); diff != "" {
				t.Errorf("%s: tags after a PUT without tags (-want +got):\n%s", test.reason, diff)
			}
			if n := a.sendRequest("GET", pool, nil).valueAt("sku.capacity"); n != 2.0 {
				t.Errorf("the PUT has no sku, and the capacity is %v", n)
			}
		})
	}
}

// TestInstanceNetwork puts one instance into a backend pool, as cloud-provider-azure does after it has changed the template.
func TestInstanceNetwork(t *testing.T) {
	a := newPooledAzure(t)
	a.mustSucceed("PUT", pool, networkOnly(lbPool))
	if got := a.sendRequest("GET", instance0, nil).valueAt(poolsOfOwn); got != nil {
		t.Errorf("an instance shows the pools of a template that it was not made of: %v", got)
	}
	body := obj{"location": "westus3",
		"properties": obj{"hardwareProfile": obj{},
			"networkProfileConfiguration": networkOnly(lbPool)["properties"].(obj)["virtualMachineProfile"].(obj)["networkProfile"]}}
	a.mustSucceed("PUT", instance0, body)
	for name, want := range map[string]any{"0": newRefs(lbPool), "1": nil} {
		if diff := cmp.Diff(want,
			a.sendRequest("GET", pool+"/virtualMachines/"+name+"/networkInterfaces/nic", nil).valueAt(poolsOfIP)); diff != "" {
			t.Errorf("pools of the interface of instance %s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(newRefs(lbPool), a.sendRequest("GET", instance0, nil).valueAt(poolsOfOwn)); diff != "" {
		t.Errorf("the instance's own configuration (-want +got):\n%s", diff)
	}
	if got := a.sendRequest("GET", instance0, nil).valueAt("properties.modelDefinitionApplied"); got != "VirtualMachine" {
		t.Errorf("modelDefinitionApplied is %v", got)
	}
	backends, _ := a.sendRequest("GET", lbPool, nil).valueAt(poolsOfUser).([]any)
	if len(backends) != 1 || !strings.HasPrefix(backends[0].(obj)["id"].(string), instance0+"/networkInterfaces/nic") {
		t.Errorf("the pool's backends are %v", backends)
	}
	a.mustSucceed("PUT", pool, scaleSet(3, func(_, profile obj) {
		profile["networkProfile"] = networkOnly(lbPool)["properties"].(obj)["virtualMachineProfile"].(obj)["networkProfile"]
	}))
	if diff := cmp.Diff(newRefs(lbPool),
		a.sendRequest("GET", pool+"/virtualMachines/2/networkInterfaces/nic", nil).valueAt(poolsOfIP)); diff != "" {
		t.Errorf("pools of a new instance (-want +got):\n%s", diff)
	}
	a.mustSucceed("POST", pool+"/manualupgrade", obj{"instanceIds": []any{"1"}})
	if diff := cmp.Diff(newRefs(lbPool),
		a.sendRequest("GET", pool+"/virtualMachines/1/networkInterfaces/nic", nil).valueAt(poolsOfIP)); diff != "" {
		t.Errorf("pools of an instance that was upgraded (-want +got):\n%s", diff)
	}
	unknown := obj{"location": "westus3",
		"properties": obj{
			"networkProfileConfiguration": networkOnly(lbPool + "2")["properties"].(obj)["virtualMachineProfile"].(obj)["networkProfile"]}}
	if r := a.sendRequest("PUT", instance0, unknown); r.errorCode() != "InvalidResourceReference" {
		t.Errorf("a pool that does not exist: %d %s", r.status, r.errorCode())
	}
}

// TestInstanceDisks attaches a disk to an instance and detaches it as the disk driver does: the list of data disks, and toBeDetached.
func TestInstanceDisks(t *testing.T) {
	a := newPooledAzure(t)
	disk := obj{"name": "volume", "lun": 0, "caching": "ReadWrite", "createOption": "Attach", "managedDisk": obj{"id": volume}}
	write := func(disks ...any) {
		t.Helper()
		a.mustSucceed("PUT", instance0, obj{"properties": obj{"storageProfile": obj{"dataDisks": disks}}})
	}
	write(disk)
	if got := a.sendRequest("GET", volume, nil).valueAt("managedBy"); got != instance0 {
		t.Errorf("the disk is managed by %v", got)
	}
	if got := a.sendRequest("GET", instance0, nil).valueAt("properties.storageProfile.dataDisks.0.managedDisk.id"); got != volume {
		t.Errorf("the instance's data disk is %v", got)
	}
	if r := a.sendRequest("PUT", pool+"/virtualMachines/1",
		obj{"properties": obj{"storageProfile": obj{"dataDisks": []any{disk}}}}); r.status != 409 {
		t.Errorf("the disk is attached elsewhere, and the answer is %d %s", r.status, r.errorCode())
	}
	a.mustSucceed("PUT", pool, scaleSet(2, func(_, profile obj) {
		profile["storageProfile"].(obj)["imageReference"] = obj{
			"communityGalleryImageId": "/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.34.0"}
	}))
	a.mustSucceed("POST", pool+"/manualupgrade", obj{"instanceIds": []any{"0"}})
	if got := a.sendRequest("GET", volume, nil).valueAt("managedBy"); got != instance0 {
		t.Errorf("after an upgrade of the instance its attached disk is managed by %v", got)
	}
	disk["toBeDetached"] = true
	write(disk)
	if got := a.sendRequest("GET", volume, nil); got.valueAt("managedBy") != nil || got.valueAt("properties.diskState") != "Unattached" {
		t.Errorf("the disk was detached, and is managed by %v and %v", got.valueAt("managedBy"), got.valueAt("properties.diskState"))
	}
	if got, _ := a.sendRequest("GET", instance0, nil).valueAt("properties.storageProfile.dataDisks").([]any); len(got) != 0 {
		t.Errorf("data disks after they were detached: %v", got)
	}
}

func TestAttachDetachDataDisks(t *testing.T) {
	ctx := context.Background()
	a := newPooledAzure(t)
	a.mustSucceed("PUT", net+"/networkInterfaces/nic0", newNIC("cp", nil))
	a.mustSucceed("PUT", comp+"/virtualMachines/vm0", newVM("nic0", nil))
	instances, err := armcompute.NewVirtualMachineScaleSetVMsClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	vms, err := armcompute.NewVirtualMachinesClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	attach := armcompute.AttachDetachDataDisksRequest{DataDisksToAttach: []*armcompute.DataDisksToAttach{{DiskID: new(volume)}}}
	detach := armcompute.AttachDetachDataDisksRequest{DataDisksToDetach: []*armcompute.DataDisksToDetach{{DiskID: new(volume)}}}
	machine := func(request armcompute.AttachDetachDataDisksRequest) (armcompute.StorageProfile, error) {
		p, err := vms.BeginAttachDetachDataDisks(ctx, "rg", "vm0", request, nil)
		got, err := pollUntilDone(a, p, err)
		return got.StorageProfile, err
	}
	instance := func(request armcompute.AttachDetachDataDisksRequest) (armcompute.StorageProfile, error) {
		p, err := instances.BeginAttachDetachDataDisks(ctx, "rg", "pool", "0", request, nil)
		got, err := pollUntilDone(a, p, err)
		return got.StorageProfile, err
	}
	for name, test := range map[string]struct {
		reason string
		do     func(armcompute.AttachDetachDataDisksRequest) (armcompute.StorageProfile, error)
		id     string
		lun    int32
		disks  int
	}{
		"machine":  {"the VM has a disk at LUN 0", machine, comp + "/virtualMachines/vm0", 1, 1},
		"instance": {"the instance has no data disk", instance, instance0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.do(attach)
			if err != nil {
				t.Fatal(err)
			}
			last := got.DataDisks[len(got.DataDisks)-1]
			if *last.ManagedDisk.ID != volume || *last.Lun != test.lun || len(got.DataDisks) != test.disks+1 {
				t.Errorf("%s: the disk is at LUN %d of %d", test.reason, *last.Lun, len(got.DataDisks))
			}
			if owner := a.sendRequest("GET", volume, nil).valueAt("managedBy"); owner != test.id {
				t.Errorf("the disk is managed by %v", owner)
			}
			if _, err := test.do(attach); err == nil {
				t.Error("a disk was attached twice")
			}
			if got, err = test.do(detach); err != nil || len(got.DataDisks) != test.disks {
				t.Errorf("%d data disks after the disk was detached, %v", len(got.DataDisks), err)
			}
			if owner := a.sendRequest("GET", volume, nil).valueAt("managedBy"); owner != nil {
				t.Errorf("the disk was detached, and is managed by %v", owner)
			}
			if _, err := test.do(detach); codeOf(err) != "InvalidParameter" {
				t.Errorf("a disk that is not attached was detached: %v", err)
			}
		})
	}
}

// TestWholeReference sends a subnet whole where a load balancer refers to it, as cloud-provider-azure does for internal Services.
func TestWholeReference(t *testing.T) {
	a := newAzure(t)
	a.createBase()
	subnet := net + "/virtualNetworks/vnet/subnets/node"
	whole := obj{"id": subnet, "name": "node", "properties": obj{"addressPrefix": "10.9.0.0/24",
		"routeTable": newRef(net + "/routeTables/rt")}}
	a.mustSucceed("PUT", net+"/loadBalancers/internal", obj{"location": "westus3", "sku": obj{"name": "Standard"}, "properties": obj{
		"frontendIPConfigurations": []any{obj{"name": "fe", "properties": obj{"subnet": whole}}}}})
	if diff := cmp.Diff(any(newRef(subnet)),
		a.sendRequest("GET", net+"/loadBalancers/internal", nil).valueAt("properties.frontendIPConfigurations.0.properties.subnet")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := a.sendRequest("GET", subnet, nil).valueAt("properties.addressPrefix"); got != "10.1.0.0/24" {
		t.Errorf("the subnet has the range %v", got)
	}
}

// TestIdentitiesGo takes user-assigned identities off a scale set: one by null, all by a type without them.
func TestIdentitiesGo(t *testing.T) {
	const one, two = groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/one",
		groupA + "/providers/Microsoft.ManagedIdentity/userAssignedIdentities/two"
	a := newAzure(t)
	a.createBase()
	for _, id := range []string{one, two} {
		a.mustSucceed("PUT", id, obj{"location": "westus3"})
	}
	a.mustSucceed("PUT", pool, scaleSet(0, func(set, _ obj) {
		set["identity"] = obj{"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": obj{one: obj{}, two: obj{}}}
	}))
	for _, method := range []string{"PUT", "PATCH"} {
		a.mustSucceed(method, pool,
			obj{"location": "westus3", "identity": obj{"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": obj{one: nil, two: obj{}}}})
		users, _ := a.sendRequest("GET", pool, nil).valueAt("identity.userAssignedIdentities").(obj)
		if len(users) != 1 || users[two] == nil {
			t.Errorf("%s: one is null, and the identities are %v", method, users)
		}
		a.mustSucceed(method, pool,
			obj{"location": "westus3", "identity": obj{"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": obj{one: obj{}}}})
	}
	a.mustSucceed("PUT", pool, obj{"location": "westus3", "identity": obj{"type": "SystemAssigned"}})
	if users := a.sendRequest("GET", pool, nil).valueAt("identity.userAssignedIdentities"); users != nil {
		t.Errorf("the type has no user-assigned identities, and they are %v", users)
	}
}
