package deletion_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const vmPath = "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/"

// waitWarning waits for a Warning on the object, and returns its note.
func waitWarning(stage *harness.Stage, name, reason string) string {
	stage.T.Helper()
	note := ""
	stage.Eventually("a Warning on "+name, func() bool {
		list := &eventsv1.EventList{}
		if err := stage.Client.List(stage.T.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
			return false
		}
		for _, event := range list.Items {
			if event.Type == corev1.EventTypeWarning && event.Regarding.Name == name && event.Reason == reason {
				note = event.Note
			}
		}
		return note != ""
	})
	return note
}

// TestOwnersGone deletes machines after their Machine or Cluster is gone, which happens only if a person removes finalizers: the labels
// and the spec of a machine are enough as long as there is an AzureCluster. Nothing is left in Azure, and nothing of others goes.
func TestOwnersGone(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		lost   []client.Object
	}{
		"Machine":             {"the labels are the Machine's", []client.Object{newMachine("m1"), newMachine("m2")}},
		"Cluster":             {"the AzureCluster is known by the label", []client.Object{newCluster()}},
		"Machine and Cluster": {"the label names the Cluster", []client.Object{newMachine("m1"), newMachine("m2"), newCluster()}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage, _, before := bringUpCluster(t, harness.ManagerOptions{})
			theirs := "resourceGroups/theirs"
			stage.Azure.PutResource(theirs, "2021-04-01", map[string]any{"location": "eastus"})
			for _, object := range test.lost {
				forceDeletion(stage, object)
			}
			mark := stage.Azure.MarkRequests()
			deleteObjects(stage, azureCluster())
			waitBlocked(stage, azureCluster(), infrav1.WaitingForMachinesReason)
			deleteObjects(stage, azureMachine("m1"), azureMachine("m2"))
			waitGone(stage, azureMachine("m1"), azureMachine("m2"), azureCluster())
			if diff := cmp.Diff(append(slices.Clone(before), theirs), stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: left behind (-want +got):\n%s", test.reason, diff)
			}
			if writes := listDeletes(stage, mark); !slices.Contains(writes, "DELETE resourceGroups/c1") ||
				slices.Contains(writes, "DELETE "+theirs) {
				t.Errorf("%s: %q", test.reason, writes)
			}
			waitIdentityFree(stage, harness.IdentityName)
		})
	}
}

// TestAzureClusterGone deletes a machine whose AzureCluster lost its finalizer, as those were left whose group went before them: the
// identity is known only from the AzureCluster, so the machine goes, and an event names the resources to search for. The provider
// deletes nothing on a guess, and the identity has no finalizer any more.
func TestAzureClusterGone(t *testing.T) {
	t.Parallel()
	stage, _, _ := bringUpCluster(t, harness.ManagerOptions{})
	forceDeletion(stage, azureCluster())
	waitIdentityFree(stage, harness.IdentityName)
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, newMachine("m1"), azureMachine("m1"))
	waitGone(stage, azureMachine("m1"))
	checkMessage(t, waitWarning(stage, "m1", "LeftBehindInAzure"), "AzureCluster",
		"/subscriptions/"+stage.Azure.SubscriptionID+"/resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/m1")
	if !slices.ContainsFunc(stage.Environment.Logs.LinesContaining(stage.Namespace), func(line string) bool {
		return strings.Contains(line, "without deleting in Azure") && strings.Contains(line, "virtualMachines/m1")
	}) {
		t.Error("the log does not name what may be left")
	}
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is proven to be ours without a cluster, but: %q", writes)
	}
}

// TestPoolsOwnersGone deletes pools after the Cluster is gone: as long as there is a control plane the pool goes in Azure,
// too, and without one it goes with a Warning.
func TestPoolsOwnersGone(t *testing.T) {
	t.Parallel()
	stage := standingManaged(t)
	forceDeletion(stage, newCluster())
	forceDeletion(stage, machinePool("c1-pool1"))
	mark := stage.Azure.MarkRequests()
	deleteObjects(stage, azurePool("c1-pool1"))
	waitGone(stage, azurePool("c1-pool1"))
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		listDeletes(stage, mark)); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	forceDeletion(stage, controlPlane())
	waitIdentityFree(stage, harness.IdentityName)
	deleteObjects(stage, azurePool("c1-pool0"))
	waitGone(stage, azurePool("c1-pool0"))
	checkMessage(t, waitWarning(stage, "c1-pool0", "LeftBehindInAzure"), "AzureManagedControlPlane", "agent pool pool0")
	if diff := cmp.Diff([]string{"DELETE resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		listDeletes(stage, mark)); diff != "" {
		t.Errorf("nothing is proven to be ours without a control plane (-want +got):\n%s", diff)
	}
}

// loseIdentity takes the stage's identity away although the cluster holds it.
func loseIdentity(stage *harness.Stage) {
	forceDeletion(stage, withName(stage.NewIdentity(), harness.IdentityName))
}

// TestIdentityGone deletes a cluster whose identity is gone after resources were created: the condition of each object gives the ways
// out. One way is to create the identity again, the other to delete by hand.
func TestIdentityGone(t *testing.T) {
	t.Parallel()
	identityName := func(stage *harness.Stage) string {
		return "AzureClusterIdentity " + stage.Namespace + "/" + harness.IdentityName
	}
	t.Run("machines, by hand", func(t *testing.T) {
		t.Parallel()
		stage, _, _ := bringUpCluster(t, harness.ManagerOptions{})
		loseIdentity(stage)
		deleteObjects(stage, newCluster(), azureCluster(), newMachine("m1"), azureMachine("m1"), newMachine("m2"), azureMachine("m2"))
		mark := stage.Azure.MarkRequests()
		for _, name := range []string{"m1", "m2"} {
			message := waitBlocked(stage, azureMachine(name), infrav1.IdentityNotFoundReason)
			checkMessage(t, message, "create "+identityName(stage), "spec.identityRef of AzureCluster c1", vmPath+name, name+"-nic", name+"_OSDisk")
			runPatchCommand(stage, message, azureMachine(name))
		}
		message := waitBlocked(stage, azureCluster(), infrav1.IdentityNotFoundReason)
		checkMessage(t, message, "create "+identityName(stage), "az group list --subscription "+stage.Azure.SubscriptionID+" --tag ",
			infrav1.ClusterTagKey("c1")+"=owned")
		runPatchCommand(stage, message, azureCluster())
		waitGone(stage, azureMachine("m1"), azureMachine("m2"), azureCluster())
		if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
			t.Errorf("there is no identity, but: %q", writes)
		}
	})
	t.Run("machines, identity again", func(t *testing.T) {
		t.Parallel()
		stage, _, before := bringUpCluster(t, harness.ManagerOptions{})
		loseIdentity(stage)
		deleteObjects(stage, newCluster(), newMachine("m1"), azureMachine("m1"), newMachine("m2"), azureMachine("m2"), azureCluster())
		waitBlocked(stage, azureMachine("m1"), infrav1.IdentityNotFoundReason)
		waitBlocked(stage, azureMachine("m2"), infrav1.IdentityNotFoundReason)
		stage.CreateObject(stage.NewIdentity())
		// Its retry is a minute away.
		stage.WakeControllers(azureMachine("m1"))
		stage.WakeControllers(azureMachine("m2"))
		waitGone(stage, azureMachine("m1"), azureMachine("m2"), azureCluster())
		if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
			t.Errorf("resources left behind (-before +after):\n%s", diff)
		}
		waitIdentityFree(stage, harness.IdentityName)
	})
	t.Run("pool and control plane", func(t *testing.T) {
		t.Parallel()
		stage := standingManaged(t)
		loseIdentity(stage)
		deleteObjects(stage, machinePool("c1-pool1"), azurePool("c1-pool1"))
		message := waitBlocked(stage, azurePool("c1-pool1"), infrav1.IdentityNotFoundReason)
		checkMessage(t, message, "create "+identityName(stage), "spec.identityRef of AzureManagedControlPlane c1",
			"agent pool pool1 of /subscriptions/")
		runPatchCommand(stage, message, azurePool("c1-pool1"))
		deleteObjects(stage, newCluster(), machinePool("c1-pool0"), azurePool("c1-pool0"), controlPlane())
		waitGone(stage, azurePool("c1-pool1"), azurePool("c1-pool0"))
		message = waitBlocked(stage, controlPlane(), infrav1.IdentityNotFoundReason)
		checkMessage(t, message, "create "+identityName(stage), "managedClusters/c1", infrav1.ClusterTagKey("c1")+"=owned")
		runPatchCommand(stage, message, controlPlane())
		waitGone(stage, controlPlane())
	})
}

// TestNothingLeft starts a manager on a cluster as one leaves it that ends between releasing the identity and the object:
// nothing is left to ask Azure for, and the identity may be gone.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stored := func(object client.Object, finalizer string) {
		object.SetFinalizers([]string{finalizer})
		object.SetAnnotations(map[string]string{
			infrav1.AppliedAnnotation: `{"applied":{"c1":[""]}}`,
		})
		stage.CreateObject(object)
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"sigs.k8s.io/cluster-api-provider-azure-nothing-left":%q}}}`, object.GetUID())
		if err := stage.Client.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, patch)); err != nil {
			t.Fatal(err)
		}
	}
	network, own := stage.AzureCluster("c1"), stage.ControlPlane("c2")
	stored(network, infrav1.ClusterFinalizer)
	stored(own, infrav1.ManagedControlPlaneFinalizer)
	deleteObjects(stage, network, own)
	stage.StartManager(harness.ManagerOptions{})
	waitGone(stage, network, own)
	if requests := stage.Azure.RequestsSince(0); len(requests) > 0 {
		t.Errorf("Azure was asked: %q", requests)
	}
}

// TestNeverBegun deletes clusters that could never be created, with a machine: users do not have to correct them first.
func TestNeverBegun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		why    string
		change func(*infrav1.AzureCluster)
		// between runs after the AzureCluster has reported why.
		between func(*harness.Stage)
	}{
		"no identity": {
			reason: "the identity never existed",
			why:    infrav1.IdentityNotFoundReason,
			change: func(c *infrav1.AzureCluster) { c.Spec.IdentityRef.Name = "nobody" },
		},
		"identity lost": {
			reason:  "the identity existed and had the finalizer, but no plan used it",
			why:     infrav1.InvalidConfigurationReason,
			change:  func(c *infrav1.AzureCluster) { c.Spec.Location = "nowhere" },
			between: func(stage *harness.Stage) { loseIdentity(stage) },
		},
		"Secret lost": {
			reason: "the identity has the finalizer, but its Secret is missing",
			why:    infrav1.InvalidConfigurationReason,
			change: func(c *infrav1.AzureCluster) { c.Spec.Location = "nowhere" },
			between: func(stage *harness.Stage) {
				forceDeletion(stage, withName(newCredential(), harness.IdentityName))
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			network := stage.AzureCluster("c1")
			test.change(network)
			stage.CreateCluster(network)
			stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
			harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "with the reason in Ready", func(c *infrav1.AzureCluster) bool {
				return harness.FindCondition(c, infrav1.ReadyCondition).Reason == test.why
			})
			if test.between != nil {
				test.between(stage)
			}
			stage.DeleteCluster("c1", "m1")
			if writes := stage.Azure.WritesSince(0); len(writes) > 0 {
				t.Errorf("%s: %q", test.reason, writes)
			}
			if err := stage.Client.Get(t.Context(), client.ObjectKey{Namespace: stage.Namespace, Name: harness.IdentityName},
				&infrav1.AzureClusterIdentity{}); err == nil {
				waitIdentityFree(stage, harness.IdentityName)
			}
		})
	}
}

// TestAnotherIdentity changes clusters to another identity: the first one then has no finalizer, and the second goes after the cluster.
func TestAnotherIdentity(t *testing.T) {
	t.Parallel()
	second := func(stage *harness.Stage) {
		identity := stage.NewIdentity()
		identity.Name = "second"
		stage.CreateObject(identity)
	}
	held := func(stage *harness.Stage) {
		harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, "second", "held",
			func(i *infrav1.AzureClusterIdentity) bool { return len(i.Finalizers) == 1 })
	}
	t.Run("AzureCluster", func(t *testing.T) {
		t.Parallel()
		stage := harness.NewStage(t, environment)
		stage.StartManager(harness.ManagerOptions{})
		stage.CreateIdentity()
		second(stage)
		stage.CreateCluster(stage.AzureCluster("c1"))
		stage.WaitClusterProvisioned("c1")
		harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			func(c *infrav1.AzureCluster) { c.Spec.IdentityRef.Name = "second" })
		waitIdentityFree(stage, harness.IdentityName)
		held(stage)
		stage.DeleteCluster("c1")
		waitIdentityFree(stage, "second")
	})
	t.Run("AzureManagedControlPlane", func(t *testing.T) {
		t.Parallel()
		stage := harness.NewStage(t, environment)
		stage.StartManager(harness.ManagerOptions{})
		stage.CreateIdentity()
		second(stage)
		stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
		stage.WaitManagedClusterReady("c1", pools...)
		harness.ChangeObject(stage, &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
			func(c *infrav1.AzureManagedControlPlane) { c.Spec.IdentityRef.Name = "second" })
		waitIdentityFree(stage, harness.IdentityName)
		held(stage)
		stage.DeleteManagedCluster("c1", "pool0", "pool1")
		waitIdentityFree(stage, "second")
	})
}
