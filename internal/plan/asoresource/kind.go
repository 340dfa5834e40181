package asoresource

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// Annotations of resource manifests.
const (
	// PolicyAnnotation limits the management of the resource: manage (the default), skip or detach-on-delete.
	PolicyAnnotation = "serviceoperator.azure.com/reconcile-policy"
	// CredentialAnnotation names the Secret in the namespace of the object with the credential for Azure.
	CredentialAnnotation = "serviceoperator.azure.com/credential-from"
	// UncheckedAnnotation is "true" on a manifest of an api-version newer than all known ones to send it without a check.
	UncheckedAnnotation = "infrastructure.cluster.x-k8s.io/unchecked"
)

// Values of PolicyAnnotation.
const (
	// PolicyManage creates, updates and deletes the resource.
	PolicyManage = "manage"
	// PolicySkip only reads the resource.
	PolicySkip = "skip"
	// PolicyDetach creates and updates the resource, and never deletes it.
	PolicyDetach = "detach-on-delete"
)

// ResourceType returns the resource type of the manifest's kind, as in "Microsoft.ContainerService/managedClusters/agentPools".
func (m Manifest) ResourceType() (string, bool) {
	of, ok := resourceTypesByKind()[kindKey(m.Group, m.Kind)]
	return of, ok
}

// APIVersion returns the api-version of requests for the resource, as in "2025-08-01" for v1api20250801.
func (m Manifest) APIVersion() (string, bool) {
	found := versionPattern.FindStringSubmatch(m.Version)
	if found == nil {
		return "", false
	}
	out := found[1] + "-" + found[2] + "-" + found[3]
	if found[4] != "" {
		out += "-" + found[4]
	}
	return out, true
}

// versionPattern matches the operator's versions: v1api20250801, v20251002preview and the older v1beta20210501.
var versionPattern = regexp.MustCompile(`^v(?:1api|1beta)?(20\d\d)(\d\d)(\d\d)(preview)?$`)

// knownVersions returns the versions of manifests for the api-versions that define a type.
func knownVersions(resourceType string) []string {
	var out []string
	for _, known := range schema.Versions(resourceType) {
		out = append(out, "v"+strings.ReplaceAll(known, "-", ""))
	}
	return out
}

// groupSuffix is the end of the operator's groups.
const groupSuffix = ".azure.com"

func kindKey(group, kind string) string { return strings.ToLower(group + "/" + kind) }

// shortKinds are the types whose kind in the operator is the last segment of the type.
// https://azure.github.io/azure-service-operator/reference/
var shortKinds = []string{
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
	"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings",
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
}

// resourceTypesByKind are the resource types by group and kind of the operator. A kind is made of the segments of the type, with the
// last one in the singular. Older kinds consist of the last segment only.
var resourceTypesByKind = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for _, full := range schema.ResourceTypes() {
		provider, rest, _ := strings.Cut(full, "/")
		group := strings.ToLower(strings.TrimPrefix(provider, "Microsoft.")) + groupSuffix
		segments := strings.Split(rest, "/")
		last := toSingular(segments[len(segments)-1])
		out[kindKey(group, strings.Join(segments[:len(segments)-1], "")+last)] = full
		if slices.Contains(shortKinds, full) {
			out[kindKey(group, last)] = full
		}
		if records := segments[len(segments)-1]; strings.HasPrefix(full, "Microsoft.Network/privateDnsZones/") && strings.ToUpper(records) == records {
			out[kindKey(group, strings.Join(segments, "")+"Record")] = full
		}
	}
	return out
})

func toSingular(plural string) string {
	for _, ending := range []struct{ plural, singular string }{{"ies", "y"}, {"sses", "ss"}, {"xes", "x"}, {"s", ""}} {
		if stem, ok := strings.CutSuffix(plural, ending.plural); ok {
			return stem + ending.singular
		}
	}
	return plural
}

// GroupKindOf returns the group and kind of a resource type for messages: the segments of the type with capitals, the last one in
// the singular.
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
	return strings.ToLower(strings.TrimPrefix(provider, "Microsoft.")) + groupSuffix, strings.Join(segments, "")
}

// findNearestKinds returns the kinds most similar to an unknown one, from its group if the group is known.
func findNearestKinds(m Manifest) []string {
	var all, same []string
	for _, full := range schema.ResourceTypes() {
		group, kind := GroupKindOf(full)
		all = append(all, kind)
		if strings.EqualFold(group, m.Group) {
			same = append(same, kind)
		}
	}
	if len(same) > 0 {
		all = same
	}
	if names := nearest.FindNames(m.Kind, all); len(names) > 0 {
		return names
	}
	return slices.Compact(same)
}
