package types

import (
	"slices"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/schema"
)

// undefinedTypes are types of resource manifests that the definitions do not have, so that nothing checks their bodies. A type leaves
// the list when its definition is added: ForID then uses the definition.
//
// The names, parents and properties at the top of alertsmanagement, dataprotection and insights are those of the types in
// github.com/Azure/azure-service-operator/v2 v2.18.0. That release has no kind for the others, whose names follow its rule for names.
var undefinedTypes = []Type{
	// https://learn.microsoft.com/en-us/rest/api/monitor/prometheus-rule-groups/create-or-update
	{Name: "Microsoft.AlertsManagement/prometheusRuleGroups", APIVersion: "2023-03-01", Taggable: true, DeleteRank: parentRank},
	// https://learn.microsoft.com/en-us/rest/api/policyauthorization/policy-assignments/create
	{Name: "Microsoft.Authorization/policyAssignments", APIVersion: "2024-05-01", DeleteRank: childRank, DeletedWithParent: true,
		FreeFormPaths: []string{"properties.metadata", "properties.parameters"}},
	// https://learn.microsoft.com/en-us/azure/templates/microsoft.dashboard/grafana
	{Name: "Microsoft.Dashboard/grafana", APIVersion: "2023-09-01", Taggable: true, DeleteRank: parentRank},
	// https://learn.microsoft.com/en-us/rest/api/dataprotection/backup-vaults/create-or-update
	{Name: "Microsoft.DataProtection/backupVaults", APIVersion: "2023-11-01", Taggable: true, DeleteRank: parentRank},
	// Azure does not delete a vault with instances, so an instance is deleted before its vault and its policy.
	// https://learn.microsoft.com/en-us/azure/backup/manage-backup-vault#delete-a-backup-vault
	{Name: "Microsoft.DataProtection/backupVaults/backupInstances", APIVersion: "2023-11-01", DeleteRank: childRank},
	{Name: "Microsoft.DataProtection/backupVaults/backupPolicies", APIVersion: "2023-11-01", DeleteRank: childRank + 1, DeletedWithParent: true},
	// https://learn.microsoft.com/en-us/rest/api/monitor/diagnostic-settings/create-or-update
	{Name: "Microsoft.Insights/diagnosticSettings", APIVersion: "2021-05-01-preview", DeleteRank: childRank},
}

// rowsWithoutDefinition are undefinedTypes without those that have a definition, by name in lower case.
var rowsWithoutDefinition = sync.OnceValue(func() map[string]Type {
	out := map[string]Type{}
	for _, row := range undefinedTypes {
		if _, defined := schema.NewestDefinition(row.Name); defined {
			continue
		}
		row.Put, row.ReadIndividually, row.FromDefinition = PutReplaces, true, true
		row.FreeFormPaths = append([]string{"tags"}, row.FreeFormPaths...)
		out[strings.ToLower(row.Name)] = row
	}
	return out
})

// ListUndefined returns the types of resource manifests that have no definition, sorted.
func ListUndefined() []string {
	var out []string
	for _, row := range rowsWithoutDefinition() {
		out = append(out, row.Name)
	}
	slices.Sort(out)
	return out
}

// IsUndefined reports whether a resource type is supported without a definition.
func IsUndefined(resourceType string) bool {
	_, ok := rowsWithoutDefinition()[strings.ToLower(resourceType)]
	return ok
}
