package network

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

func bastionType() *provider.Type {
	return &provider.Type{
		Name: BastionHosts, Style: provider.Network, Etag: provider.Weak, RetryAfter: 10,
		Create: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(420), Spread: 0.08},
		Update: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(60)},
		Delete: provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(360), Spread: 0.08},
		ReadOnlyPaths: []string{"properties.dnsName", "properties.ipConfigurations[].id", "properties.ipConfigurations[].etag",
			"properties.ipConfigurations[].type"},
		Prepare: prepareBastion,
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			body.Default(r.Body, "properties.dnsName", "bst-"+c.NewGUID()+".bastion.azure.com")
			return nil
		},
		Patch:    func(*provider.Call, *provider.Draft) error { return nil },
		PatchLRO: provider.Timing{LRO: provider.Seconds(20)},
		View: func(c *provider.Call, it *provider.Item) {
			for _, cfg := range body.Objects(it.Body, "properties.ipConfigurations") {
				cfg["id"] = it.ID + "/bastionHostIpConfigurations/" + body.String(cfg, "name")
				cfg["type"] = BastionHosts + "/bastionHostIpConfigurations"
				cfg["etag"] = it.Resource.Etag
			}
		},
	}
}

func prepareBastion(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, "sku.name", "Basic")
	body.Default(d.New, p+"scaleUnits", 2)
	cfgs := body.Objects(d.New, p+"ipConfigurations")
	if len(cfgs) != 1 {
		return invalidValue("BastionHostMustHaveOneIpConfiguration", "Bastion host %s must have exactly one IP configuration.", d.ID)
	}
	cfg := cfgs[0]
	body.Default(cfg, "properties.privateIPAllocationMethod", "Dynamic")
	body.Set(cfg, "properties.provisioningState", store.Succeeded) // also while the host is being made, as recorded
	subnet, err := c.RequireReference(body.String(cfg, "properties.subnet.id"), d.ID, Subnets, d.Location)
	if err != nil {
		return err
	}
	// hashicorp/terraform-provider-azurerm#15365 has code and text. The size of the subnet is not checked: Microsoft supports /26 and larger, and
	// Azure has created hosts in a /27 in 2022 and 2023, in the acceptance tests of hashicorp/terraform-provider-azurerm#14968 and #22147.
	if !strings.EqualFold(subnet.Name, "AzureBastionSubnet") {
		return invalidValue("SubnetNameMustBeAzureBastionSubnet",
			"Subnet name %s is invalid for Azure Bastion. Azure Bastion can only be created in subnet with name 'AzureBastionSubnet'.", subnet.ID)
	}
	owner := d.ID + "/ipConfigurations/" + body.String(cfg, "name")
	ip, err := publicIPFree(c, body.String(cfg, "properties.publicIPAddress.id"), owner, d.Location)
	if err != nil {
		return err
	}
	if !strings.EqualFold(body.String(ip.Body, "sku.name"), "Standard") {
		return invalidValue("BastionHostPublicIpMustBeStandardSku", "Bastion host %s needs a public IP address of sku Standard, %s is %s.", d.ID,
			ip.ID, body.String(ip.Body, "sku.name"))
	}
	if old := body.String(d.Old, p+"dnsName"); old != "" {
		body.Set(d.New, p+"dnsName", old)
	}
	return checkZones(c, d)
}
