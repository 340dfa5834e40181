package selfmanaged

import (
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// FillLentRoleScope has the role of a system-assigned identity count in the Cluster's resource group if the Cluster's identity belongs to
// another namespace. An object of this kind that has a role assignment outside of the group keeps it: it is from a time when the scope had
// another default.
func FillLentRoleScope(kind string, object client.Object, spec *infrav1.ManagedIdentities, subscription, group string) {
	elsewhere := slices.ContainsFunc(applied.ReadInventory(kind, object).Created, func(id arm.ID) bool {
		return strings.EqualFold(id.Type(), types.RoleAssignment) && !strings.EqualFold(id.ResourceGroup(), group)
	})
	if !elsewhere {
		defaults.FillRoleScope(spec, subscription, group)
	}
}
