package server_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
)

// TestScaleSetPublicIPs checks that instances of a scale set get public addresses of their own, as its configuration demands.
func TestScaleSetPublicIPs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	a := newAzure(t)
	a.createBase()
	with := func(_, profile obj) {
		ip := profile["networkProfile"].(obj)["networkInterfaceConfigurations"].([]any)[0].(obj)["properties"].(obj)["ipConfigurations"].([]any)[0].(obj)
		ip["properties"].(obj)["publicIPAddressConfiguration"] = obj{"name": "pub", "sku": obj{"name": "Standard"},
			"properties": obj{"idleTimeoutInMinutes": 15, "dnsSettings": obj{"domainNameLabel": "pool"}}}
	}
	a.mustSucceed("PUT", pool, scaleSet(2, with))
	addresses, err := armnetwork.NewPublicIPAddressesClient(sub, a.tokenCredential(), a.armOptions())
	if err != nil {
		t.Fatal(err)
	}
	list := func() map[string]*armnetwork.PublicIPAddress {
		t.Helper()
		out := map[string]*armnetwork.PublicIPAddress{}
		for pager := addresses.NewListVirtualMachineScaleSetPublicIPAddressesPager("rg", "pool", nil); pager.More(); {
			page, err := pager.NextPage(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, address := range page.Value {
				out[*address.Properties.IPAddress] = address
			}
		}
		return out
	}
	all := list()
	if len(all) != 2 {
		t.Fatalf("%d addresses of 2 instances", len(all))
	}
	for ip, address := range all {
		if *address.Name != "pub" || *address.Properties.IdleTimeoutInMinutes != 15 || *address.Properties.DNSSettings.Fqdn == "" ||
			*address.SKU.Name != armnetwork.PublicIPAddressSKUNameStandard {
			t.Errorf("%s is %+v", ip, address.Properties)
		}
	}
	first := a.sendRequest("GET", pool+"/virtualMachines", nil).valueAt("value.0.instanceId").(string)
	at := pool + "/virtualMachines/" + first + "/networkInterfaces/nic/ipConfigurations/ip0"
	one, err := addresses.GetVirtualMachineScaleSetPublicIPAddress(ctx, "rg", "pool", first, "nic", "ip0", "pub", nil)
	if err != nil || all[*one.Properties.IPAddress] == nil {
		t.Errorf("the address of instance %s: %v", first, err)
	}
	below := addresses.NewListVirtualMachineScaleSetVMPublicIPAddressesPager("rg", "pool", first, "nic", "ip0", nil)
	if page, err := below.NextPage(ctx); err != nil || len(page.Value) != 1 {
		t.Errorf("addresses of one IP configuration: %d, %v", len(page.Value), err)
	}
	if r := a.sendRequest("GET", pool+"/virtualMachines/"+first+"/networkInterfaces/nic",
		nil); r.valueAt("properties.ipConfigurations.0.properties.publicIPAddress.id") != at+"/publicIPAddresses/pub" {
		t.Errorf("the interface = %v", r.valueAt("properties.ipConfigurations.0"))
	}
	if r := a.sendRequest("DELETE", at+"/publicIPAddresses/pub", nil); r.status < 400 {
		t.Errorf("deletion of a part of an instance = %d", r.status)
	}
	a.mustSucceed("DELETE", pool+"/virtualMachines/"+first, nil)
	if left := list(); len(left) != 1 {
		t.Errorf("%d addresses of 1 instance", len(left))
	}
	a.mustSucceed("PUT", pool, scaleSet(1, nil))
	a.mustSucceed("DELETE", pool, nil)
}
