package agentpool

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Request holds the properties of a pool that AKS accepts only together.
type Request struct {
	// System is true for a pool with mode System.
	System, Windows, Spot bool
	// Autoscaled is true if AKS's autoscaler is to run between the bounds.
	Autoscaled         bool
	MinCount, MaxCount *int32
	// Replicas is spec.replicas of the MachinePool.
	Replicas *int32
	// Taints are the taints of the nodes, as in "key=value:effect". They are nil where it is not known which Azure has.
	Taints []string
	// Observed is the pool in Azure.
	Observed Observed
}

// Fields are the places of the properties of a request in the object of the pool.
type Fields struct{ OSType, ScaleSetPriority, MinCount, MaxCount, Taints *field.Path }

// replicasField is the place of the replicas of a pool.
var replicasField = field.NewPath("MachinePool", "spec", "replicas")

// Check returns the errors in a request: AKS rejects system pools that can have no node, that use Spot VMs, that run Windows or
// that have taints, and bounds in the wrong order.
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func Check(r Request, at Fields) field.ErrorList {
	var errs field.ErrorList
	if r.System {
		if r.Windows {
			errs = append(errs, field.Invalid(at.OSType, "Windows", "a pool with mode System has Linux: choose mode User"))
		}
		if r.Spot {
			errs = append(errs, field.Invalid(at.ScaleSetPriority, "Spot", "a pool with mode System has Regular nodes: choose mode User"))
		}
		switch {
		case r.Autoscaled && r.MinCount != nil && *r.MinCount < 1:
			errs = append(errs, field.Invalid(at.MinCount, *r.MinCount, "a pool with mode System has at least one node"))
		case !r.Autoscaled && r.Replicas != nil && *r.Replicas < 1:
			errs = append(errs, field.Invalid(replicasField, *r.Replicas,
				"a pool with mode System has at least one node: raise it, or choose mode User"))
		}
		errs = append(errs, checkSystemTaints(r.Taints, r.Observed, at.Taints)...)
	}
	if r.Autoscaled && r.MinCount != nil && r.MaxCount != nil && *r.MinCount > *r.MaxCount {
		path := at.MaxCount.String()
		errs = append(errs, field.Invalid(at.MinCount, *r.MinCount,
			fmt.Sprintf("is above %s %d", path[strings.LastIndexByte(path, '.')+1:], *r.MaxCount)))
	}
	return errs
}
