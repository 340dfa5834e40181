package estate

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Migrate migrates a self-managed cluster that the established provider created from a template.
func Migrate(t *testing.T, environment *harness.Environment, file string, variables map[string]string, flags ...string) {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	flavors.CreateIdentities(stage)
	before := flavors.SnapshotAzure(stage)
	options := harness.ManagerOptions{SyncPeriod: harness.SyncPeriod, Flags: flags}
	maker := stage.StartManager(options)
	made := flavors.BringUp(stage, renderFlavor(stage, file, variables))
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	LeaveInAzure(stage, controlPlanes(made))
	storeAsEstablished(stage)
	expectPlanned(stage, flags...)

	mark := stage.Azure.MarkRequests()
	manager := stage.StartManager(options)
	waitMigrated(stage, made)
	instances := listPoolVMs(stage, made)
	flavors.CheckQuiet(stage, manager, 2)
	expectNoWrites(stage, stage.Azure.WritesSince(mark))
	checkRenewed(stage)
	if diff := cmp.Diff(instances, listPoolVMs(stage, made)); diff != "" {
		t.Errorf("VMs of pools are taken over as they are (-before +after):\n%s", diff)
	}

	scaleGroups(stage, made)
	rollPools(stage, made)
	flavors.TearDown(stage, made, before)
}

func expectNoWrites(stage *harness.Stage, writes []string) {
	stage.T.Helper()
	if len(writes) > 0 {
		stage.T.Errorf("what exists is taken over as it is, but Azure was written to: %q", writes)
	}
	stage.T.Logf("%d writes to Azure", len(writes))
}

// renderFlavor returns a flavor with what makes the two providers differ: additional tags, addresses of control planes, extensions.
func renderFlavor(stage *harness.Stage, file string, more map[string]string) []*unstructured.Unstructured {
	t := stage.T.(*testing.T)
	t.Helper()
	objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, file, flavors.TemplateVariables(more)))
	if err != nil {
		t.Fatal(err)
	}
	if class, of := strings.CutSuffix(file, "topology.yaml"); of {
		objects = ofClass(stage, flavors.RenderTemplate(t, class+"clusterclass.yaml", flavors.TemplateVariables(more)), objects)
	}
	AddDifferences(objects)
	return objects
}

// AddDifferences gives objects the settings that make the two providers differ: additional tags, addresses of control planes, extensions.
func AddDifferences(objects []*unstructured.Unstructured) {
	for _, o := range objects {
		switch o.GetKind() {
		case "AzureCluster", "AzureManagedControlPlane":
			setNested(o.Object, clusterTags, "spec", "additionalTags")
		case "AzureMachinePool":
			setNested(o.Object, machineTags, "spec", "additionalTags")
		case "AzureMachineTemplate":
			setNested(o.Object, machineTags, "spec", "template", "spec", "additionalTags")
			setNested(o.Object, []any{object{"name": "custom", "publisher": "Example.Publisher", "version": "1.0", "settings": object{"a": "b"}}},
				"spec", "template", "spec", "vmExtensions")
			setNested(o.Object, false, "spec", "template", "spec", "disableVMBootstrapExtension")
			if strings.Contains(o.GetName(), "control-plane") {
				setNested(o.Object, true, "spec", "template", "spec", "allocatePublicIP")
			}
		}
	}
}

// ofClass applies a class and returns what Cluster API makes of it for a cluster.
func ofClass(stage *harness.Stage, manifest []byte, cluster []*unstructured.Unstructured) []*unstructured.Unstructured {
	stage.T.Helper()
	class, err := flavors.DecodeManifest(manifest)
	if err != nil {
		stage.T.Fatal(err)
	}
	flavors.SetNamespace(stage, class)
	play := flavors.ApplyTopology
	for _, o := range class {
		if err := errors.Join(flavors.CheckClass(o), flavors.ApplyServerSide(stage, o)); err != nil {
			stage.T.Fatalf("apply %s %s: %v", o.GetKind(), o.GetName(), err)
		}
		if o.GetKind() == "AzureManagedControlPlaneTemplate" {
			play = flavors.ManagedTopology
		}
	}
	objects, err := play(class, cluster)
	if err != nil {
		stage.T.Fatal(err)
	}
	return objects
}

// waitMigrated waits until this provider has read all resources of the cluster, without a difference.
func waitMigrated(stage *harness.Stage, made *flavors.Cluster) {
	stage.T.Helper()
	for pool := range made.Pools {
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, pool, "taken over", func(p *infrav1.AzureMachinePool) bool {
			return p.Status.Initialization.Provisioned != nil && harness.IsReady(p) &&
				harness.FindCondition(p, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	}
	harness.WaitFor(stage, &infrav1.AzureCluster{}, made.Name, "taken over", func(c *infrav1.AzureCluster) bool {
		provisioned := c.Status.Initialization.Provisioned
		return provisioned != nil && *provisioned && harness.IsReady(c) &&
			harness.FindCondition(c, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
	})
	for _, machine := range made.Machines {
		harness.WaitFor(stage, &infrav1.AzureMachine{}, machine, "taken over", func(m *infrav1.AzureMachine) bool {
			provisioned := m.Status.Initialization.Provisioned
			return provisioned != nil && *provisioned && harness.IsReady(m) &&
				harness.FindCondition(m, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
		})
	}
}

// listPoolVMs returns the VMs of each pool.
func listPoolVMs(stage *harness.Stage, made *flavors.Cluster) map[string][]string {
	stage.T.Helper()
	out := map[string][]string{}
	for pool, vms := range made.Pools {
		out[pool] = stage.WaitPool(pool, vms).Spec.ProviderIDList
		for _, vm := range out[pool] {
			name := pool + "-" + vm[strings.LastIndex(vm, "/")+1:]
			harness.WaitFor(stage, &infrav1.AzureMachinePoolMachine{}, name, "taken over", func(m *infrav1.AzureMachinePoolMachine) bool {
				return harness.IsReady(m) && harness.FindCondition(m, infrav1.ReadyCondition).Reason == infrav1.ReadyReason && m.Status.Ready
			})
		}
	}
	return out
}

// rollPools makes every pool larger, which replaces no VM, and then gives it another size of VM, which replaces all.
func rollPools(stage *harness.Stage, made *flavors.Cluster) {
	stage.T.Helper()
	for pool, vms := range made.Pools {
		old := listPoolVMs(stage, made)[pool]
		made.Pools[pool] = vms + 1
		harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool}},
			func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(vms + 1)) })
		larger := listPoolVMs(stage, made)[pool]
		if !slices.Equal(old, larger[:len(old)]) {
			stage.T.Errorf("scaling replaced VMs: %q became %q", old, larger)
		}
		harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool}},
			func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
		harness.WaitFor(stage, &infrav1.AzureMachinePool{}, pool, "rolled", func(p *infrav1.AzureMachinePool) bool {
			return p.Status.ObservedGeneration == p.Generation && harness.IsReady(p) && len(p.Spec.ProviderIDList) == vms+1 &&
				!slices.ContainsFunc(p.Spec.ProviderIDList, func(id string) bool { return slices.Contains(larger, id) })
		})
	}
}

// scaleGroups adds a machine to every group, and then takes the first one away, as scaling and rolling do.
func scaleGroups(stage *harness.Stage, made *flavors.Cluster) {
	stage.T.Helper()
	for _, group := range made.Groups {
		old := made.ByGroup(group.Name)
		made.Machines = append(made.Machines, flavors.CreateMachine(stage, made.Name, group, group.Replicas))
		for _, machine := range made.Machines {
			stage.WaitMachineProvisioned(machine)
		}
		if group.Role == harness.ControlPlane {
			_, nic := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/"+made.Machines[len(made.Machines)-1]+"-nic", networkVersion)
			if !hasPublicAddress(nic) {
				stage.T.Errorf("a new control-plane machine has its public address: %v", nic)
			}
		}
		stage.DeleteMachine(old[0])
		if group.Role == harness.ControlPlane {
			lb, _ := apiServerLB(stage)
			if status, _ := stage.Azure.GetResource(lb+"/inboundNatRules/"+old[0], networkVersion); status != http.StatusNotFound {
				stage.T.Errorf("the rule for SSH on %s stays after its machine was deleted: status %d", old[0], status)
			}
		}
		made.Machines = slices.DeleteFunc(made.Machines, func(name string) bool { return name == old[0] })
		for _, id := range stage.Azure.ListResources() {
			if strings.Contains(strings.ToLower(id), strings.ToLower(old[0])) {
				stage.T.Errorf("%s stays after its machine was deleted", id)
			}
		}
	}
}

// hasPublicAddress reports whether an interface has a public address.
func hasPublicAddress(nic object) bool {
	configurations, _ := harness.FindValue(nic, "properties.ipConfigurations").([]any)
	return slices.ContainsFunc(configurations, func(c any) bool { return harness.FindValue(c.(object), "properties.publicIPAddress") != nil })
}

// controlPlanes returns the names of the control-plane machines.
func controlPlanes(made *flavors.Cluster) []string {
	var names []string
	for _, group := range made.Groups {
		if group.Role == harness.ControlPlane {
			names = append(names, made.ByGroup(group.Name)...)
		}
	}
	return names
}
