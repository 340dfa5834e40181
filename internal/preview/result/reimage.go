package result

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// reimaging is a change for which AKS reimages nodes.
type reimaging struct {
	path string
	// does reports whether AKS reimages nodes for a change of the value; nil is every change. Values are in the format of Property.
	does func(from, to string) bool
}

// allReimaging has the changes of each type that https://learn.microsoft.com/en-us/azure/aks/node-disruption-policy lists, in the order of
// that page, and the upgrades that the page names as not controlled by the policy. Changes for which AKS reimages nodes only from a version
// of Kubernetes on, such as the outbound type, are not listed: on other versions nodes stay as they are until their image is upgraded.
var allReimaging = map[string][]reimaging{
	types.ManagedCluster: {
		// "Changing between Azure and Calico network policies after one is already enabled doesn't require a reimage."
		{"properties.networkProfile.networkPolicy", func(from, to string) bool { return isNone(from) != isNone(to) }},
		{"properties.networkProfile.networkPluginMode", nil},
		{"properties.autoUpgradeProfile.nodeOSUpgradeChannel", func(from, to string) bool { return from == `"Unmanaged"` || to == `"Unmanaged"` }},
		{"properties.networkProfile.ipFamilies", func(from, to string) bool { return !hasIPv6(from) && hasIPv6(to) }},
		{"properties.networkProfile.networkDataplane", nil},
		{"properties.httpProxyConfig", nil},
		{"properties.securityProfile.customCATrustCertificates", nil},
		{"properties.identityProfile.kubeletidentity", nil},
		{"properties.servicePrincipalProfile", nil},
		{"properties.apiServerAccessProfile.privateDNSZone", nil},
		{"properties.apiServerAccessProfile.enableVnetIntegration", func(_, to string) bool { return to == "true" }},
		{"properties.networkProfile.advancedNetworking.performance.accelerationMode", nil},
		{"properties.windowsProfile.gmsaProfile", nil},
	},
	types.AgentPool: {
		{"properties.localDNSProfile", nil},
		{"properties.securityProfile.enableVTPM", nil},
		{"properties.securityProfile.enableSecureBoot", nil},
		{"properties.artifactStreamingProfile", nil},
		{"properties.capacityReservationGroupID", func(from, _ string) bool { return isNone(from) }},
		{"properties.orchestratorVersion", nil},
		// "might trigger an automatic reimage if the OS version changes":
		// https://learn.microsoft.com/en-us/azure/aks/upgrade-os-version#roll-back-your-os-version
		{"properties.osSKU", nil},
	},
}

func isNone(value string) bool {
	return slices.Contains([]string{"", "(absent)", `""`, `"none"`}, value)
}

func hasIPv6(families string) bool { return strings.Contains(families, "IPv6") }

// isReimaging reports whether AKS reimages nodes for a change of a property of a resource of a type.
func isReimaging(resourceType string, change Property) bool {
	return slices.ContainsFunc(allReimaging[resourceType], func(known reimaging) bool {
		rest, is := strings.CutPrefix(change.Path, known.path)
		return is && (rest == "" || rest[0] == '.' || rest[0] == '[') && (known.does == nil || known.does(change.Old, change.New))
	})
}
