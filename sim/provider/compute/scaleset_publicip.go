package compute

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// ScaleSetPublicIPs is the type of the public addresses of instances. They are below the IP configuration that has them.
// Source: https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-networking#public-ipv4-per-virtual-machine
// and the paths of SDK module armnetwork, PublicIPAddressesClient.
const ScaleSetPublicIPs = ScaleSetInterfaces + "/ipConfigurations/publicIPAddresses"

func scaleSetPublicIPType() *provider.Type {
	return &provider.Type{Name: ScaleSetPublicIPs, Style: provider.Network, Etag: provider.Weak, Untracked: true, ReadOnly: true}
}

// publicIPAddresses answers the public addresses of all instances of a scale set, and of one instance.
func publicIPAddresses(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	out := []any{}
	for _, r := range c.List(ScaleSetPublicIPs, it.ID) {
		out = append(out, c.RenderResource(r))
	}
	return provider.OK(out), nil
}

// addPublicIPs makes the public addresses that the IP configurations of an instance's interface ask for, and has nic refer to them.
// config is the configuration of the interface.
func addPublicIPs(c *provider.Call, nic *store.Resource, config body.Object) {
	for _, ip := range body.Objects(config, "properties.ipConfigurations") {
		asked := body.Child(ip, "properties.publicIPAddressConfiguration")
		_, made := body.FindNamed(body.Objects(nic.Body, "properties.ipConfigurations"), body.String(ip, "name"))
		if asked == nil || made == nil {
			continue
		}
		at := nic.ID + "/ipConfigurations/" + body.String(ip, "name")
		address := publicIP(c, at, asked, nic.Location)
		c.SaveResource(address)
		body.Set(made, "properties.publicIPAddress", body.Object{"id": address.ID})
	}
}

// publicIP returns a public address by its configuration. SDK model
// VirtualMachineScaleSetPublicIPAddressConfigurationProperties has the properties that can be requested. That an
// address is static, as others of SKU Standard are, is an assumption.
func publicIP(c *provider.Call, at string, asked body.Object, location string) *store.Resource {
	const p = "properties."
	version := body.String(asked, p+"publicIPAddressVersion")
	if version == "" {
		version = "IPv4"
	}
	properties := body.Object{
		"provisioningState": store.Succeeded, "resourceGuid": c.NewGUID(), "publicIPAddressVersion": version,
		"publicIPAllocationMethod": "Static",
		"ipAddress":                network.NextPublic(c, version == "IPv6"),
		"idleTimeoutInMinutes":     max(4, body.Int(asked, p+"idleTimeoutInMinutes")),
		"ipTags":                   []any{}, "ipConfiguration": body.Object{"id": at},
	}
	if tags := body.Get(asked, p+"ipTags"); tags != nil {
		properties["ipTags"] = tags
	}
	if prefix := body.String(asked, p+"publicIPPrefix.id"); prefix != "" {
		properties["publicIPPrefix"] = body.Object{"id": prefix}
	}
	if label := body.String(asked, p+"dnsSettings.domainNameLabel"); label != "" {
		// The label of an instance begins with that of its network interface's index: vm0.label and so on.
		full := "vm" + instanceNumber(at) + "." + label
		properties["dnsSettings"] = body.Object{"domainNameLabel": full, "fqdn": network.HostName(full, location)}
	}
	r := &store.Resource{ID: at + "/publicIPAddresses/" + body.String(asked, "name"), Type: ScaleSetPublicIPs, Location: location,
		Body: body.Object{"properties": properties}}
	sku := body.Child(body.Clone(asked), "sku")
	if sku == nil {
		sku = body.Object{"name": "Standard"}
	}
	body.Default(sku, "tier", "Regional")
	r.Body["sku"] = sku
	return r
}

// instanceNumber returns the number of the instance whose interface has an IP configuration.
func instanceNumber(at string) string {
	_, rest, _ := strings.Cut(strings.ToLower(at), "/virtualmachines/")
	number, _, _ := strings.Cut(rest, "/")
	return number
}
