package aso

import (
	"cmp"
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// versionPattern matches the versions of ASO's groups: v1api20250801, v20251002preview and the older v1beta20210501.
var versionPattern = regexp.MustCompile(`^v(?:1api|1beta)?(20\d\d)(\d\d)(\d\d)(preview)?$`)

// ToAPIVersion returns Azure's api-version for a version of an ASO group, as in "2025-08-01" for v1api20250801. ok is false if the
// version has no date.
func ToAPIVersion(version string) (apiVersion string, ok bool) {
	match := versionPattern.FindStringSubmatch(version)
	if match == nil {
		return "", false
	}
	return strings.TrimSuffix(strings.Join(match[1:], "-"), "-"), true
}

// ToVersion returns the version of an ASO group for an api-version, as in v1api20250801.
func ToVersion(apiVersion string) string { return "v1api" + strings.ReplaceAll(apiVersion, "-", "") }

// KnownVersions returns the versions of ASO's groups for the api-versions that define a resource type, oldest first.
func KnownVersions(resourceType string) []string {
	var out []string
	for _, known := range schema.Versions(resourceType) {
		out = append(out, ToVersion(known))
	}
	return out
}

// APIVersionOf returns the api-version of requests for a managed cluster and its pools: that of the last patch of the cluster with
// an apiVersion, else the newest preview if preview is set, else the default.
func APIVersionOf(patches []string, preview bool) string {
	out := ""
	for _, text := range patches {
		// CheckPatches rejects an unreadable patch.
		if document, err := parsePatch(text); err == nil {
			apiVersion, _ := document["apiVersion"].(string)
			out = cmp.Or(patchVersion(apiVersion), out)
		}
	}
	if out == "" && preview {
		return armschema.NewestPreview()
	}
	return cmp.Or(out, types.ContainerServiceAPIVersion)
}

// patchVersion returns Azure's api-version for the apiVersion of a patch, "" if it is of another group or has no date.
func patchVersion(apiVersion string) string {
	version, ok := strings.CutPrefix(apiVersion, patchGroup()+"/")
	if !ok {
		return ""
	}
	out, _ := ToAPIVersion(version)
	return out
}

// patchGroup is ASO's group of the kinds of patches.
func patchGroup() string {
	group, _ := GroupKindOf(types.ManagedCluster)
	return group
}
