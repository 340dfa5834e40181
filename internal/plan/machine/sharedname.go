package machine

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// CanShareVM reports whether another AzureMachine may have a VM of the same name: names that are too long for Windows are shortened.
func CanShareVM(azureMachine *infrav1.AzureMachine) bool {
	return vmName(azureMachine) != azureMachine.Name || plan.IsShortenedName(azureMachine.Name)
}

// FindVMOwner returns another AzureMachine to which the VM of azureMachine belongs, nil for none. machines are those of the Cluster. It needs no
// facts.
func FindVMOwner(azureMachine *infrav1.AzureMachine, machines []*infrav1.AzureMachine) *infrav1.AzureMachine {
	for _, other := range machines {
		if other.Name != azureMachine.Name && other.DeletionTimestamp.IsZero() && strings.EqualFold(vmName(other), vmName(azureMachine)) &&
			nameUser(other).OwnsName(nameUser(azureMachine)) {
			return other
		}
	}
	return nil
}

// CheckVMName refuses a machine whose VM belongs to another machine.
func CheckVMName(azureMachine *infrav1.AzureMachine, machines []*infrav1.AzureMachine) field.ErrorList {
	owner := FindVMOwner(azureMachine, machines)
	if owner == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "name"), azureMachine.Name, fmt.Sprintf(
		"has the VM %s of AzureMachine %s. Delete this AzureMachine, which does not delete the VM, and create it with a name that has other "+
			"last five characters, or at most %d characters", vmName(azureMachine), owner.Name, plan.WindowsNameLength))}
}

func vmName(azureMachine *infrav1.AzureMachine) string {
	return plan.VMName(plan.MachineInput{AzureMachine: azureMachine})
}

func nameUser(azureMachine *infrav1.AzureMachine) plan.NameUser {
	return plan.NameUser{Object: azureMachine, Planned: azureMachine.Spec.ProviderID != nil || applied.IsStored(azureMachine.Annotations)}
}
