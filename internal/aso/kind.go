package aso

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// GroupSuffix is the end of ASO's API groups.
const GroupSuffix = ".azure.com"

// shortKinds are the types whose kind in ASO is the last segment of the type.
// https://azure.github.io/azure-service-operator/reference/
var shortKinds = []string{
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
	"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings",
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
}

// ResourceTypeOf returns the resource type of a kind of ASO, as in "Microsoft.ContainerService/managedClusters/agentPools". Group and
// kind ignore case.
func ResourceTypeOf(group, kind string) (string, bool) {
	resourceType, ok := resourceTypesByKind()[kindKey(group, kind)]
	return resourceType, ok
}

func kindKey(group, kind string) string { return strings.ToLower(group + "/" + kind) }

// listTypes returns the types of all supported kinds: those of the definitions, and those without a definition.
func listTypes() []string { return slices.Concat(schema.ResourceTypes(), types.ListUndefined()) }

// resourceTypesByKind are the resource types of all supported kinds by group and kind of ASO. A kind is made of the segments of the
// type, with the last one in the singular. Older kinds consist of the last segment only.
var resourceTypesByKind = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, full := range listTypes() {
		provider, rest, _ := strings.Cut(full, "/")
		group := toGroup(provider)
		segments := strings.Split(rest, "/")
		last := toSingular(segments[len(segments)-1])
		out[kindKey(group, strings.Join(segments[:len(segments)-1], "")+last)] = full
		if slices.Contains(shortKinds, full) {
			out[kindKey(group, last)] = full
		}
		if records := segments[len(segments)-1]; strings.HasPrefix(full, "Microsoft.Network/privateDnsZones/") &&
			strings.ToUpper(records) == records {
			out[kindKey(group, strings.Join(segments, "")+"Record")] = full
		}
	}
	return out
})

func toGroup(provider string) string {
	return strings.ToLower(strings.TrimPrefix(provider, "Microsoft.")) + GroupSuffix
}

func toSingular(plural string) string {
	for _, ending := range []struct{ plural, singular string }{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(plural, ending.plural); ok {
			return stem + ending.singular
		}
	}
	return plural
}

// GroupKindOf returns ASO's group and kind of a resource type: the segments of the type with capitals, the last one in the singular.
func GroupKindOf(resourceType string) (group, kind string) {
	provider, rest, _ := strings.Cut(resourceType, "/")
	segments := strings.Split(rest, "/")
	segments[len(segments)-1] = toSingular(segments[len(segments)-1])
	if slices.Contains(shortKinds, resourceType) {
		segments = segments[len(segments)-1:]
	}
	for i, segment := range segments {
		segments[i] = strings.ToUpper(segment[:1]) + segment[1:]
	}
	return toGroup(provider), strings.Join(segments, "")
}
