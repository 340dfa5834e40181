package plan_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestProviderID(t *testing.T) {
	got := plan.ProviderID("/subscriptions/S/resourceGroups/My-Group/providers/Microsoft.Compute/virtualMachines/VM1")
	want := "azure:///subscriptions/S/resourceGroups/my-group/providers/Microsoft.Compute/virtualMachines/VM1"
	if got != want {
		t.Errorf("got %s, want %s: cloud-provider-azure writes the group in lower case and nothing else", got, want)
	}
}
