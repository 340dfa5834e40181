package network

import (
	"net/netip"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// maxGroupAddresses is how many addresses and prefixes an IP group may have.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/azure-subscription-service-limits#azure-firewall-limits
const maxGroupAddresses = 5000

// ipGroupType returns the type of lists of addresses for firewalls. Source: https://learn.microsoft.com/azure/firewall/ip-groups and SDK module
// armnetwork v9.0.0, IPGroup; answers are recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1. Error codes are guesses.
func ipGroupType() *provider.Type {
	return &provider.Type{
		Name: "Microsoft.Network/ipGroups", Style: provider.Network, Etag: provider.Weak, RetryAfter: 10,
		Create:        provider.Timing{HTTP: 400 * time.Millisecond, LRO: provider.Seconds(2)},
		Delete:        provider.Timing{HTTP: 300 * time.Millisecond, LRO: provider.Seconds(2)},
		ReadOnlyPaths: []string{"properties.firewalls", "properties.firewallPolicies"},
		Prepare: func(_ *provider.Call, d *provider.Draft) error {
			body.Default(d.New, "properties.ipAddresses", []any{})
			list := body.Strings(d.New, "properties.ipAddresses")
			if len(list) > maxGroupAddresses {
				return invalidValue("IpGroupsIpAddressesLimitExceeded", "IP group %s has %d addresses, more than %d.", d.ID, len(list), maxGroupAddresses)
			}
			for _, text := range list {
				if !isAddressRange(text) {
					return invalidValue("InvalidIpAddressOrPrefix", "'%s' of IP group %s is not an address, a prefix or a range of addresses.", text, d.ID)
				}
			}
			return nil
		},
		View: func(_ *provider.Call, it *provider.Item) {
			body.Default(it.Body, "properties.firewalls", []any{})
			body.Default(it.Body, "properties.firewallPolicies", []any{})
		},
	}
}

// isAddressRange reports whether a text is an IPv4 address, a prefix, or two addresses with a hyphen between.
func isAddressRange(text string) bool {
	if low, high, isRange := strings.Cut(text, "-"); isRange {
		from, err := netip.ParseAddr(strings.TrimSpace(low))
		to, err2 := netip.ParseAddr(strings.TrimSpace(high))
		return err == nil && err2 == nil && from.Compare(to) <= 0
	}
	_, err := netip.ParseAddr(text)
	_, err2 := netip.ParsePrefix(text)
	return err == nil || err2 == nil
}
