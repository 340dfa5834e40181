package plan

import (
	"net/netip"
	"slices"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// maxListedRanges is how many ranges a message lists.
const maxListedRanges = 10

// ListRanges returns the first ranges of a network or subnet for a message, and the number of the others.
func ListRanges(ranges []string) string { return text.JoinFirst(ranges, maxListedRanges) }

// RangeSet is a set of IP ranges. It answers in a time that depends on how many sizes its ranges have and not on their number, because a
// network can have a thousand ranges and its subnets a hundred thousand.
type RangeSet struct {
	ranges map[netip.Prefix]bool
	bits   []int
}

// NewRangeSet returns the set of some ranges, whose addresses may have further bits set, as 10.1.2.3/16.
func NewRangeSet(ranges []netip.Prefix) RangeSet {
	out := RangeSet{ranges: make(map[netip.Prefix]bool, len(ranges))}
	for _, each := range ranges {
		out.ranges[each.Masked()] = true
		if !slices.Contains(out.bits, each.Bits()) {
			out.bits = append(out.bits, each.Bits())
		}
	}
	return out
}

// ContainsAddress reports whether an address is in one of the ranges. An address with a zone, such as fe80::1%eth0, is in none, because
// it is valid on one machine only.
func (s RangeSet) ContainsAddress(address netip.Addr) bool {
	return address.Zone() == "" && s.Contains(netip.PrefixFrom(address, address.BitLen()))
}

// Contains reports whether a range is within one range of the set.
func (s RangeSet) Contains(inner netip.Prefix) bool {
	return slices.ContainsFunc(s.bits, func(bits int) bool {
		outer, err := inner.Addr().Prefix(bits)
		return err == nil && bits <= inner.Bits() && s.ranges[outer]
	})
}
