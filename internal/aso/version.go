package aso

import (
	"cmp"
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// APIVersionOf is the API version to speak about a managed cluster and its pools: the one that the last patch of the cluster with an
// apiVersion names, or else with preview the newest preview, or else the usual one.
func APIVersionOf(patches []string, preview bool) string {
	out := ""
	for _, text := range patches {
		// What cannot be read is for Check to refuse.
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

// versionPattern are the versions of ASO's documents, as in v1api20251001 and v20251002preview.
var versionPattern = regexp.MustCompile(`^` + regexp.QuoteMeta(groupPrefix) + `v(?:1api)?(\d{4})(\d{2})(\d{2})(preview)?$`)

// toAPIVersion is Azure's API version of a document's apiVersion; "" when it is not of the form.
func toAPIVersion(apiVersion string) string {
	match := versionPattern.FindStringSubmatch(apiVersion)
	if match == nil {
		return ""
	}
	return strings.TrimSuffix(strings.Join(match[1:], "-"), "-")
}

// toKindVersion is an API version as documents have it.
func toKindVersion(version string) string {
	return "v1api" + strings.ReplaceAll(version, "-", "")
}
