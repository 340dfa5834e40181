package network

import (
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// checkRuleValues checks the addresses and ports of one side of a security rule.
// The codes and texts are those that public reports of failed deployments quote.
func checkRuleValues(rule body.Object, side string) error {
	for _, prefix := range oneAndMany(rule, side+"AddressPrefix", side+"AddressPrefixes") {
		if !isRuleAddress(prefix) {
			return invalidValue("SecurityRuleInvalidAddressPrefix", "Security rule has invalid Address prefix. Value provided: %s", prefix)
		}
	}
	for _, ports := range oneAndMany(rule, side+"PortRange", side+"PortRanges") {
		if !isPortRange(ports) {
			return invalidValue("SecurityRuleInvalidPortRange",
				"Security rule has invalid Port range. Value provided: %s. Value should be an integer OR integer range with '-' delimiter. Valid range 0-65535.",
				ports)
		}
	}
	return nil
}

func oneAndMany(rule body.Object, one, many string) []string {
	values := slices.Clone(body.Strings(rule, "properties."+many))
	if value := body.String(rule, "properties."+one); value != "" {
		values = append(values, value)
	}
	return values
}

// isRuleAddress reports whether a security rule can have an address: a single one, a prefix without bits of a host, all, or a service tag.
func isRuleAddress(s string) bool {
	if s == "*" || isServiceTag(s) {
		return true
	}
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	prefix, err := netip.ParsePrefix(s)
	return err == nil && prefix.Masked() == prefix
}

var serviceTag = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+(\.[A-Za-z0-9]+)*$`)

// isServiceTag reports whether s can be the name of a service tag. Azure adds tags often, so the spelling of the published ones is checked
// and not their names: https://learn.microsoft.com/azure/virtual-network/service-tags-overview
func isServiceTag(s string) bool {
	switch strings.ToLower(s) {
	case "internet", "virtualnetwork", "azureloadbalancer": // Tags are compared without case: from memory.
		return true
	}
	return serviceTag.MatchString(s)
}

func isPortRange(s string) bool {
	if s == "*" {
		return true
	}
	first, last, isRange := strings.Cut(s, "-")
	from, ok := parsePort(first)
	if !isRange || !ok {
		return ok
	}
	to, ok := parsePort(last)
	return ok && from <= to
}

func parsePort(s string) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return n, err == nil
}
