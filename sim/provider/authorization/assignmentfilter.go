package authorization

import (
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// principalFilter is a condition for the principal of an assignment. No principal is in a group here, so both forms mean the same.
var principalFilter = regexp.MustCompile(`(?i)^(?:principalId eq '?([0-9a-f-]+)'?|assignedTo\('([0-9a-f-]+)'\))$`)

var andOfFilter = regexp.MustCompile(`(?i)\s+and\s+`)

// splitAssignmentFilter returns the conditions of a $filter of role assignments.
// https://learn.microsoft.com/azure/role-based-access-control/role-assignments-list-rest
func splitAssignmentFilter(filter string) []string {
	if filter = strings.TrimSpace(filter); filter == "" {
		return nil
	}
	return andOfFilter.Split(filter, -1)
}

// checkAssignmentFilter refuses other conditions. The code and the text are those of public reports.
func checkAssignmentFilter(c *provider.Call) error {
	filter := c.Query.Get("$filter")
	for _, condition := range splitAssignmentFilter(filter) {
		if !strings.EqualFold(condition, "atScope()") && !principalFilter.MatchString(condition) {
			return provider.Errorf(400, "UnsupportedQuery",
				"The filter '%s' is not supported. Supported filters are either 'atScope()' or 'principalId eq '{value}' or assignedTo('{value}')'.", filter)
		}
	}
	return nil
}

// filterAssignment reports whether a list shows an assignment at, above or below its scope. With atScope() those below are left out.
func filterAssignment(c *provider.Call, r *store.Resource) bool {
	for _, condition := range splitAssignmentFilter(c.Query.Get("$filter")) {
		principal := principalFilter.FindStringSubmatch(condition)
		if principal == nil {
			if id, _ := store.ParseID(r.ID); !provider.IsWithin(c.ID.Scope, id.Scope) {
				return false
			}
		} else if !strings.EqualFold(body.String(r.Body, "properties.principalId"), principal[1]+principal[2]) {
			return false
		}
	}
	return true
}
