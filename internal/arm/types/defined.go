package types

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// Ranks of types without a row: children and extensions are deleted before resources that others may use.
const (
	childRank  = 12
	parentRank = 78
)

var definitionRows sync.Map // type in lower case to Type

// rowFromDefinition returns the row of a type that only the definitions have. By the rules of Resource Manager a PUT replaces the
// resource, and a child is deleted with its parent:
// https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/resource-api-reference.md
func rowFromDefinition(name string) (Type, bool) {
	if row, ok := definitionRows.Load(name); ok {
		return row.(Type), true
	}
	definition, ok := schema.NewestDefinition(name)
	if !ok {
		return Type{}, false
	}
	row := Type{
		Name: definition.Type, FromDefinition: true, APIVersion: definition.APIVersion, Put: PutReplaces, DeleteRank: parentRank,
		// The length of the collection is unknown, and whether it belongs to the parent.
		ReadIndividually: true,
	}
	if strings.Count(name, "/") > 1 || IsExtension(name) {
		row.DeleteRank, row.DeletedWithParent = childRank, true
	}
	_, _, row.Taggable = definition.Body().Property("tags", nil)
	definition.WalkProperties(func(path string, shape schema.Shape) {
		switch {
		case shape.IsHidden(path):
			row.WriteOnlyPaths = append(row.WriteOnlyPaths, path)
		case len(shape.Enum) > 0:
			row.CaseInsensitivePaths = append(row.CaseInsensitivePaths, path)
		case shape.Type == "map" || shape.Type == "any":
			row.FreeFormPaths = append(row.FreeFormPaths, path)
		}
	})
	definitionRows.Store(name, row)
	return row, true
}

// extensionTypes are the types whose resources can be below any other one.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/extension-resource-types
var extensionTypes = []string{
	"microsoft.authorization/locks", "microsoft.authorization/policyassignments", "microsoft.authorization/roleassignments",
	"microsoft.authorization/roledefinitions", "microsoft.insights/datacollectionruleassociations", "microsoft.insights/diagnosticsettings",
	"microsoft.kubernetesconfiguration/extensions",
	"microsoft.kubernetesconfiguration/fluxconfigurations", "microsoft.kubernetesconfiguration/sourcecontrolconfigurations",
}

// IsExtension reports whether resources of a type can be below any other resource, and not only in a resource group.
func IsExtension(resourceType string) bool {
	return slices.Contains(extensionTypes, strings.ToLower(resourceType))
}
