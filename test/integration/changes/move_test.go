package changes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// listMoved returns the objects that clusterctl moves, owners first.
func listMoved() []client.Object {
	machine := metav1.ObjectMeta{Name: "m1"}
	return []client.Object{
		newCluster("c1"), &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		&clusterv1.Machine{ObjectMeta: machine}, &infrav1.AzureMachine{ObjectMeta: machine}, &corev1.Secret{ObjectMeta: machine},
	}
}

// TestMove moves a cluster to another management cluster. Nothing is written to Azure, and the cluster can be deleted from there with
// all that only the stored annotations record: a subnet in a network that users brought, and the role of a machine's identity.
func TestMove(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.Azure.PutNetwork("shared", "shared-vnet", "10.0.0.0/8", map[string]string{"control-planes": "10.0.0.0/16"})
	shared := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.NetworkSpec.Vnet = infrav1.VnetSpec{ResourceGroup: "shared", Name: "shared-vnet"}
	azureCluster.Spec.NetworkSpec.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "control-planes", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode}},
	}
	stage.CreateCluster(azureCluster)
	stage.WaitClusterProvisioned("c1")
	machine := stage.AzureMachine("c1", "m1")
	machine.Spec.Identity = infrav1.VMIdentitySystemAssigned
	machine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 8}}
	stage.CreateMachine(machine, harness.Worker, "1")
	stage.WaitMachineProvisioned("m1")
	target := stage.InOtherCluster()
	target.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	target.CreateIdentity()

	stage.PauseCluster("c1", true)
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "free to move", harness.IsMovable)
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "m1", "free to move", harness.IsMovable)
	mark := stage.Azure.MarkRequests()
	before := stage.Azure.ListResources()
	stage.MoveObjects(target, listMoved())
	harness.WaitFor(target, &infrav1.AzureMachine{}, "m1", "paused there, too", harness.IsPaused)
	if asked := stage.Azure.RequestsSince(mark); len(asked) > 0 {
		t.Errorf("a paused cluster asks nothing of Azure, but: %q", asked)
	}
	// It has not been reconciled there, and the status stayed behind.
	for field, change := range map[string]func(*infrav1.AzureCluster){
		"spec.location":       func(c *infrav1.AzureCluster) { c.Spec.Location = "westeurope" },
		"spec.subscriptionID": func(c *infrav1.AzureCluster) { c.Spec.SubscriptionID = "00000000-0000-0000-0000-000000000009" },
	} {
		err := harness.TryChange(target, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, change)
		if err == nil || !strings.Contains(err.Error(), field+": Forbidden: cannot change once there are resources") {
			t.Errorf("the resources stay where they are, but a change of %s gets: %v", field, err)
		}
	}
	target.PauseCluster("c1", false)
	target.WaitClusterProvisioned("c1")
	target.WaitMachineProvisioned("m1")
	harness.WaitFor(target, &corev1.Secret{}, "m1-azure-json", "written", func(s *corev1.Secret) bool { return len(s.Data["azure.json"]) > 0 })
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("a cluster that moves is not changed, but: %q", writes)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}

	target.DeleteCluster("c1", "m1")
	if diff := cmp.Diff(shared, stage.Azure.ListResources()); diff != "" {
		t.Errorf("only what users brought is left (-want +got):\n%s", diff)
	}
}
