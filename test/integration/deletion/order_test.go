package deletion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestAllAtOnce deletes the objects that kubectl delete -f cluster.yaml deletes, in its order: the AzureCluster right after the
// Cluster, and the machines as soon as Cluster API deletes them. The network stays until they are gone, and all goes with the group
// then.
func TestAllAtOnce(t *testing.T) {
	t.Parallel()
	stage, _, before := bringUpCluster(t, harness.ManagerOptions{})
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, newCluster(), azureCluster())
	message := waitBlocked(stage, azureCluster(), infrav1.WaitingForMachinesReason)
	checkMessage(t, message, "AzureMachine m1, m2", "Cluster c1 is being deleted",
		"kubectl delete -n "+stage.Namespace+" machine/m1 machine/m2")
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is deleted in Azure before the machines go, but: %q", writes)
	}
	deleteObjects(stage, newMachine("m1"), azureMachine("m1"))
	stage.WaitGone(azureMachine("m1"), "m1")
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "with a message about the one that is left", func(c *infrav1.AzureCluster) bool {
		return !strings.Contains(harness.FindCondition(c, infrav1.ReadyCondition).Message, "m1")
	})
	deleteObjects(stage, withName(stage.NewIdentity(), harness.IdentityName))
	checkMessage(t, waitBlocked(stage, stage.NewIdentity(), infrav1.InUseReason), "AzureCluster "+stage.Namespace+"/c1", "spec.identityRef")
	deleteObjects(stage, newMachine("m2"), azureMachine("m2"))
	waitGone(stage, azureMachine("m2"), azureCluster(), stage.NewIdentity())
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1"}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("everything goes at once, and nothing is made meanwhile (-want +got):\n%s", diff)
	}
	// For each machine and for the cluster: a read of the group and its resources, the deletion, and reads of its progress.
	if requests := stage.Azure.RequestsSince(mark); len(requests) > 12 {
		t.Errorf("%d requests: %q", len(requests), requests)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}

// TestManagedAllAtOnce is TestAllAtOnce of an AKS cluster: control plane and AzureManagedCluster go before the pools.
func TestManagedAllAtOnce(t *testing.T) {
	t.Parallel()
	stage := standingManaged(t)
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, newCluster(), controlPlane(), withName(&infrav1.AzureManagedCluster{}, "c1"))
	waitGone(stage, withName(&infrav1.AzureManagedCluster{}, "c1"))
	message := waitBlocked(stage, controlPlane(), infrav1.WaitingForMachinePoolsReason)
	checkMessage(t, message, "AzureManagedMachinePool c1-pool0, c1-pool1", "Cluster c1 is being deleted",
		"machinepool/c1-pool0 machinepool/c1-pool1")
	if writes := listDeletes(stage, mark); len(writes) > 0 {
		t.Errorf("nothing is deleted in Azure before the pools go, but: %q", writes)
	}
	for _, name := range []string{"c1-pool0", "c1-pool1"} {
		deleteObjects(stage, machinePool(name), azurePool(name))
	}
	deleteObjects(stage, withName(stage.NewIdentity(), harness.IdentityName))
	waitGone(stage, azurePool("c1-pool0"), azurePool("c1-pool1"), controlPlane(), stage.NewIdentity())
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1"}, listDeletes(stage, mark)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if requests := stage.Azure.RequestsSince(mark); len(requests) > 8 {
		t.Errorf("%d requests: %q", len(requests), requests)
	}
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// TestInfrastructureAlone deletes an AzureCluster that its Cluster still wants: it waits, and its condition names the machines that
// keep it and the command that deletes them. A machine that is deleted by its name goes in Azure, too, because the time when the
// network goes is unknown.
func TestInfrastructureAlone(t *testing.T) {
	t.Parallel()
	stage, _, before := bringUpCluster(t, harness.ManagerOptions{})
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, azureCluster())
	message := waitBlocked(stage, azureCluster(), infrav1.WaitingForMachinesReason)
	checkMessage(t, message, "are not being deleted yet: AzureMachine m1, m2", "kubectl delete -n "+stage.Namespace+" cluster/c1",
		"machine/m1 machine/m2")
	deleteObjects(stage, newMachine("m2"), azureMachine("m2"))
	waitGone(stage, azureMachine("m2"))
	want := []string{
		"DELETE resourceGroups/c1/Microsoft.Compute/disks/m2_OSDisk",
		"DELETE resourceGroups/c1/Microsoft.Compute/virtualMachines/m2",
		"DELETE resourceGroups/c1/Microsoft.Network/networkInterfaces/m2-nic",
	}
	if diff := cmp.Diff(want, listDeletes(stage, mark)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	deleteObjects(stage, newCluster(), newMachine("m1"), azureMachine("m1"))
	waitGone(stage, azureMachine("m1"), azureCluster())
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}

// TestControlPlaneAlone deletes an AzureManagedControlPlane that its Cluster still wants: it waits for its pools, of which a person can
// delete those that AKS allows to delete, and its deletion continues with that of the Cluster.
func TestControlPlaneAlone(t *testing.T) {
	t.Parallel()
	stage := standingManaged(t)
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, controlPlane())
	checkMessage(t, waitBlocked(stage, controlPlane(), infrav1.WaitingForMachinePoolsReason),
		"are not being deleted yet: AzureManagedMachinePool c1-pool0, c1-pool1", "cluster/c1")
	deleteObjects(stage, machinePool("c1-pool1"), azurePool("c1-pool1"))
	waitGone(stage, azurePool("c1-pool1"))
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		listDeletes(stage, mark)); diff != "" {
		t.Errorf("the cluster may stand for long, so the pool goes by itself (-want +got):\n%s", diff)
	}
	deleteObjects(stage, newCluster(), machinePool("c1-pool0"), azurePool("c1-pool0"))
	waitGone(stage, azurePool("c1-pool0"), controlPlane())
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// TestOrderOfClusterAPI deletes in the order of Cluster API: that the cluster waits for its machines costs nothing.
func TestOrderOfClusterAPI(t *testing.T) {
	t.Parallel()
	stage, manager, before := bringUpCluster(t, harness.ManagerOptions{})
	mark, wrote := stage.Azure.MarkRequests(), len(manager.KubernetesWrites())
	stage.DeleteCluster("c1", "m1", "m2")
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1"}, listDeletes(stage, mark)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if requests := stage.Azure.RequestsSince(mark); len(requests) > 12 {
		t.Errorf("%d requests: %q", len(requests), requests)
	}
	// A machine is released, after its status. A cluster reports that it is being deleted and that nothing is left, and releases its
	// identity and itself. The finalizer of the identity's Secret is removed independently of this order.
	writes := slices.DeleteFunc(manager.KubernetesWrites()[wrote:],
		func(write string) bool { return strings.HasSuffix(write, "/secrets/"+harness.IdentityName) })
	if len(writes) > 2*2+6 {
		t.Errorf("%d writes to Kubernetes: %q", len(writes), writes)
	}
	// If a manager ends in between, the next one continues there, whether the identity still exists or not.
	objects := slices.DeleteFunc(slices.Clone(writes), func(write string) bool {
		return strings.HasSuffix(write, "/status") || strings.Contains(write, "azuremachines")
	})
	for i, name := range []string{"azureclusters/c1", "azureclusteridentities/" + harness.IdentityName, "azureclusters/c1"} {
		if at := len(objects) - 3 + i; at < 0 || !strings.HasSuffix(objects[at], name) {
			t.Errorf("the last writes note that nothing is left, release the identity, and then the object, but: %q", objects)
			break
		}
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
	waitIdentityFree(stage, harness.IdentityName)
}

// TestPausedWhileDeleted deletes a paused cluster: the condition reports that the pause delays the deletion, and how to end the pause.
func TestPausedWhileDeleted(t *testing.T) {
	t.Parallel()
	stage, _, before := bringUpCluster(t, harness.ManagerOptions{})
	stage.PauseCluster("c1", true)
	annotated := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m2"}}
	harness.ChangeObject(stage, annotated, func(m *infrav1.AzureMachine) { m.Annotations[clusterv1.PausedAnnotation] = "" })
	deleteObjects(stage, newCluster(), azureCluster(), newMachine("m2"), azureMachine("m2"), newMachine("m1"), azureMachine("m1"))
	for _, object := range []client.Object{azureCluster(), azureMachine("m1"), azureMachine("m2")} {
		checkMessage(t, waitBlocked(stage, object, clusterv1.PausedReason), "kubectl patch -n "+stage.Namespace+" cluster/c1", `"paused":false`)
	}
	checkMessage(t, waitBlocked(stage, azureMachine("m2"), clusterv1.PausedReason),
		"kubectl annotate -n "+stage.Namespace+" azuremachine/m2 cluster.x-k8s.io/paused-")
	runPatchCommand(stage, waitBlocked(stage, azureCluster(), clusterv1.PausedReason), newCluster())
	waitGone(stage, azureMachine("m1"))
	harness.ChangeObject(stage, annotated, func(m *infrav1.AzureMachine) { delete(m.Annotations, clusterv1.PausedAnnotation) })
	waitGone(stage, azureMachine("m2"), azureCluster())
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-before +after):\n%s", diff)
	}
}
