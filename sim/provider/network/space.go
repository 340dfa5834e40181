package network

import "net/netip"

// reservedSpaces are prefixes that the address space of a virtual network cannot have: multicast, broadcast, loopback, link-local, and the
// address of Azure's own DNS and health probes.
// https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq#what-address-ranges-can-i-use-in-my-virtual-networks
var reservedSpaces = []netip.Prefix{
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("255.255.255.255/32"),
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("168.63.129.16/32"),
}

// checkSpace refuses prefixes that overlap with a reserved one. The code is assumed.
func checkSpace(prefixes []netip.Prefix, network string) error {
	for _, prefix := range prefixes {
		for _, reserved := range reservedSpaces {
			if prefix.Overlaps(reserved) {
				return invalidValue("AddressPrefixNotAllowed", "Address prefix %s of virtual network %s overlaps with %s, which Azure reserves.", prefix,
					network, reserved)
			}
		}
	}
	return nil
}

// hasSubnetSize reports whether a subnet can have a prefix: IPv4 subnets have at least 8 addresses, and IPv6 subnets are /64.
// https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq#how-small-and-how-large-can-virtual-networks-and-subnets-be
func hasSubnetSize(prefix netip.Prefix) bool {
	if prefix.Addr().Is4() {
		return prefix.Bits() <= 29
	}
	return prefix.Bits() == 64
}
