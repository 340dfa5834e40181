package pool

import (
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// denyNewVMs denies the write of an existing scale set if Azure would create no VM from it: one that adds VMs, or that changes what VMs
// are made of. Other writes, and deletions of VMs, go on.
func denyNewVMs(in Input, graph *arm.Graph) error {
	if !in.PoolFacts.ScaleSetExists {
		return nil
	}
	errs := CheckNewVMs(in)
	if len(errs) == 0 {
		return nil
	}
	needed, err := needsNewVMs(in, graph)
	if err != nil || !needed {
		return err
	}
	plan.DenyWrites(graph.Node(ScaleSetID(in)), errs)
	return nil
}

// needsNewVMs returns true if the write of an existing scale set adds VMs, or changes its template or zones.
func needsNewVMs(in Input, graph *arm.Graph) (bool, error) {
	differences, err := diffScaleSet(in, graph)
	if err != nil {
		return false, err
	}
	for _, d := range differences {
		switch {
		case d.Path == "sku.capacity":
			if grows(d.Want, d.Have) {
				return true, nil
			}
		case isInTemplate(d.Path), d.Path == "zones", strings.HasPrefix(d.Path, "zones."):
			return true, nil
		}
	}
	return false, nil
}

// grows compares capacities in JSON. One that Azure does not show counts as smaller.
func grows(want, have string) bool {
	wanted, _ := strconv.Atoi(want)
	there, err := strconv.Atoi(have)
	return err != nil || wanted > there
}

// IsDenied returns true if the plan denies a write of the scale set.
func IsDenied(in Input, graph *arm.Graph) bool { return len(graph.Node(ScaleSetID(in)).Denials) > 0 }
