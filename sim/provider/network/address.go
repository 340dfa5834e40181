package network

import (
	"math/big"
	"net/netip"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// parsePrefixes reads address prefixes written either way.
func parsePrefixes(o body.Object, single, list string) ([]netip.Prefix, string) {
	raw := body.Strings(o, list)
	if s := body.String(o, single); s != "" && len(raw) == 0 {
		raw = []string{s}
	}
	var out []netip.Prefix
	for _, s := range raw {
		p, err := netip.ParsePrefix(s)
		if err != nil || p.Masked() != p {
			return nil, s
		}
		out = append(out, p)
	}
	return out, ""
}

// addressOwners maps the addresses taken in a subnet to who has them.
func addressOwners(c *provider.Call, subnetID string) map[netip.Addr]string {
	out := map[netip.Addr]string{}
	for _, ref := range c.Referrers(subnetID) {
		if ref.Field != "subnet" {
			continue
		}
		r := c.Get(ref.From)
		if r == nil {
			continue
		}
		e := findElement(r, ref.Sub)
		if a, err := netip.ParseAddr(body.String(e, "properties.privateIPAddress")); err == nil {
			out[a] = ref.Path()
		}
	}
	return out
}

// findElement follows a path of named array elements into a stored resource: "ipConfigurations/primary".
func findElement(r *store.Resource, sub string) body.Object {
	o := r.Body
	steps := strings.Split(sub, "/")
	for i := 0; i+1 < len(steps); i += 2 {
		_, o = body.FindNamed(body.Objects(o, "properties."+steps[i]), steps[i+1])
	}
	return o
}

// AllocateAddress gives an ipConfiguration (of a NIC, an internal frontend, a scale-set instance) its private address from its subnet.
// owner is its ID; taken are addresses handed out earlier in the same request. It writes properties.privateIPAddress.
func AllocateAddress(c *provider.Call, owner string, cfg, old body.Object, taken map[netip.Addr]bool) error {
	subnetID := body.String(cfg, "properties.subnet.id")
	subnet := c.FindItem(subnetID)
	if subnet == nil {
		return provider.InvalidReference(subnetID, owner)
	}
	v6 := strings.EqualFold(body.String(cfg, "properties.privateIPAddressVersion"), "IPv6")
	nets, _ := parsePrefixes(subnet.Body, "properties.addressPrefix", "properties.addressPrefixes")
	used := addressOwners(c, subnet.ID)
	static := strings.EqualFold(body.String(cfg, "properties.privateIPAllocationMethod"), "Static")
	want := body.String(cfg, "properties.privateIPAddress")
	if !static {
		// A dynamic address stays as long as the configuration is in the same subnet.
		want = ""
		if store.SameID(body.String(old, "properties.subnet.id"), subnetID) {
			want = body.String(old, "properties.privateIPAddress")
		}
	}
	free := func(a netip.Addr) bool {
		by, busy := used[a]
		return !taken[a] && (!busy || store.SameID(by, owner))
	}
	if want != "" {
		a, err := netip.ParseAddr(want)
		if err != nil {
			return invalidValue("InvalidIPAddressFormat", "IP address '%s' of %s is not valid.", want, owner)
		}
		return claimAddress(a, nets, subnet, owner, cfg, taken, free, used)
	}
	for _, n := range nets {
		if n.Addr().Is6() != v6 {
			continue
		}
		a := n.Addr()
		for range 4 { // the first four addresses are Azure's
			a = a.Next()
		}
		for ; n.Contains(a) && (v6 || n.Contains(a.Next())); a = a.Next() {
			if free(a) {
				body.Set(cfg, "properties.privateIPAddress", a.String())
				taken[a] = true
				return nil
			}
		}
	}
	return invalidValue("SubnetIsFull", "Subnet %s with address prefix %s does not have enough capacity for 1 IP addresses.", subnet.Name,
		body.String(subnet.Body, "properties.addressPrefix"))
}

func claimAddress(a netip.Addr, nets []netip.Prefix, subnet *provider.Item, owner string, cfg body.Object, taken map[netip.Addr]bool,
	free func(netip.Addr) bool, used map[netip.Addr]string) error {
	for _, n := range nets {
		if !n.Contains(a) {
			continue
		}
		first := n.Addr()
		for range 3 {
			first = first.Next()
		}
		if a.Compare(first) <= 0 || a.Is4() && !n.Contains(a.Next()) {
			return invalidValue("PrivateIPAddressInReservedRange",
				"Private static IP address %s falls within reserved IP range of subnet prefix %s.", a, n)
		}
		if !free(a) {
			return invalidValue("PrivateIPAddressInUse",
				"IP configuration %s is using the private IP address %s which is already allocated to resource %s.", owner, a, used[a])
		}
		body.Set(cfg, "properties.privateIPAddress", a.String())
		taken[a] = true
		return nil
	}
	return invalidValue("PrivateIPAddressNotInSubnet",
		"Private static IP address %s does not belong to the range of subnet prefix %v of subnet %s.", a, nets, subnet.ID)
}

// NextPublic hands out public addresses, one after the other, from 20.0.0.0/8, or 2603:1000::/32 for IPv6.
func NextPublic(c *provider.Call, v6 bool) string {
	var n int64
	c.ReadNote("publicAddresses", &n)
	n++
	c.SetMeta("publicAddresses", n)
	// Multiplying by an odd number visits all of the 24 bits and makes neighbours look unrelated, as they are on Azure.
	x := uint32(n*7919*257) & 0xffffff
	if v6 {
		a := netip.MustParseAddr("2603:1000::").As16()
		big.NewInt(int64(x)).FillBytes(a[8:16])
		return netip.AddrFrom16(a).String()
	}
	return netip.AddrFrom4([4]byte{20, byte(x >> 16), byte(x >> 8), byte(x)}).String()
}
