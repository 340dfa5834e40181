package types

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// Ranks of types without a row: what is below another resource or extends one goes before what may be used by others.
const (
	childRank  = 12
	parentRank = 78
)

var definitionRows sync.Map // type in lower case to Type

// rowFromDefinition is the row of a type that only the definitions know. By the rules of Resource Manager a PUT replaces the resource,
// and a child goes with its parent:
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
		// Nothing is known about how long the collection is, nor whether it is that of the parent.
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

// extensionTypes are the types whose resources are below any other one. https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/extension-resource-types
var extensionTypes = []string{
	"microsoft.authorization/locks", "microsoft.authorization/roleassignments", "microsoft.authorization/roledefinitions",
	"microsoft.insights/datacollectionruleassociations", "microsoft.kubernetesconfiguration/extensions",
	"microsoft.kubernetesconfiguration/fluxconfigurations", "microsoft.kubernetesconfiguration/sourcecontrolconfigurations",
}

// IsExtension tells whether resources of a type are below any other resource, and not in a resource group alone.
func IsExtension(resourceType string) bool {
	return slices.Contains(extensionTypes, strings.ToLower(resourceType))
}
