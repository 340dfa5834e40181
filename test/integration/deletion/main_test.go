// Package deletion_test deletes objects in the orders in which users delete them: all at once, the infrastructure first, after a part
// of it was lost, and while a part cannot be deleted. It checks the remaining resources in Azure and in Kubernetes, and the conditions
// and events of the objects meanwhile.
package deletion_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

var environment *harness.Environment

func TestMain(m *testing.M) { os.Exit(harness.RunTests(m, &environment)) }

// These functions return objects by their names, as kubectl takes them.
func newCluster() client.Object   { return withName(&clusterv1.Cluster{}, "c1") }
func azureCluster() client.Object { return withName(&infrav1.AzureCluster{}, "c1") }
func controlPlane() client.Object { return withName(&infrav1.AzureManagedControlPlane{}, "c1") }

func newCredential() client.Object { return &corev1.Secret{} }

func newMachine(name string) client.Object   { return withName(&clusterv1.Machine{}, name) }
func azureMachine(name string) client.Object { return withName(&infrav1.AzureMachine{}, name) }
func machinePool(name string) client.Object  { return withName(&clusterv1.MachinePool{}, name) }
func azurePool(name string) client.Object    { return withName(&infrav1.AzureManagedMachinePool{}, name) }

func withName(object client.Object, name string) client.Object {
	object.SetName(name)
	return object
}

// bringUpCluster returns a cluster of one control-plane machine m1 and one worker m2, and the resources that Azure had before.
func bringUpCluster(t *testing.T, options harness.ManagerOptions) (stage *harness.Stage, manager *harness.Manager, before []string) {
	t.Helper()
	stage = harness.NewStage(t, environment)
	before = stage.Azure.ListResources()
	manager = stage.StartManager(options)
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.ControlPlane, "1")
	stage.CreateMachine(stage.AzureMachine("c1", "m2"), harness.Worker, "")
	stage.WaitMachineProvisioned("m1")
	stage.WaitMachineProvisioned("m2")
	return stage, manager, before
}

var pools = []harness.ManagedPool{{Name: "pool0", Mode: "System", Replicas: 1}, {Name: "pool1", Mode: "User", Replicas: 1}}

// standingManaged returns the stage of a provisioned AKS cluster with two pools.
func standingManaged(t *testing.T) *harness.Stage {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	return stage
}

// deleteObjects deletes objects as kubectl delete --wait=false does.
func deleteObjects(stage *harness.Stage, objects ...client.Object) {
	stage.T.Helper()
	for _, object := range objects {
		object.SetNamespace(stage.Namespace)
		if err := client.IgnoreNotFound(stage.Client.Delete(stage.T.Context(), object)); err != nil {
			stage.T.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
	}
}

// forceDeletion deletes an object and removes its finalizers, as people do after a long wait.
func forceDeletion(stage *harness.Stage, object client.Object) {
	stage.T.Helper()
	deleteObjects(stage, object)
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	if err := client.IgnoreNotFound(stage.Client.Patch(stage.T.Context(), object, patch)); err != nil {
		stage.T.Fatalf("finalizers of %T %s: %v", object, object.GetName(), err)
	}
	stage.WaitGone(object, object.GetName())
}

// waitGone waits until none of the objects exists.
func waitGone(stage *harness.Stage, objects ...client.Object) {
	stage.T.Helper()
	for _, object := range objects {
		stage.WaitGone(object, object.GetName())
	}
}

// waitBlocked waits until Ready has the reason and the ways out, and returns its message. No condition may be left from before the deletion.
// Either Reconciling or Stalled shows whether the deletion continues on its own, unless the object is paused.
func waitBlocked(stage *harness.Stage, object client.Object, reason string) string {
	stage.T.Helper()
	found := harness.WaitFor(stage, object.(harness.Conditioned), object.GetName(), "with a blocked deletion in Ready: "+reason,
		func(o harness.Conditioned) bool {
			ready := harness.FindCondition(o, infrav1.ReadyCondition)
			explained := strings.Contains(ready.Message, "To unblock the deletion") || strings.Contains(ready.Message, "To continue") ||
				strings.HasPrefix(ready.Message, "waits for")
			return ready.Status == metav1.ConditionFalse && ready.Reason == reason && explained
		})
	progress := 0
	for _, condition := range found.GetConditions() {
		if condition.Status != metav1.ConditionTrue || condition.Type == clusterv1.PausedCondition {
			continue
		}
		if slices.Contains(infrav1.ProgressConditions, condition.Type) {
			progress++
		} else {
			stage.T.Errorf("%T %s is being deleted and is blocked, but has %s=True", object, object.GetName(), condition.Type)
		}
	}
	if reason != clusterv1.PausedReason && progress != 1 {
		stage.T.Errorf("%T %s is being deleted and cannot go, and %d of %v are True, want 1", object, object.GetName(), progress,
			infrav1.ProgressConditions)
	}
	// A pause keeps everything but conditions as it is.
	if reason != clusterv1.PausedReason && strings.Contains(harness.EncodeStatus(found), `"ready":true`) {
		stage.T.Errorf("%T %s is being deleted and cannot go, but has status.ready", object, object.GetName())
	}
	return harness.FindCondition(found, infrav1.ReadyCondition).Message
}

// containsAll reports whether a message has all parts.
func containsAll(message string, parts ...string) bool {
	return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(message, part) })
}

// checkMessage checks that a message has all parts.
func checkMessage(t *testing.T, message string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("the message has no %q:\n%s", part, message)
		}
	}
}

// patchCommand is a command that a message gives.
var patchCommand = regexp.MustCompile(`kubectl patch -n (\S+) (\S+)/(\S+) --type=merge -p '([^']+)'`)

// runPatchCommand runs the last kubectl patch of a message, and checks that it names the object.
func runPatchCommand(stage *harness.Stage, message string, object client.Object) {
	stage.T.Helper()
	all := patchCommand.FindAllStringSubmatch(message, -1)
	if len(all) == 0 {
		stage.T.Fatalf("no command in: %s", message)
	}
	command := all[len(all)-1]
	gvk, err := stage.Client.GroupVersionKindFor(object)
	if err != nil {
		stage.T.Fatal(err)
	}
	if command[1] != stage.Namespace || command[2] != strings.ToLower(gvk.Kind) || command[3] != object.GetName() ||
		!json.Valid([]byte(command[4])) {
		stage.T.Fatalf("the command is for another object than %s %s: %s", gvk.Kind, object.GetName(), command[0])
	}
	object.SetNamespace(stage.Namespace)
	if err := stage.Client.Patch(stage.T.Context(), object, client.RawPatch(types.MergePatchType, []byte(command[4]))); err != nil {
		stage.T.Fatalf("%s: %v", command[0], err)
	}
}

// waitIdentityFree waits until the identity has no finalizer.
func waitIdentityFree(stage *harness.Stage, name string) {
	stage.T.Helper()
	harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, name, "without a finalizer of a cluster",
		func(i *infrav1.AzureClusterIdentity) bool { return len(i.Finalizers) == 0 })
}

// listDeletes returns the DELETEs since mark, sorted.
func listDeletes(stage *harness.Stage, mark harness.Mark) []string {
	writes := slices.DeleteFunc(stage.Azure.WritesSince(mark), func(write string) bool { return !strings.HasPrefix(write, "DELETE ") })
	slices.Sort(writes)
	return slices.Compact(writes)
}
