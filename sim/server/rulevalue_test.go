package server_test

import "testing"

func TestValuesOfSecurityRules(t *testing.T) {
	const address, port = "SecurityRuleInvalidAddressPrefix/", "SecurityRuleInvalidPortRange/"
	for name, tc := range map[string]struct {
		reason string
		set    obj
		code   string
	}{
		"defaults":         {"all ports and addresses", obj{}, ""},
		"port 0":           {"the first port", obj{"destinationPortRange": "0"}, ""},
		"all ports":        {"from the first to the last", obj{"destinationPortRange": "0-65535"}, ""},
		"one port twice":   {"a range of one port", obj{"sourcePortRange": "80-80"}, ""},
		"backwards":        {"the first port is behind the last", obj{"destinationPortRange": "80-70"}, port},
		"large":            {"ports end with 65535", obj{"destinationPortRange": "99999"}, port},
		"word":             {"services have no names", obj{"sourcePortRange": "http"}, port},
		"two in one":       {"several ports need the list", obj{"destinationPortRange": "80,443"}, port},
		"open":             {"a range has two ends", obj{"destinationPortRange": "80-"}, port},
		"in a list":        {"lists are checked, too", obj{"destinationPortRanges": []any{"80", "70-60"}}, port},
		"address":          {"a single address", obj{"sourceAddressPrefix": "10.0.0.4"}, ""},
		"prefix":           {"a prefix", obj{"sourceAddressPrefix": "10.0.0.0/24"}, ""},
		"IPv6":             {"a prefix of IPv6", obj{"destinationAddressPrefix": "2001:db8::/32"}, ""},
		"tag":              {"a service tag", obj{"destinationAddressPrefix": "Storage.WestUS3"}, ""},
		"tag, lower case":  {"tags are compared without case", obj{"sourceAddressPrefix": "virtualnetwork"}, ""},
		"new tag":          {"Azure adds tags often", obj{"destinationAddressPrefix": "AzureFrontDoor.Backend"}, ""},
		"bits":             {"IPv4 has 32 bits", obj{"sourceAddressPrefix": "10.0.0.0/33"}, address},
		"host":             {"a prefix has no bits of a host", obj{"sourceAddressPrefix": "20.20.20.20/16"}, address},
		"nonsense":         {"no service tag is spelled so", obj{"destinationAddressPrefix": "nonsense"}, address},
		"several":          {"several prefixes need the list", obj{"sourceAddressPrefix": "10.0.0.0/24,10.1.0.0/24"}, address},
		"prefix in a list": {"lists are checked, too", obj{"sourceAddressPrefixes": []any{"10.0.0.0/24", "10.0.0.0.0/24"}}, address},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.createGroup()
			rule := allowRule("r", 100, "*")
			for key, value := range tc.set {
				rule["properties"].(obj)[key] = value
			}
			r := a.sendRequest("PUT", net+"/networkSecurityGroups/nsg", obj{"location": "westus3", "properties": obj{"securityRules": []any{rule}}})
			expectCode(t, tc.reason, r, tc.code)
		})
	}
}

// expectCode checks that a request was refused with a code, or accepted if it is empty. A network error has empty details, and its code
// ends with a slash here.
func expectCode(t *testing.T, reason string, r response, code string) {
	t.Helper()
	got := r.errorCode()
	if details, ok := valueAt(r.body, "error.details").([]any); ok && len(details) == 0 {
		got += "/"
	}
	if got != code || code == "" && r.status > 299 {
		t.Errorf("%s: %d %s %q, want %q", reason, r.status, got, r.errorMessage(), code)
	}
}

func TestPrefixesOfNetworks(t *testing.T) {
	for name, tc := range map[string]struct {
		reason        string
		space, subnet string
		code          string
	}{
		"/29":        {"the smallest subnet", "10.0.0.0/24", "10.0.0.0/29", ""},
		"/30":        {"Azure needs five of the addresses", "10.0.0.0/24", "10.0.0.0/30", "NetcfgInvalidSubnet/"},
		"/64":        {"IPv6", "fd00::/48", "fd00::/64", ""},
		"/65":        {"subnets of IPv6 are /64", "fd00::/48", "fd00::/65", "NetcfgInvalidSubnet/"},
		"/56":        {"subnets of IPv6 are /64", "fd00::/48", "fd00::/56", "NetcfgInvalidSubnet/"},
		"multicast":  {"not for machines", "224.0.0.0/16", "224.0.0.0/24", "AddressPrefixNotAllowed/"},
		"broadcast":  {"not for machines", "255.255.255.255/32", "255.255.255.255/32", "AddressPrefixNotAllowed/"},
		"loopback":   {"not for networks", "127.0.0.0/16", "127.0.0.0/24", "AddressPrefixNotAllowed/"},
		"link-local": {"has the metadata service", "169.254.0.0/16", "169.254.0.0/24", "AddressPrefixNotAllowed/"},
		"platform":   {"has Azure's DNS", "168.63.129.0/24", "168.63.129.0/24", "AddressPrefixNotAllowed/"},
		"public":     {"a public range is allowed", "20.0.0.0/16", "20.0.0.0/24", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAzure(t)
			a.createGroup()
			r := a.sendRequest("PUT", net+"/virtualNetworks/network", obj{"location": "westus3", "properties": obj{
				"addressSpace": obj{"addressPrefixes": []any{tc.space}},
				"subnets":      []any{obj{"name": "s", "properties": obj{"addressPrefix": tc.subnet}}}}})
			expectCode(t, tc.reason, r, tc.code)
		})
	}
}
