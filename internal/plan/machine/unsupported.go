package machine

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func Unsupported(in plan.MachineInput) field.ErrorList { return nil }
func Check(in plan.MachineInput) field.ErrorList       { return nil }
