package ownership_test

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestMachine lets a tenant create machines that have the names of other owners' resources, or list them in the inventory.
func TestMachine(t *testing.T) {
	tries := map[string]struct {
		reason string
		change func(*infrav1.AzureMachine, func(string) string)
	}{
		"disk in the inventory": {"it carries tags", func(m *infrav1.AzureMachine, id func(string) string) {
			forgeInventory(m, "AzureMachine/"+m.Namespace+"/"+m.Name, id("/providers/Microsoft.Compute/disks/theirs"), id(""))
		}},
		"subnet in the inventory": {"the spec of a machine names none", func(m *infrav1.AzureMachine, id func(string) string) {
			setAnnotation(m, "sigs.k8s.io/cluster-api-provider-azure-inventory",
				`{"of":"AzureMachine/`+m.Namespace+"/"+m.Name+`","made":["`+id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs")+`"]}`)
		}},
		"role assignment of others'": {"it is not for the VM's identity", func(m *infrav1.AzureMachine, id func(string) string) {
			m.Spec.Identity = infrav1.VMIdentitySystemAssigned
			m.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: assignment, Scope: id(""), DefinitionID: definition}
			forgeInventory(m, "AzureMachine/"+m.Namespace+"/"+m.Name, id("/providers/Microsoft.Authorization/roleAssignments/"+assignment))
		}},
	}
	for name, try := range tries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			id := createForeign(stage)
			stage.Azure.PutResource("resourceGroups/hub/providers/Microsoft.Authorization/roleAssignments/"+assignment, "2022-04-01", body{
				"properties": body{"principalId": "00000000-0000-0000-0000-0000000000bb", "principalType": "ServicePrincipal",
					"roleDefinitionId": definition},
			})
			before := stage.Azure.ListResources()
			stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
			stage.CreateIdentity()
			stage.CreateCluster(stage.AzureCluster("c1"))
			stage.WaitClusterProvisioned("c1")
			machine := stage.AzureMachine("c1", "m1")
			try.change(machine, id)
			stage.CreateMachine(machine, harness.Worker, "1")
			stage.WaitMachineProvisioned("m1")
			checkStands(t, stage, before, listSubnets()...)
			stage.DeleteMachine("m1")
			checkStands(t, stage, before, listSubnets()...)
			stage.DeleteCluster("c1")
			checkStands(t, stage, before, listSubnets()...)
		})
	}
}

const (
	assignment = "00000000-0000-0000-0000-00000000000a"
	definition = "/subscriptions/00000000-0000-0000-0000-000000000001/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
)

// TestMemory writes numbers into a spec that would let the plan take all memory; it expects that the schema refuses them. An object that
// was stored before there was such a schema is not planned; its condition names the field, and users can correct or delete it.
func TestMemory(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	huge := stage.AzureMachine("c1", "huge")
	huge.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 2e9}}
	if err := stage.TryCreate(huge); err == nil || !strings.Contains(err.Error(), "privateIPConfigs") {
		t.Errorf("the schema has to refuse it: %v", err)
	}
	withoutMaximum(t, stage, func() {
		for _, name := range []string{"m1", "m2"} {
			m := stage.AzureMachine("c1", name)
			m.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 2e9}}
			stage.CreateMachine(m, harness.Worker, "1")
		}
	})
	for _, name := range []string{"m1", "m2"} {
		harness.WaitFor(stage, &infrav1.AzureMachine{}, name, "refused", func(m *infrav1.AzureMachine) bool {
			return strings.Contains(harness.FindCondition(m, infrav1.ReadyCondition).Message,
				"spec.networkInterfaces[0].privateIPConfigs: Invalid value: 2000000000: must be at most 256")
		})
	}
	correct := []byte(`[{"op":"replace","path":"/spec/networkInterfaces/0/privateIPConfigs","value":2}]`)
	m1 := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "m1"}}
	if err := stage.Client.Patch(t.Context(), m1, client.RawPatch(types.JSONPatchType, correct)); err != nil {
		t.Errorf("it can be corrected: %v", err)
	}
	stage.WaitMachineProvisioned("m1")
	stage.DeleteCluster("c1", "m1", "m2")
}

// TestQuantity writes a price into a spec that would let the manager take all memory when it reads it. The price suits the schema; the test
// expects that the API server refuses it before any program reads it.
func TestQuantity(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	made, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stage.AzureMachine("c1", "m1"))
	if err != nil {
		t.Fatal(err)
	}
	huge := &unstructured.Unstructured{Object: made}
	huge.SetGroupVersionKind(infrav1.GroupVersion.WithKind("AzureMachine"))
	if err := unstructured.SetNestedField(made, "12345678901234567890123e999999999", "spec", "spotVMOptions", "maxPrice"); err != nil {
		t.Fatal(err)
	}
	if err := stage.TryCreate(huge); err == nil || !strings.Contains(err.Error(), "maxPrice: Invalid value") {
		t.Errorf("it has to be refused: %v", err)
	}
}

// withoutMaximum lets AzureMachines take any number of addresses, as before there was a maximum.
func withoutMaximum(t *testing.T, stage *harness.Stage, do func()) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	kubernetes, err := client.New(environment.Config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	set := func(most *float64) {
		t.Helper()
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := kubernetes.Get(t.Context(), client.ObjectKey{Name: "azuremachines." + infrav1.GroupVersion.Group}, crd); err != nil {
			t.Fatal(err)
		}
		interfaces := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["networkInterfaces"].Items.Schema.Properties
		addresses := interfaces["privateIPConfigs"]
		addresses.Maximum = most
		interfaces["privateIPConfigs"] = addresses
		if err := kubernetes.Update(t.Context(), crd); err != nil {
			t.Fatal(err)
		}
		stage.Eventually("the API server has the schema", func() bool {
			probe := stage.AzureMachine("c1", "probe")
			probe.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 2e9}}
			return (stage.Client.Create(t.Context(), probe, client.DryRunAll) == nil) == (most == nil)
		})
	}
	set(nil)
	do()
	set(new(float64(256)))
}
