package webhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestTagsThatAzureRefuses checks the rules of tags on every kind that has them. One place has the rules.
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

// TestResourceGroupNames checks one rule on all resource groups of all kinds: a group that Azure takes is taken in every field.
func TestResourceGroupNames(t *testing.T) {
	for name, want := range map[string]bool{"größe": true, "a.b_(c)-1": true, "a b": false, "a.": false} {
		c := newDefaulted(func(c *infrav1.AzureCluster) { c.Spec.ResourceGroup = name })
		_, err := azureClusterKind(plan.Features{}).ValidateCreate(t.Context(), c)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "spec.resourceGroup: Invalid") {
			t.Errorf("AzureCluster with group %q: %v", name, err)
		}
		controlPlane := newControlPlane(func(c *infrav1.AzureManagedControlPlane) {
			c.Labels, c.Spec.ResourceGroupName, c.Spec.NodeResourceGroupName, c.Spec.VirtualNetwork.ResourceGroup = nil, name, name, name
		})
		defaults.FillAzureManagedControlPlane(controlPlane)
		_, err = controlPlanes(managedLookup{}, random{}).ValidateCreate(t.Context(), controlPlane)
		for _, field := range []string{"resourceGroupName", "nodeResourceGroupName", "virtualNetwork.resourceGroup"} {
			if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "spec."+field+": Invalid") {
				t.Errorf("AzureManagedControlPlane with %s %q: %v", field, name, err)
			}
		}
	}
}
