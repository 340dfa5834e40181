package changes_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const computeVersion = "2024-07-01"

// TestMachineInPlace changes the fields of a machine that Azure can update in place: tags, identities and extensions.
func TestMachineInPlace(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	for _, name := range []string{"one", "two"} {
		stage.Azure.PutResource("resourceGroups/ids", "2021-04-01", map[string]any{"location": "eastus"})
		stage.Azure.PutResource("resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"+name, "2024-11-30",
			map[string]any{"location": "eastus"})
	}
	identity := func(name string) infrav1.UserAssignedIdentity {
		return infrav1.UserAssignedIdentity{ProviderID: "azure:///subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name}
	}
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	machine := stage.AzureMachine("c1", "m1")
	machine.Spec.AdditionalTags = infrav1.Tags{"team": "red", "phase": "test"}
	machine.Spec.AllocatePublicIP = true
	machine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 8}}
	machine.Spec.VMExtensions = []infrav1.VMExtension{
		{Name: "CustomScript", Publisher: "Microsoft.Azure.Extensions", Version: "2.1", Settings: infrav1.Tags{"a": "1", "b": "2"}},
		{Name: "AzureMonitorLinuxAgent", Publisher: "Microsoft.Azure.Monitor", Version: "1.0"},
	}
	stage.CreateMachine(machine, harness.Worker, "")
	stage.WaitMachineProvisioned("m1")

	const vm = "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m1"
	tagged := map[string]string{
		vm: computeVersion,
		"resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/m1-nic": "2024-05-01",
		"resourceGroups/c1/providers/Microsoft.Network/publicIPAddresses/pip-m1": "2024-05-01",
		"resourceGroups/c1/providers/Microsoft.Compute/disks/m1_OSDisk":          "2024-03-02",
		"resourceGroups/c1/providers/Microsoft.Compute/disks/m1_data":            "2024-03-02",
	}
	tags := func(path string) [2]any {
		_, resource := stage.Azure.GetResource(path, tagged[path])
		all, _ := resource["tags"].(map[string]any)
		return [2]any{all["team"], all["phase"]}
	}
	for path := range tagged {
		if diff := cmp.Diff([2]any{"red", "test"}, tags(path)); diff != "" {
			t.Errorf("tags of %s (-want +got):\n%s", path, diff)
		}
	}

	change := func(f func(*infrav1.AzureMachine)) {
		t.Helper()
		harness.ChangeObject(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}, f)
	}
	change(func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"team": "blue"} })
	stage.Eventually("tags change everywhere, and the dropped one goes", func() bool {
		for path := range tagged {
			if tags(path) != [2]any{"blue", nil} {
				return false
			}
		}
		return true
	})

	change(func(m *infrav1.AzureMachine) {
		m.Spec.Identity, m.Spec.UserAssignedIdentities = infrav1.VMIdentityUserAssigned, []infrav1.UserAssignedIdentity{identity("one")}
	})
	change(func(m *infrav1.AzureMachine) {
		m.Spec.UserAssignedIdentities = append(m.Spec.UserAssignedIdentities, identity("two"))
	})
	stage.Eventually("the VM gets both identities", func() bool {
		_, resource := stage.Azure.GetResource(vm, computeVersion)
		assigned, _ := resource["identity"].(map[string]any)
		identities, _ := assigned["userAssignedIdentities"].(map[string]any)
		return len(identities) == 2
	})
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "without a word about identities", func(m *infrav1.AzureMachine) bool {
		return harness.FindCondition(m, infrav1.VMIdentitiesReadyCondition).Type == "" && harness.IsReady(m)
	})
	change(func(m *infrav1.AzureMachine) {
		m.Spec.UserAssignedIdentities = append(m.Spec.UserAssignedIdentities, identity("three"))
	})
	bad := harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "not Ready for a missing identity",
		func(m *infrav1.AzureMachine) bool {
			return !harness.IsReady(m) && strings.Contains(harness.FindCondition(m, infrav1.ReadyCondition).Message, "three")
		})
	t.Log(harness.FindCondition(bad, infrav1.ReadyCondition))
	stage.Azure.PutResource("resourceGroups/ids/providers/Microsoft.ManagedIdentity/userAssignedIdentities/three", "2024-11-30",
		map[string]any{"location": "eastus"})
	change(func(m *infrav1.AzureMachine) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, "example.com/look", "again")
	})
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "Ready once the identity exists",
		func(m *infrav1.AzureMachine) bool { return harness.IsReady(m) })

	mark := stage.Azure.MarkRequests()
	change(func(m *infrav1.AzureMachine) {
		m.Spec.VMExtensions = []infrav1.VMExtension{
			{Name: "CustomScript", Publisher: "Microsoft.Azure.Extensions", Version: "2.1", Settings: infrav1.Tags{"a": "3"}},
			{Name: "KeyVault", Publisher: "Microsoft.Azure.KeyVault", Version: "3.0"},
		}
	})
	stage.Eventually("one extension changes, one comes and one goes", func() bool {
		_, custom := stage.Azure.GetResource(vm+"/extensions/CustomScript", computeVersion)
		added, _ := stage.Azure.GetResource(vm+"/extensions/KeyVault", computeVersion)
		removed, _ := stage.Azure.GetResource(vm+"/extensions/AzureMonitorLinuxAgent", computeVersion)
		properties, _ := custom["properties"].(map[string]any)
		return cmp.Equal(properties["settings"], map[string]any{"a": "3"}) && added == 200 && removed == 404
	})
	for _, settings := range []infrav1.Tags{{"a": "x"}, {"a": "X"}, {"A": "X"}} {
		change(func(m *infrav1.AzureMachine) { m.Spec.VMExtensions[0].Settings = settings })
		stage.Eventually("a setting changes in its case", func() bool {
			_, custom := stage.Azure.GetResource(vm+"/extensions/CustomScript", computeVersion)
			want := map[string]any{}
			for key, value := range settings {
				want[key] = value
			}
			return cmp.Equal(want, harness.FindValue(custom, "properties.settings"))
		})
	}
	ready := harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "Ready without the dropped settings", func(m *infrav1.AzureMachine) bool {
		return harness.IsReady(m) && !strings.Contains(m.Annotations[infrav1.AppliedAnnotation], "AzureMonitor")
	})
	if kept := ready.Annotations[infrav1.AppliedAnnotation]; strings.Contains(kept, "phase") {
		t.Errorf("the dropped tag is not forgotten: %s", kept)
	}
	for _, write := range stage.Azure.WritesSince(mark) {
		if !strings.Contains(write, "/extensions/") {
			t.Errorf("only extensions changed, but there was %s", write)
		}
	}

	removed := infrav1.UserAssignedIdentity{}
	err := harness.TryChange(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}, func(m *infrav1.AzureMachine) {
		removed = m.Spec.UserAssignedIdentities[0]
		m.Spec.UserAssignedIdentities = m.Spec.UserAssignedIdentities[1:]
	})
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), removed.ProviderID) {
		t.Errorf("an identity cannot be removed, but the API server returns %v", err)
	}
	stage.DeleteCluster("c1", "m1")
}
