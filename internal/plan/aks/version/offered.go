package version

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Offered has the versions that AKS offers in a region: the patch versions by minor version.
type Offered map[string][]string

// ParseOffered reads the answer of Azure.
// https://learn.microsoft.com/rest/api/aks/managed-clusters/list-kubernetes-versions
func ParseOffered(raw json.RawMessage) (Offered, error) {
	var body struct {
		Values []struct {
			Version       string         `json:"version"`
			PatchVersions map[string]any `json:"patchVersions"`
		} `json:"values"`
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		return nil, fmt.Errorf("versions of AKS: %w", err)
	}
	out := Offered{}
	for _, value := range body.Values {
		out[value.Version] = slices.SortedFunc(maps.Keys(value.PatchVersions), compare)
	}
	return out, nil
}

// Has reports whether AKS offers a version, with or without the v and the patch version.
func (o Offered) Has(version string) bool {
	version = withoutV(version)
	if _, isMinor := o[version]; isMinor {
		return true
	}
	for _, patches := range o {
		if slices.Contains(patches, version) {
			return true
		}
	}
	return false
}

// Newest returns the newest patch of each minor version, newest first.
func (o Offered) Newest() (out []string) {
	for _, patches := range o {
		if len(patches) > 0 {
			out = append(out, patches[len(patches)-1])
		}
	}
	slices.SortFunc(out, func(a, b string) int { return compare(b, a) })
	return out
}

// CheckOffered returns an error on path with the offered versions if the region does not offer a version. Without a known version it
// returns none.
func (o Offered) CheckOffered(path *field.Path, region, version string) field.ErrorList {
	if len(o) == 0 || version == "" || o.Has(version) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, version, fmt.Sprintf("AKS does not offer this version of Kubernetes in %s (K8sVersionNotSupported). It offers %s. To list all, run: az aks get-versions --output table --location %[1]s",
		region, strings.Join(o.Newest(), ", ")))}
}

func compare(a, b string) int {
	switch {
	case IsLower(a, b):
		return -1
	case IsLower(b, a):
		return 1
	}
	return 0
}
