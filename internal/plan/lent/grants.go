package lent

import (
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Grants are the resources that the owner of an identity allows to objects of other namespaces.
type Grants struct {
	// Identity names the AzureClusterIdentity for messages, as in "AzureClusterIdentity operator/shared".
	Identity string
	// Resources are spec.allowedResources, and RoleScopes are spec.allowedRoleScopes.
	Resources, RoleScopes []arm.ID
}

// ParseIDs returns the entries of a list of the identity that are IDs in the form that Azure reads. Other entries allow
// nothing.
func ParseIDs(listed []string) []arm.ID {
	var out []arm.ID
	for _, text := range listed {
		if id, plain := arm.ParsePlainID(text); plain {
			out = append(out, id)
		}
	}
	return out
}

func isWithinAny(id arm.ID, scopes []arm.ID) bool {
	for _, scope := range scopes {
		if id.IsWithin(scope) {
			return true
		}
	}
	return false
}
