package aso

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
)

// UncheckedKindsFlag is the manager's flag with the kinds whose manifests are sent without a definition.
const UncheckedKindsFlag = "--unchecked-aso-kinds"

// definitionsPage is the section of the documentation about definitions.
const definitionsPage = `"Add definitions of Azure" in docs/book/aks/resource-manifests.md`

// ListUncheckedKinds returns the kinds that UncheckedKindsFlag accepts, as in "dashboard.azure.com/Grafana", sorted.
func ListUncheckedKinds() []string {
	var out []string
	for _, resourceType := range types.ListUndefined() {
		group, kind := GroupKindOf(resourceType)
		out = append(out, group+"/"+kind)
	}
	slices.Sort(out)
	return out
}

// CheckUncheckedKinds returns an error for a value of UncheckedKindsFlag that matches no kind without a definition. An empty one is the default
// of clusterctl's variable, and stands for no kind.
func CheckUncheckedKinds(allowed []string) error {
	for _, value := range allowed {
		if value != "" && !slices.ContainsFunc(ListUncheckedKinds(), func(kind string) bool { return matchesKind(value, kind) }) {
			message := fmt.Sprintf("%s: %q is not a supported kind without a definition.", UncheckedKindsFlag, value)
			if near := nearest.FindNames(value, ListUncheckedKinds()); len(near) > 0 {
				message += " Similar kinds: " + strings.Join(near, ", ") + "."
			}
			return fmt.Errorf("%s Use one of %s", message, strings.Join(ListUncheckedKinds(), ", "))
		}
	}
	return nil
}

// AllowsUnchecked reports whether the values of UncheckedKindsFlag contain a kind.
func AllowsUnchecked(allowed []string, group, kind string) bool {
	return slices.ContainsFunc(allowed, func(value string) bool { return matchesKind(value, group+"/"+kind) })
}

// matchesKind reports whether a value of the flag stands for a kind: its name, or all kinds of its group as in "insights.azure.com/*".
func matchesKind(value, kind string) bool {
	group, _, _ := strings.Cut(kind, "/")
	return strings.EqualFold(value, kind) || strings.EqualFold(value, group+"/*")
}

// UnknownKindReason returns why the manifest of a kind is refused that has no definition, and how to have it accepted.
func UnknownKindReason(group, kind string) string {
	name := kind + " of " + group
	resourceType, supported := ResourceTypeOf(group, kind)
	if supported {
		name += " (" + resourceType + ")"
	}
	out := "the provider has no definition of " + name + ", so it cannot check the manifest and refuses it."
	if supported {
		group, kind = GroupKindOf(resourceType)
		out += fmt.Sprintf(" To send manifests of this kind to Azure without a check, start the manager with %s=%s/%s.", UncheckedKindsFlag, group, kind)
	} else {
		out += fmt.Sprintf(" The manager's flag %s only accepts %s.", UncheckedKindsFlag, strings.Join(ListUncheckedKinds(), ", "))
	}
	out += " To have them checked, add Azure's definition: see " + definitionsPage + "."
	if near := findNearestDefined(group, kind); len(near) > 0 {
		out += " Most similar kinds with a definition: " + strings.Join(near, ", ") + "."
	}
	return out
}

// maxListedKinds is the maximum number of kinds of a group that a message lists.
const maxListedKinds = 6

// findNearestDefined returns the most similar kinds with a definition, with their groups: those of the group, if they are few.
func findNearestDefined(group, kind string) []string {
	var all, same []string
	for _, full := range schema.ResourceTypes() {
		knownGroup, known := GroupKindOf(full)
		all = append(all, knownGroup+"/"+known)
		if strings.EqualFold(knownGroup, group) {
			same = append(same, knownGroup+"/"+known)
		}
	}
	if len(same) > 0 && len(same) <= maxListedKinds {
		return same
	}
	if len(same) > 0 {
		all = same
	}
	return nearest.FindNames(group+"/"+kind, all)
}

// IsUndefined reports whether a resource type has kinds that are supported without a definition.
func IsUndefined(resourceType string) bool { return types.IsUndefined(resourceType) }
