package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ValidateAzureMachine checks the rules of a defaulted AzureMachine that its CRD cannot express.
func ValidateAzureMachine(m *infrav1.AzureMachine) field.ErrorList {
	return ValidateSSHPublicKey(m.Spec.SSHPublicKey, field.NewPath("spec", "sshPublicKey"))
}
