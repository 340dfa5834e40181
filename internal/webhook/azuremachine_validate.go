package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ValidateAzureMachine checks what the CRD cannot check of a defaulted AzureMachine.
func ValidateAzureMachine(m *infrav1.AzureMachine) field.ErrorList {
	return ValidateSSHPublicKey(m.Spec.SSHPublicKey, field.NewPath("spec", "sshPublicKey"))
}
