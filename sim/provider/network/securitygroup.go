package network

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

func securityGroupTypes() []*provider.Type {
	group := &provider.Type{
		Name: SecurityGroups, Style: provider.Network, Etag: provider.Weak, RetryAfter: 1,
		Create: provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(2)},
		Delete: provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(1)},
		ReadOnlyPaths: []string{"properties.resourceGuid", "properties.defaultSecurityRules", "properties.subnets",
			"properties.networkInterfaces", "properties.flowLogs"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			body.Set(d.New, "properties.defaultSecurityRules", defaultRules())
			return nil
		},
		CanDelete: securityGroupInUse, View: viewSecurityGroup,
	}
	rule := &provider.Type{
		Name: SecurityGroups + "/securityRules", Style: provider.Network, Etag: provider.Weak, Untracked: true,
		Inline: "properties.securityRules", RetryAfter: 1,
		Create:  provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(1.5)},
		Delete:  provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(1)},
		Prepare: prepareRule,
	}
	defaults := &provider.Type{Name: SecurityGroups + "/defaultSecurityRules", Style: provider.Network, Etag: provider.Weak, Untracked: true,
		Inline: "properties.defaultSecurityRules", ReadOnly: true}
	app := &provider.Type{
		Name: AppGroups, Style: provider.Network, Etag: provider.Weak, RetryAfter: 1,
		Create:        provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(1)},
		Delete:        provider.Timing{HTTP: 450 * time.Millisecond, LRO: provider.Seconds(1)},
		ReadOnlyPaths: []string{"properties.resourceGuid"},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			resourceGUID(c, d)
			return nil
		},
		CanDelete: func(c *provider.Call, it *provider.Item) error {
			if refs := c.Referrers(it.ID); len(refs) > 0 {
				return invalidValue("ApplicationSecurityGroupCannotBeDeleted",
					"Application security group %s cannot be deleted because it is in use by %s.", it.ID, refs[0].Path())
			}
			return nil
		},
	}
	return []*provider.Type{group, rule, defaults, app}
}

func securityGroupInUse(c *provider.Call, it *provider.Item) error {
	if users := referrerPaths(c, it.ID, "networkSecurityGroup"); len(users) > 0 {
		return invalidValue("InUseNetworkSecurityGroupCannotBeDeleted",
			"Network security group %s cannot be deleted because it is in use by the following resources: %s. In order to delete the Network security group, remove the association with the resource(s). To learn how to do this, see aka.ms/deletensg.", it.ID, strings.Join(users, ", "))
	}
	return nil
}

func viewSecurityGroup(c *provider.Call, it *provider.Item) {
	var subnets, nics []string
	for _, u := range referrerPaths(c, it.ID, "networkSecurityGroup") {
		if strings.Contains(strings.ToLower(u), "/subnets/") {
			subnets = append(subnets, u)
		} else {
			nics = append(nics, u)
		}
	}
	if subnets != nil {
		body.Set(it.Body, "properties.subnets", References(subnets))
	}
	if nics != nil {
		body.Set(it.Body, "properties.networkInterfaces", References(nics))
	}
}

func prepareRule(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	if err := oneOf(d.New, p+"protocol", "protocol of "+d.ID, "Tcp", "Udp", "Icmp", "Esp", "Ah", "*"); err != nil {
		return err
	}
	if err := oneOf(d.New, p+"access", "access of "+d.ID, "Allow", "Deny"); err != nil {
		return err
	}
	if err := oneOf(d.New, p+"direction", "direction of "+d.ID, "Inbound", "Outbound"); err != nil {
		return err
	}
	prio := body.Int(d.New, p+"priority")
	if prio < 100 || prio > 4096 {
		return invalidValue("SecurityRuleInvalidPriority", "Security rule has invalid Priority. Value provided: %d Allowed range 100-4096.", prio)
	}
	for _, side := range []string{"source", "destination"} {
		if !body.Has(d.New, p+side+"AddressPrefix") && len(body.Strings(d.New, p+side+"AddressPrefixes")) == 0 &&
			len(body.Objects(d.New, p+side+"ApplicationSecurityGroups")) == 0 {
			return invalidValue("SecurityRuleParameterCannotBeNull",
				"Security rule parameter %sAddressPrefix of rule %s cannot be null: set %[1]sAddressPrefix, %[1]sAddressPrefixes or %[1]sApplicationSecurityGroups.", side, d.ID)
		}
		if !body.Has(d.New, p+side+"PortRange") && len(body.Strings(d.New, p+side+"PortRanges")) == 0 {
			return invalidValue("SecurityRuleParameterCannotBeNull",
				"Security rule parameter %sPortRange of rule %s cannot be null: set %[1]sPortRange or %[1]sPortRanges.", side, d.ID)
		}
		if err := checkRuleValues(d.New, side); err != nil {
			return err
		}
		body.Default(d.New, p+side+"AddressPrefixes", []any{})
		body.Default(d.New, p+side+"PortRanges", []any{})
		for _, ref := range body.Objects(d.New, p+side+"ApplicationSecurityGroups") {
			if _, err := c.RequireReference(body.String(ref, "id"), d.ID, AppGroups, d.Location); err != nil {
				return err
			}
		}
	}
	for _, other := range body.Objects(d.Parent, "properties.securityRules") {
		if !strings.EqualFold(body.String(other, "name"), d.Name) && body.Int(other, p+"priority") == prio &&
			strings.EqualFold(body.String(other, p+"direction"), body.String(d.New, p+"direction")) {
			return invalidValue("SecurityRuleConflict",
				"Security rule %s conflicts with rule %s. Rules cannot have the same Priority and Direction.", d.Name, body.String(other, "name"))
		}
	}
	return nil
}

// defaultRules are the six rules every group has. Source: https://learn.microsoft.com/azure/virtual-network/network-security-groups-overview
func defaultRules() []body.Object {
	rule := func(name, about, src, dst, access, direction string, priority int) body.Object {
		return body.Object{"name": name, "properties": body.Object{
			"provisioningState": "Succeeded", "description": about, "protocol": "*", "sourcePortRange": "*", "destinationPortRange": "*",
			"sourceAddressPrefix": src, "destinationAddressPrefix": dst, "access": access, "priority": float64(priority), "direction": direction,
			"sourcePortRanges": []any{}, "destinationPortRanges": []any{}, "sourceAddressPrefixes": []any{}, "destinationAddressPrefixes": []any{},
		}}
	}
	return []body.Object{
		rule("AllowVnetInBound", "Allow inbound traffic from all VMs in VNET", "VirtualNetwork", "VirtualNetwork", "Allow", "Inbound", 65000),
		rule("AllowAzureLoadBalancerInBound", "Allow inbound traffic from azure load balancer", "AzureLoadBalancer", "*", "Allow", "Inbound",
			65001),
		rule("DenyAllInBound", "Deny all inbound traffic", "*", "*", "Deny", "Inbound", 65500),
		rule("AllowVnetOutBound", "Allow outbound traffic from all VMs to all VMs in VNET", "VirtualNetwork", "VirtualNetwork", "Allow",
			"Outbound", 65000),
		rule("AllowInternetOutBound", "Allow outbound traffic from all VMs to Internet", "*", "Internet", "Allow", "Outbound", 65001),
		rule("DenyAllOutBound", "Deny all outbound traffic", "*", "*", "Deny", "Outbound", 65500),
	}
}
