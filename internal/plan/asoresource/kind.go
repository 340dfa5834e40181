package asoresource

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// Annotations of documents.
const (
	// PolicyAnnotation says what may be done to the resource: Manage, which is the default, Skip or Detach.
	PolicyAnnotation = "serviceoperator.azure.com/reconcile-policy"
	// CredentialAnnotation names the Secret in the namespace of the object with whose credential Azure is asked.
	CredentialAnnotation = "serviceoperator.azure.com/credential-from"
	// UncheckedAnnotation is "true" on a document of an api-version newer than the known ones that is sent as it is.
	UncheckedAnnotation = "infrastructure.cluster.x-k8s.io/unchecked"
)

// Values of PolicyAnnotation.
const (
	// PolicyManage makes the resource, keeps it in line and deletes it.
	PolicyManage = "manage"
	// PolicySkip only reads it.
	PolicySkip = "skip"
	// PolicyDetach makes it and keeps it in line, and never deletes it.
	PolicyDetach = "detach-on-delete"
)

// ResourceType is the resource type that the kind of the document is, as in "Microsoft.ContainerService/managedClusters/agentPools".
func (d Manifest) ResourceType() (string, bool) {
	of, ok := resourceTypesByKind()[kindKey(d.Group, d.Kind)]
	return of, ok
}

// APIVersion is the api-version that is spoken about the resource, as in "2025-08-01" for v1api20250801.
func (d Manifest) APIVersion() (string, bool) {
	found := versionPattern.FindStringSubmatch(d.Version)
	if found == nil {
		return "", false
	}
	out := found[1] + "-" + found[2] + "-" + found[3]
	if found[4] != "" {
		out += "-" + found[4]
	}
	return out, true
}

// The operator's versions are v1api20250801, v20251002preview and, of old, v1beta20210501.
var versionPattern = regexp.MustCompile(`^v(?:1api|1beta)?(20\d\d)(\d\d)(\d\d)(preview)?$`)

// knownVersions are the versions of documents for the api-versions that a type is defined in.
func knownVersions(resourceType string) []string {
	var out []string
	for _, known := range schema.Versions(resourceType) {
		out = append(out, "v"+strings.ReplaceAll(known, "-", ""))
	}
	return out
}

// groupSuffix ends the groups of the operator.
const groupSuffix = ".azure.com"

func kindKey(group, kind string) string { return strings.ToLower(group + "/" + kind) }

// shortKinds are the kinds that the operator calls by the last segment of their type alone.
// https://azure.github.io/azure-service-operator/reference/
var shortKinds = []string{
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations",
	"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings",
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
}

// resourceTypesByKind are the resource types by group and kind, as the operator names them: the segments of the type, all but the last one
// as they are, and the last one in the singular. A kind of old has that segment alone.
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

// GroupKindOf is how messages call the kind of a type: the segments of the type with capitals, the last one in the singular.
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

// findNearestKinds are the kinds most like one that nothing defines, those of its group if there are any.
func findNearestKinds(d Manifest) []string {
	var all, same []string
	for _, full := range schema.ResourceTypes() {
		group, kind := GroupKindOf(full)
		all = append(all, kind)
		if strings.EqualFold(group, d.Group) {
			same = append(same, kind)
		}
	}
	if len(same) > 0 {
		all = same
	}
	if names := nearest.Names(d.Kind, all); len(names) > 0 {
		return names
	}
	return slices.Compact(same)
}

func formatInt(i int) string { return strconv.Itoa(i) }
