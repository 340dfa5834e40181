package server_test

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"
)

func TestResourceGroupAndVirtualNetworkWithTheSDK(t *testing.T) {
	ctx := context.Background()
	a := newAzure(t)
	groups, err := armresources.NewResourceGroupsClient(sub, a.cred(), a.options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := groups.CreateOrUpdate(ctx, "rg", armresources.ResourceGroup{Location: new("West US 3"), Tags: map[string]*string{"a": new("b")}}, nil); err != nil {
		t.Fatal(err)
	}
	exists, err := groups.CheckExistence(ctx, "RG", nil)
	if err != nil || !exists.Success {
		t.Fatalf("CheckExistence = %v, %v", exists.Success, err)
	}
	vnets, err := armnetwork.NewVirtualNetworksClient(sub, a.cred(), a.options())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vnets.Get(ctx, "rg", "vnet", nil); codeOf(err) != "ResourceNotFound" {
		t.Errorf("Get before create: %v", err)
	}
	p, err := vnets.BeginCreateOrUpdate(ctx, "rg", "vnet", armnetwork.VirtualNetwork{
		Location: new("westus3"),
		Properties: &armnetwork.VirtualNetworkPropertiesFormat{
			AddressSpace: &armnetwork.AddressSpace{AddressPrefixes: []*string{new("10.0.0.0/8")}},
			Subnets:      []*armnetwork.Subnet{{Name: new("cp"), Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.0.0.0/16")}}},
		},
	}, nil)
	if err == nil && p.Done() {
		t.Error("the create was done without a poll; the accepted body must not say Succeeded")
	}
	vnet, err := done(a, p, err)
	if err != nil {
		t.Fatal(err)
	}
	if *vnet.Properties.ProvisioningState != "Succeeded" || *vnet.Properties.Subnets[0].Properties.ProvisioningState != "Succeeded" {
		t.Errorf("state after the operation: %v %v", *vnet.Properties.ProvisioningState, *vnet.Properties.Subnets[0].Properties.ProvisioningState)
	}
	if *vnet.Etag != *vnet.Properties.Subnets[0].Etag {
		t.Error("a subnet must show its virtual network's etag")
	}
	subnets, err := armnetwork.NewSubnetsClient(sub, a.cred(), a.options())
	if err != nil {
		t.Fatal(err)
	}
	sp, err := subnets.BeginCreateOrUpdate(ctx, "rg", "vnet", "node", armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.1.0.0/16")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = subnets.BeginCreateOrUpdate(ctx, "rg", "vnet", "other", armnetwork.Subnet{Properties: &armnetwork.SubnetPropertiesFormat{AddressPrefix: new("10.2.0.0/16")}}, nil)
	if codeOf(err) != "AnotherOperationInProgress" {
		t.Errorf("a second write below the virtual network: %v", err)
	}
	if _, err := done(a, sp, nil); err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for pager := subnets.NewListPager("rg", "vnet", nil); pager.More(); {
		page, err := pager.NextPage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Value {
			got = append(got, *s.Name)
		}
	}
	if d := cmp.Diff([]string{"cp", "node"}, got); d != "" {
		t.Error(d)
	}
	dp, err := groups.BeginDelete(ctx, "rg", nil)
	if _, err := done(a, dp, err); err != nil {
		t.Fatal(err)
	}
	if _, err := vnets.Get(ctx, "rg", "vnet", nil); codeOf(err) != "ResourceGroupNotFound" {
		t.Errorf("Get after the group is gone: %v", err)
	}
}
