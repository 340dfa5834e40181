package takeover_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// variables are those that flavors require beside the ones that all do.
var variables = map[string]map[string]string{
	"edgezone":               {"AZURE_LOCATION": "westus", "AZURE_EXTENDEDLOCATION_NAME": "losangeles", "AZURE_EXTENDEDLOCATION_TYPE": "EdgeZone"},
	"nvidia-gpu":             {"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"},
	"aad":                    {"AZURE_SERVER_APP_ID": "22222222-aaaa-4bbb-8ccc-333333333333"},
	"user-assigned-identity": {"USER_ASSIGNED_IDENTITY_PROVIDER_ID": "/subscriptions/" + flavors.Variables(nil)["AZURE_SUBSCRIPTION_ID"] + "/" + flavors.OwnIdentity},
	"windows":                {"AZURE_SSH_PUBLIC_KEY": flavors.SSHKey, "AZURE_SSH_PUBLIC_KEY_B64": flavors.SSHKeyB64},
	"flatcar":                {"FLATCAR_VERSION": "3815.2.0"},
	"flatcar-sysext":         {"FLATCAR_VERSION": "3815.2.0"},
	"topology":               {"CLUSTER_CLASS_NAME": "default"},
}

// TestTakeOverSelfManaged takes over every flavor of self-managed clusters but those with an internal load balancer beside the public one.
func TestTakeOverSelfManaged(t *testing.T) {
	t.Parallel()
	for _, file := range flavors.Templates(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "cluster-template"), ".yaml")
		name = strings.TrimPrefix(name, "-")
		// The API server that all tests here share does not have the gate APIServerILB.
		if strings.HasPrefix(name, "aks") || name == "clusterclass" || strings.HasSuffix(name, "apiserver-ilb") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			stage := flavors.NewStage(t, environment)
			flavors.Bring(stage)
			before := flavors.Snapshot(stage)
			gates := "--feature-gates=EdgeZone=true"
			maker := stage.StartManager(harness.ManagerOptions{SyncPeriod: flavors.SyncPeriod, Flags: []string{gates}})
			made := flavors.Up(stage, manifest(stage, file, variables[name]))
			if err := maker.Stop(); err != nil {
				t.Fatal(err)
			}
			leaveInAzure(stage, controlPlanes(made))
			leave(stage)

			mark := stage.Azure.Mark()
			manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: flavors.SyncPeriod, Flags: []string{gates}})
			takenOver(stage, made)
			flavors.Quiet(stage, manager, 2)
			writes := stage.Azure.Writes(mark)
			if diff := cmp.Diff([]string(nil), writes); diff != "" {
				t.Errorf("what exists is taken over as it is (-want +got):\n%s", diff)
			}
			t.Logf("%d writes to Azure", len(writes))
			renewed(stage)

			scale(stage, made)
			flavors.Down(stage, made, before)
		})
	}
}

// manifest is a flavor with what makes the two providers differ: additional tags, addresses of control planes, extensions.
func manifest(stage *harness.Stage, file string, more map[string]string) []*unstructured.Unstructured {
	t := stage.T.(*testing.T)
	t.Helper()
	objects, err := flavors.Decode(flavors.Render(t, file, flavors.Variables(more)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(file, "topology") {
		class, err := flavors.Decode(flavors.Render(t, "cluster-template-clusterclass.yaml", flavors.Variables(more)))
		if err != nil {
			t.Fatal(err)
		}
		flavors.Into(stage, class)
		for _, o := range class {
			if err := errors.Join(flavors.CheckClass(o), flavors.Apply(stage, o)); err != nil {
				t.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		}
		if objects, err = flavors.Topology(class, objects); err != nil {
			t.Fatal(err)
		}
	}
	for _, o := range objects {
		switch o.GetKind() {
		case "AzureCluster":
			set(o.Object, clusterTags, "spec", "additionalTags")
		case "AzureMachineTemplate":
			set(o.Object, machineTags, "spec", "template", "spec", "additionalTags")
			set(o.Object, []any{object{"name": "custom", "publisher": "Example.Publisher", "version": "1.0", "settings": object{"a": "b"}}}, "spec", "template", "spec", "vmExtensions")
			set(o.Object, false, "spec", "template", "spec", "disableVMBootstrapExtension")
			if strings.Contains(o.GetName(), "control-plane") {
				set(o.Object, true, "spec", "template", "spec", "allocatePublicIP")
			}
		}
	}
	return objects
}

// takenOver waits until this provider has looked at everything and found it in order.
func takenOver(stage *harness.Stage, made *flavors.Cluster) {
	stage.T.Helper()
	harness.WaitFor(stage, &infrav1.AzureCluster{}, made.Name, "taken over", func(c *infrav1.AzureCluster) bool {
		provisioned := c.Status.Initialization.Provisioned
		return provisioned != nil && *provisioned && harness.Ready(c) && harness.Condition(c, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
	})
	for _, machine := range made.Machines {
		harness.WaitFor(stage, &infrav1.AzureMachine{}, machine, "taken over", func(m *infrav1.AzureMachine) bool {
			provisioned := m.Status.Initialization.Provisioned
			return provisioned != nil && *provisioned && harness.Ready(m) && harness.Condition(m, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	}
}

// renewed checks that nothing stored has the old form.
func renewed(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range kinds {
		for _, item := range objects(stage, kind) {
			stored := stage.Stored(item)
			if _, ok := harness.Value(stored.Object, "status.failureDomains").(object); ok {
				stage.T.Errorf("%s %s: status.failureDomains is a map", kind, item.GetName())
			}
			if operations := harness.Value(stored.Object, "status.longRunningOperationStates"); operations != nil {
				stage.T.Errorf("%s %s: has operations in its status", kind, item.GetName())
			}
			conditions, _ := harness.Value(stored.Object, "status.conditions").([]any)
			for _, c := range conditions {
				condition := c.(object)
				if reason, _ := condition["reason"].(string); reason == "" || reason == infrav1.TakenOverReason || condition["type"] == "OnlyThere" {
					stage.T.Errorf("%s %s: %v stays as it was", kind, item.GetName(), condition)
				}
			}
		}
	}
}

// scale adds a machine to every group, and then takes the first one away, as scaling and rolling do.
func scale(stage *harness.Stage, made *flavors.Cluster) {
	stage.T.Helper()
	for _, group := range made.Groups {
		old := made.ByGroup(group.Name)
		made.Machines = append(made.Machines, flavors.Machine(stage, made.Name, group, group.Replicas))
		for _, machine := range made.Machines {
			stage.WaitMachineProvisioned(machine)
		}
		if group.Role == harness.ControlPlane {
			_, nic := stage.Azure.Get("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/"+made.Machines[len(made.Machines)-1]+"-nic", networkVersion)
			if !attached(nic) {
				stage.T.Errorf("a new control-plane machine has its public address: %v", nic)
			}
		}
		stage.DeleteMachine(old[0])
		made.Machines = slices.DeleteFunc(made.Machines, func(name string) bool { return name == old[0] })
		for _, id := range stage.Azure.Resources() {
			if strings.Contains(strings.ToLower(id), strings.ToLower(old[0])) {
				stage.T.Errorf("%s stays after its machine was deleted", id)
			}
		}
	}
}

// attached tells whether an interface has a public address.
func attached(nic object) bool {
	configurations, _ := harness.Value(nic, "properties.ipConfigurations").([]any)
	return slices.ContainsFunc(configurations, func(c any) bool { return harness.Value(c.(object), "properties.publicIPAddress") != nil })
}

// controlPlanes are the names of the control-plane machines.
func controlPlanes(made *flavors.Cluster) []string {
	var names []string
	for _, group := range made.Groups {
		if group.Role == harness.ControlPlane {
			names = append(names, made.ByGroup(group.Name)...)
		}
	}
	return names
}
