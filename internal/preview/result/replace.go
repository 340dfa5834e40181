package result

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// Replacements names what a complete plan replaces: machines, instances of pools, resources of AKS that are deleted and created again, and
// nodes that AKS reimages. A reimaged node is drained and its local data is lost, as if it were replaced:
// https://learn.microsoft.com/en-us/azure/aks/node-disruption-policy
func (p *Plan) Replacements() (out []string) {
	for _, o := range p.Objects {
		name := o.Kind + " " + o.Namespace + "/" + o.Name
		switch {
		case o.Verdict == VerdictReplaced || slices.ContainsFunc(o.Changes, func(c Change) bool { return isCreatedAgain(o, c) }):
			out = append(out, name)
		case slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Reimages && c.Refused == "" }):
			out = append(out, "the nodes of "+name)
		}
	}
	return out
}

// isCreatedAgain reports whether a resource of AKS that a change deletes is created again.
func isCreatedAgain(o Object, deleted Change) bool {
	ofAKS := strings.EqualFold(deleted.Type, types.AgentPool) || strings.EqualFold(deleted.Type, types.ManagedCluster)
	if deleted.Action != ActionDelete || !ofAKS {
		return false
	}
	return slices.ContainsFunc(o.Changes, func(c Change) bool { return c.Action == ActionCreate && c.Resource.Equal(deleted.Resource) })
}
