package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestTagsThatAzureRefuses holds every kind with tags to the rules, which are checked in one place.
func TestTagsThatAzureRefuses(t *testing.T) {
	machine := newMachine(func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"a/b": "1", "N": "1", "n": "2"} })
	kind := azureMachineKind(nil, random{})
	kind.defaults(machine)
	if _, err := kind.ValidateCreate(t.Context(), machine); err == nil {
		t.Error("a new object cannot have tags that Azure refuses")
	}
	changed := machine.DeepCopy()
	changed.Spec.AdditionalTags = infrav1.Tags{"a/b": "1", "N": "1", "n": "3", "c": "1"}
	if errs := validateUpdate(t, kind, machine, changed); len(errs) > 0 {
		t.Errorf("a stored object keeps the tags that it has: %v", errs)
	}
	changed.Spec.AdditionalTags["c/d"] = "1"
	want := []string{"spec.additionalTags[c/d]: FieldValueInvalid"}
	if diff := cmp.Diff(want, errorPaths(validateUpdate(t, kind, machine, changed))); diff != "" {
		t.Errorf("a new tag has to be valid: -want +got\n%s", diff)
	}
}
