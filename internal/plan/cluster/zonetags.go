package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// maxZoneTags is the number of tags that private DNS takes on a zone or a link: Azure/bicep-registry-modules#1541,
// Azure/azure-rest-api-specs#13600.
const maxZoneTags = 15

// buildZoneTags returns the tags of a private DNS zone and its links: those of the provider, and as many additional ones as Azure takes, in
// the order of their names. leftOut lists the names of the others.
func buildZoneTags(in plan.ClusterInput) (tags map[string]*string, leftOut []string) {
	tags = plan.BuildTags(in, "", "", nil)
	all := plan.BuildTags(in, "", "", in.AzureCluster.Spec.AdditionalTags)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch _, ours := tags[name]; {
		case ours:
		case len(tags) < maxZoneTags && isZoneTagName(name):
			tags[name] = all[name]
		default:
			leftOut = append(leftOut, name)
		}
	}
	return tags, leftOut
}

// isZoneTagName reports whether DNS takes a tag of this name. Microsoft names digits at the start, spaces, parentheses, and special and
// unicode characters as those that it does not take: MicrosoftDocs/azure-docs#124115.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/tag-resources#limitations
func isZoneTagName(name string) bool {
	return name != "" && (name[0] < '0' || name[0] > '9') && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	})
}

// IgnoredTags returns a message about the additional tags that the private DNS zone and its links do not get, "" if there are none.
func IgnoredTags(in plan.ClusterInput) string {
	if !hasPrivateDNS(in) {
		return ""
	}
	_, leftOut := buildZoneTags(in)
	if len(leftOut) == 0 {
		return ""
	}
	return fmt.Sprintf("the private DNS zone and its links do not get these tags of spec.additionalTags: %s. Azure takes at most %d tags there, with those of the provider, and only names of letters, digits, _, . and - that do not start with a digit",
		strings.Join(leftOut, ", "), maxZoneTags)
}
