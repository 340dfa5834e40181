package server

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// knownFeatures are features that documentation of AKS and Compute asks users to register. Others do not exist.
// Source: https://learn.microsoft.com/azure/aks and https://learn.microsoft.com/azure/virtual-machines, pages of the features.
var knownFeatures = []string{
	"Microsoft.Compute/EncryptionAtHost", "Microsoft.Compute/UltraSSD", "Microsoft.Compute/InGuestAutoPatchVMPreview",
	"Microsoft.Compute/AutomaticZoneRebalancing", "Microsoft.Compute/ResilientVMScaleSets", "Microsoft.Compute/SharedDisksForPremium",
	"Microsoft.ContainerService/AKS-GitOps", "Microsoft.ContainerService/AKSWindows2025Preview",
	"Microsoft.ContainerService/AdvancedNetworkingPreview", "Microsoft.ContainerService/AutomaticSKUPreview",
	"Microsoft.ContainerService/EnableAPIServerVnetIntegrationPreview", "Microsoft.ContainerService/FleetResourcePreview",
	"Microsoft.ContainerService/KubeletDefaultSeccompProfilePreview", "Microsoft.ContainerService/NodeAutoProvisioningPreview",
	"Microsoft.ContainerService/PodSubnetPreview", "Microsoft.ContainerService/StaticEgressGatewayPreview",
	"Microsoft.Network/AllowBringYourOwnPublicIpAddress", "Microsoft.Network/AllowVirtualNetworkEncryption",
}

// answerFeatures answers the paths of Microsoft.Features below a subscription: the list of all features, those of a provider, one of them, and its
// registration. Azure registers in the background, within minutes or after an approval; the simulator does at once.
// Source: https://learn.microsoft.com/rest/api/resources/features and .../subscription-feature-registrations.
func (x *exchange) answerFeatures() (*provider.Reply, error) {
	l := x.lower
	namespace, name, action := "", "", ""
	switch n := len(l); {
	case n == 5 && l[4] == "features":
	case n >= 7 && n <= 9 && l[4] == "providers" && l[6] == "features":
		namespace, name, action = l[5], strings.Join(x.segs[7:min(n, 8)], ""), strings.Join(l[min(n, 8):], "")
	default:
		return nil, provider.GatewayErrorf(404, "InvalidResourceType", "The path '%s' names no feature.", x.r.URL.Path)
	}
	x.call.ID.Subscription = x.segs[1]
	features := append(slices.Clone(knownFeatures), x.s.opts.FeaturesOff...)
	list := []any{}
	for _, full := range features {
		of, own, _ := strings.Cut(full, "/")
		if namespace != "" && !strings.EqualFold(of, namespace) || name != "" && !strings.EqualFold(own, name) ||
			slices.ContainsFunc(list, func(v any) bool { return strings.EqualFold(body.String(v.(body.Object), "name"), full) }) {
			continue
		}
		if action != "" {
			x.call.SetFeature(x.segs[1], full, action == "register")
		}
		list = append(list, x.showFeature(full))
	}
	switch {
	case action != "" && action != "register" && action != "unregister":
		return nil, provider.GatewayErrorf(404, "InvalidResourceType", "The path '%s' names no feature.", x.r.URL.Path)
	case name != "" && len(list) == 0:
		return nil, provider.GatewayErrorf(404, "FeatureNotFound", "The feature '%s' could not be found.", name)
	case name != "":
		return provider.OK(list[0]), nil
	}
	return x.pageOfList(list), nil
}

func (x *exchange) showFeature(full string) body.Object {
	namespace, name, _ := strings.Cut(full, "/")
	state := "Unregistered"
	if x.call.IsFeatureRegistered(full) {
		state = "Registered"
	}
	return body.Object{"name": full, "type": "Microsoft.Features/providers/features", "properties": body.Object{"state": state},
		"id": "/subscriptions/" + x.segs[1] + "/providers/Microsoft.Features/providers/" + namespace + "/features/" + name}
}
