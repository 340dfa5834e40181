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

var derived sync.Map // type in lower case to Type

// defined is the row of a type that only the definitions know. By the rules of Resource Manager a PUT replaces the resource,
// and a child goes with its parent:
// https://github.com/cloud-and-ai-microsoft/resource-provider-contract/blob/master/v1.0/resource-api-reference.md
func defined(name string) (Type, bool) {
	if row, ok := derived.Load(name); ok {
		return row.(Type), true
	}
	definition, ok := schema.Newest(name)
	if !ok {
		return Type{}, false
	}
	row := Type{
		Name: definition.Type, Defined: true, APIVersion: definition.APIVersion, Put: Replaces, DeleteRank: parentRank,
		// Nothing is known about how long the collection is, nor whether it is that of the parent.
		NoList: true,
	}
	if strings.Count(name, "/") > 1 || Extends(name) {
		row.DeleteRank, row.DiesWithParent = childRank, true
	}
	_, _, row.Taggable = definition.Body().Property("tags", nil)
	definition.Walk(func(path string, shape schema.Shape) {
		switch {
		case shape.Hidden(path):
			row.WriteOnly = append(row.WriteOnly, path)
		case len(shape.Enum) > 0:
			row.Fold = append(row.Fold, path)
		case shape.Type == "map" || shape.Type == "any":
			row.Free = append(row.Free, path)
		}
	})
	derived.Store(name, row)
	return row, true
}

// extensions are the types whose resources are below any other one. https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/extension-resource-types
var extensions = []string{
	"microsoft.authorization/locks", "microsoft.authorization/roleassignments", "microsoft.authorization/roledefinitions",
	"microsoft.insights/datacollectionruleassociations", "microsoft.kubernetesconfiguration/extensions",
	"microsoft.kubernetesconfiguration/fluxconfigurations", "microsoft.kubernetesconfiguration/sourcecontrolconfigurations",
}

// Extends tells whether resources of a type are below any other resource, and not in a resource group alone.
func Extends(resourceType string) bool {
	return slices.Contains(extensions, strings.ToLower(resourceType))
}
