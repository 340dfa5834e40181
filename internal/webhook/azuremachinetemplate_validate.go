package webhook

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ValidateAzureMachineTemplate checks the rules of a defaulted AzureMachineTemplate that its CRD cannot express.
func ValidateAzureMachineTemplate(t *infrav1.AzureMachineTemplate) field.ErrorList {
	return ValidateSSHPublicKey(t.Spec.Template.Spec.SSHPublicKey, field.NewPath("spec", "template", "spec", "sshPublicKey"))
}

// ValidateAzureMachineTemplateUpdate refuses every change of the template's spec; both objects are defaulted. An SSH key
// can be added to a template that was stored without one.
func ValidateAzureMachineTemplateUpdate(old, t *infrav1.AzureMachineTemplate) field.ErrorList {
	before := old.Spec.Template.Spec
	if before.SSHPublicKey == "" {
		before.SSHPublicKey = t.Spec.Template.Spec.SSHPublicKey
	}
	if equality.Semantic.DeepEqual(before, t.Spec.Template.Spec) {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "template", "spec"),
		"a template cannot change; create a new one and refer to it")}
}
