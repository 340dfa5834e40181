package plan

import (
	"net/netip"
	"testing"
)

func TestRangeSet(t *testing.T) {
	set := NewRangeSet([]netip.Prefix{netip.MustParsePrefix("10.1.2.3/16"), netip.MustParsePrefix("10.2.0.0/24"), netip.MustParsePrefix("2001:db8::/56")})
	for inner, want := range map[string]bool{
		"10.1.0.0/16": true, "10.1.255.0/24": true, "10.1.0.0/15": false, "10.0.0.0/8": false, "10.2.0.0/24": true, "10.2.0.128/25": true,
		"10.2.1.0/24": false, "10.2.0.0/23": false, "2001:db8::/64": true, "2001:db8:0:ff::/64": true, "2001:db8:0:100::/64": false,
		"2001:db8::/48": false, "0.0.0.0/0": false, "::ffff:10.1.0.0/112": false,
	} {
		if got := set.Contains(netip.MustParsePrefix(inner)); got != want {
			t.Errorf("%s is within the set: %t, want %t", inner, got, want)
		}
	}
	for address, want := range map[string]bool{"10.1.9.9": true, "10.2.0.255": true, "10.2.1.0": false, "2001:db8::1": true, "2001:db8::1%eth0": false,
		"::1": false} {
		if got := set.ContainsAddress(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s is in the set: %t, want %t", address, got, want)
		}
	}
	if NewRangeSet(nil).ContainsAddress(netip.MustParseAddr("10.0.0.1")) {
		t.Error("an empty set has an address")
	}
}
