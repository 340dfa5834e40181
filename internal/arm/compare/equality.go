package compare

import (
	"encoding/json"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// isTags reports whether a path is that of tags: their names are not case-sensitive, their values are.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources
func isTags(shape string) bool { return shape == "tags" || strings.HasSuffix(shape, ".tags") }

// isFreeForm reports whether users define the keys and text at a path.
func isFreeForm(row types.Type, shape string) bool {
	return slices.ContainsFunc(row.FreeFormPaths, func(free string) bool {
		rest, below := strings.CutPrefix(shape, free)
		return below && (rest == "" || rest[0] == '.' || rest[0] == '[') && !slices.Contains(row.CaseInsensitiveKeys, free)
	})
}

// memberShape returns the path of a member of the object at a path.
func memberShape(row types.Type, shape, key string) string {
	if slices.Contains(row.FreeFormPaths, shape) {
		key = "*"
	}
	return jsonpath.JoinMember(shape, key)
}

// lookupMember finds a member of the object at a path.
func (d *differ) lookupMember(shape string, object map[string]any, key string) (any, bool) {
	if isFreeForm(d.desired.Type, shape) && !isTags(shape) {
		value, ok := object[key]
		return value, ok
	}
	return jsonpath.LookUp(object, key)
}

func (d *differ) sameScalar(shape string, want, have any) bool {
	if isEmpty(want) && isEmpty(have) {
		return true
	}
	switch want := want.(type) {
	case string:
		have, ok := have.(string)
		return ok && sameText(d.desired.Type, shape, want, have)
	case json.Number:
		have, ok := have.(json.Number)
		return ok && sameNumber(want, have)
	}
	return want == have
}

func sameText(row types.Type, shape, want, have string) bool {
	switch {
	case want == have:
		return true
	case slices.Contains(row.CaseInsensitivePaths, shape):
		return strings.EqualFold(want, have)
	case isFreeForm(row, shape):
		return false
	case isRegion(shape):
		return strings.EqualFold(strings.ReplaceAll(want, " ", ""), strings.ReplaceAll(have, " ", ""))
	}
	return sameID(want, have) || uuid.MatchString(want) && strings.EqualFold(want, have) || sameAddress(want, have)
}

// isRegion reports whether a path is that of regions: Azure returns their name for a display name as "East US 2".
func isRegion(shape string) bool {
	name := strings.ToLower(strings.TrimSuffix(shape[strings.LastIndex(shape, ".")+1:], "[]"))
	return shape == "extendedLocation.name" || strings.HasSuffix(name, "location") || strings.HasSuffix(name, "locations")
}

var uuid = regexp.MustCompile(`^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$`)

// roleDefinition is the common part of the IDs of a role, which has one in every subscription.
const roleDefinition = "/providers/microsoft.authorization/roledefinitions/"

// sameID compares IDs of resources. They are not case-sensitive, and Azure drops a slash at the end.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules
func sameID(want, have string) bool {
	normal := func(s string) string {
		s = strings.TrimRight(strings.ToLower(s), "/")
		if i := strings.LastIndex(s, roleDefinition); i >= 0 {
			s = s[i:]
		}
		return s
	}
	want, have = normal(want), normal(have)
	return want == have && (strings.HasPrefix(want, "/subscriptions/") || strings.HasPrefix(want, "/providers/"))
}

// sameAddress compares IP addresses and prefixes. IPv6 has several notations for one address, and an address means the same as
// the prefix of its length: clusters show the authorized range 203.0.113.7 as 203.0.113.7/32 (https://github.com/Azure/AKS/issues/4085).
func sameAddress(want, have string) bool {
	x, okX := parsePrefix(want)
	y, okY := parsePrefix(have)
	return okX && okY && x == y
}

func parsePrefix(text string) (netip.Prefix, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), address.Zone() == ""
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix, err == nil
}
