package aso

import (
	"cmp"
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// APIVersionOf returns the api-version of requests for a managed cluster and its pools: that of the last patch of the cluster with
// an apiVersion, else the newest preview if preview is set, else the default.
func APIVersionOf(patches []string, preview bool) string {
	out := ""
	for _, text := range patches {
		// CheckPatches rejects an unreadable patch.
		if document, err := parsePatch(text); err == nil {
			version, _ := document["apiVersion"].(string)
			out = cmp.Or(toAPIVersion(version), out)
		}
	}
	if out == "" && preview {
		return armschema.NewestPreview()
	}
	return cmp.Or(out, types.ContainerServiceAPIVersion)
}

// versionPattern matches the apiVersion of ASO's objects, as in v1api20251001 and v20251002preview.
var versionPattern = regexp.MustCompile(`^` + regexp.QuoteMeta(groupPrefix) + `v(?:1api)?(\d{4})(\d{2})(\d{2})(preview)?$`)

// toAPIVersion returns Azure's api-version for an apiVersion of ASO, "" if it does not match.
func toAPIVersion(apiVersion string) string {
	match := versionPattern.FindStringSubmatch(apiVersion)
	if match == nil {
		return ""
	}
	return strings.TrimSuffix(strings.Join(match[1:], "-"), "-")
}

// toKindVersion returns an api-version in the format of ASO's objects.
func toKindVersion(version string) string {
	return "v1api" + strings.ReplaceAll(version, "-", "")
}
