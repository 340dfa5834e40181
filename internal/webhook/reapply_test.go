package webhook

import (
	"context"
	"encoding/json"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// updateOf is the context of a request that replaces old.
func updateOf(t *testing.T, old any) context.Context {
	t.Helper()
	raw, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	return admission.NewContextWithRequest(context.Background(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, OldObject: runtime.RawExtension{Raw: raw},
	}})
}

// A manifest without an SSH key can be applied again: the key that was made for it stays.
func TestReapplyKeepsTheGeneratedKey(t *testing.T) {
	machine := &infrav1.AzureMachine{}
	machine.Spec.SSHPublicKey = "c3NoLXJzYQ=="
	again := machine.DeepCopy()
	again.Spec.SSHPublicKey = ""
	handler := machines(nil, random{})
	if err := handler.Default(updateOf(t, machine), again); err != nil {
		t.Fatal(err)
	}
	if again.Spec.SSHPublicKey != machine.Spec.SSHPublicKey {
		t.Errorf("AzureMachine: got the key %q", again.Spec.SSHPublicKey)
	}

	template := &infrav1.AzureMachineTemplate{}
	template.Spec.Template.Spec.SSHPublicKey = "c3NoLXJzYQ=="
	anew := template.DeepCopy()
	anew.Spec.Template.Spec.SSHPublicKey = ""
	if err := machineTemplates(random{}).Default(updateOf(t, template), anew); err != nil {
		t.Fatal(err)
	}
	if anew.Spec.Template.Spec.SSHPublicKey != template.Spec.Template.Spec.SSHPublicKey {
		t.Errorf("AzureMachineTemplate: got the key %q", anew.Spec.Template.Spec.SSHPublicKey)
	}

	other := template.DeepCopy()
	other.Spec.Template.Spec.SSHPublicKey = "b3RoZXI="
	if err := machineTemplates(random{}).Default(updateOf(t, template), other); err != nil {
		t.Fatal(err)
	}
	if other.Spec.Template.Spec.SSHPublicKey != "b3RoZXI=" {
		t.Error("a key that is given is left for validation to refuse")
	}
}
