package plan

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DenyWrites denies every write of a node because of errors in the spec. The resource stays as it is, and the rest of the plan goes on.
func DenyWrites(node *arm.Node, errs field.ErrorList) {
	for _, err := range errs {
		node.Denials = append(node.Denials, arm.Denial{Field: err.Field, Message: err.ErrorBody()})
	}
}
