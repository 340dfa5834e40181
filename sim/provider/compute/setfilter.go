package compute

import (
	"regexp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// setFilter is the only $filter of machines: https://learn.microsoft.com/rest/api/compute/virtual-machines/list. cloud-provider-azure lists
// the instances of a flexible scale set this way.
var setFilter = regexp.MustCompile(`(?i)^'?virtualMachineScaleSet/id'? eq '([^']+)'$`)

// checkSetFilter refuses other filters. The code is assumed.
func checkSetFilter(c *provider.Call) error {
	if filter := c.Query.Get("$filter"); filter != "" && !setFilter.MatchString(filter) {
		return provider.InvalidParameter("$filter", "The $filter '%s' is not supported. Use 'virtualMachineScaleSet/id' eq '<ID>'.", filter)
	}
	return nil
}

// isInSet reports whether a machine is in the scale set that the list asks for.
func isInSet(c *provider.Call, r *store.Resource) bool {
	filter := setFilter.FindStringSubmatch(c.Query.Get("$filter"))
	return filter == nil || store.SameID(body.String(r.Body, "properties.virtualMachineScaleSet.id"), filter[1])
}
