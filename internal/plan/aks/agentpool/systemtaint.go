package agentpool

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkSystemTaints returns an error for each taint, as in "key=value:effect", that AKS refuses on a pool with mode System, as
// SystemPoolHasRestrictedTaint. A pool keeps taints that it has, from a time when AKS accepted them. AKS adds taints with its own prefix.
// https://github.com/Azure/AKS/issues/2578, https://aka.ms/aks/system-taints
func checkSystemTaints(taints []string, have Observed, path *field.Path) (errs field.ErrorList) {
	for i, taint := range taints {
		key := taint[:strings.IndexAny(taint+":", "=:")]
		switch {
		case key == "CriticalAddonsOnly", strings.HasSuffix(taint, ":PreferNoSchedule"), strings.HasPrefix(key, reservedPrefix):
		case have.Properties.Mode == "System" && slices.Contains(have.Properties.NodeTaints, taint):
		default:
			errs = append(errs, field.Invalid(path.Index(i), taint,
				"AKS accepts only CriticalAddonsOnly and taints with effect PreferNoSchedule on a pool with mode System: leave it out, or choose mode User"))
		}
	}
	return errs
}
