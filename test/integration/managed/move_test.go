package managed_test

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
	objects := []client.Object{
		&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		&infrav1.AzureManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		controlPlane("c1"),
	}
	for _, pool := range pools {
		objects = append(objects, machinePool("c1-"+pool.Name), azurePool("c1-"+pool.Name))
	}
	return append(objects, newSecret("c1-kubeconfig"), newSecret("c1-ca"))
}

func newSecret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestMove moves a cluster to another management cluster: nothing is written to Azure, everything is known there, the
// Secrets belong to the control plane that exists now, and the cluster can be deleted from there.
func TestMove(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	bringUpEquipped(stage)
	target := stage.InOtherCluster()
	target.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	target.CreateIdentity()

	stage.PauseCluster("c1", true)
	for _, object := range listMoved() {
		switch object.(type) {
		case *infrav1.AzureManagedControlPlane, *infrav1.AzureManagedMachinePool:
			harness.WaitFor(stage, object, object.GetName(), "free to move", harness.IsMovable)
		}
	}
	mark := stage.Azure.MarkRequests()
	before := stage.Azure.ListResources()
	restored := newSecret("c1-ca")
	stage.ReadObject(restored, "c1-ca")
	stage.MoveObjects(target, listMoved())
	// The Secret gets its old owner reference, as after a restore, where no program corrects it.
	harness.ChangeObject(target, newSecret("c1-ca"), func(s *corev1.Secret) { s.OwnerReferences = restored.OwnerReferences })
	harness.WaitFor(target, controlPlane("c1"), "c1", "paused there, too", harness.IsPaused)
	if asked := stage.Azure.RequestsSince(mark); len(asked) > 0 {
		t.Errorf("a paused cluster asks nothing of Azure, but: %q", asked)
	}
	target.PauseCluster("c1", false)
	own := target.WaitManagedClusterReady("c1", pools...)
	target.ResyncManaged()
	if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("writes to Azure (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources (-before +after):\n%s", diff)
	}
	for _, name := range []string{"c1-kubeconfig", "c1-ca"} {
		found := newSecret(name)
		target.ReadObject(found, name)
		if len(found.OwnerReferences) != 1 || found.OwnerReferences[0].UID != own.UID {
			t.Errorf("Secret %s has the owners %v, want only the control plane of here, %s", name, found.OwnerReferences, own.UID)
		}
	}
	if condition := harness.FindCondition(own, infrav1.FleetReadyCondition); condition.Status != metav1.ConditionTrue {
		t.Errorf("the membership is %s: %s", condition.Reason, condition.Message)
	}

	target.DeleteManagedCluster("c1", "pool0", "pool1")
	if diff := cmp.Diff(shared, stage.Azure.ListResources()); diff != "" {
		t.Errorf("only what others made is left (-want +got):\n%s", diff)
	}
	identityFree(target)
}

// TestExternallyManaged does not change a control plane that is managed externally, and shows its endpoint all the same.
func TestExternallyManaged(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	own := stage.ControlPlane("c1")
	own.Annotations = map[string]string{clusterv1.ManagedByAnnotation: "somebody"}
	stage.CreateManagedCluster(own, pools...)
	// A second cluster shows that the manager has had the time.
	stage.CreateManagedCluster(stage.ControlPlane("c2"), harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
	stage.WaitControlPlaneReady("c2")
	for _, request := range stage.Azure.RequestsSince(0) {
		if strings.Contains(request, "resourceGroups/c1") {
			t.Errorf("another manager manages c1, but: %s", request)
		}
	}
	stage.ReadObject(own, "c1")
	if len(own.Finalizers) > 0 || len(own.Status.Conditions) > 0 {
		t.Errorf("another manager manages c1, but it has the finalizers %v and the conditions %v", own.Finalizers, own.Status.Conditions)
	}
	// The external manager sets the endpoint of the API server.
	harness.ChangeObject(stage, own, func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{Host: "api.example.com", Port: 443}
	})
	harness.WaitFor(stage, &infrav1.AzureManagedCluster{}, "c1", "shown the endpoint", func(c *infrav1.AzureManagedCluster) bool {
		return c.Spec.ControlPlaneEndpoint.Host == "api.example.com"
	})
}

// TestExport lets patches name a Secret and a ConfigMap that others created; it expects that the provider refuses the patches and names
// their field, and that the objects of others stay unchanged.
func TestExport(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	theirSecret := newSecret("theirs")
	theirSecret.Namespace, theirSecret.Data = stage.Namespace, map[string][]byte{"mine": []byte("kept")}
	stage.CreateObject(theirSecret)
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "theirs"},
		Data: map[string]string{"mine": "kept"}}
	stage.CreateObject(theirs)
	own := stage.ControlPlane("c1")
	own.Spec.ASOManagedClusterPatches = []string{
		`{"spec": {"operatorSpec": {"secrets": {"adminCredentials": {"name": "theirs", "key": "kubeconfig"}}, "configMaps": {"principalId": {"name": "theirs", "key": "principal"}}}}}`,
	}
	stage.CreateManagedCluster(own, pools...)
	harness.WaitFor(stage, &infrav1.AzureManagedControlPlane{}, "c1", "refused", func(c *infrav1.AzureManagedControlPlane) bool {
		ready := harness.FindCondition(c, infrav1.ReadyCondition)
		return ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, "spec.asoManagedClusterPatches") &&
			strings.Contains(ready.Message, "theirs")
	})
	if diff := cmp.Diff(map[string][]byte{"mine": []byte("kept")}, stage.SecretData("theirs")); diff != "" {
		t.Errorf("the Secret of others was changed: %s", diff)
	}
	stage.ReadObject(theirs, "theirs")
	stage.ReadObject(theirSecret, "theirs")
	if diff := cmp.Diff(map[string]string{"mine": "kept"}, theirs.Data); diff != "" {
		t.Errorf("the ConfigMap of others was changed: %s", diff)
	}
	if len(theirSecret.OwnerReferences)+len(theirs.OwnerReferences) > 0 {
		t.Errorf("they would go with the cluster: %v, %v", theirSecret.OwnerReferences, theirs.OwnerReferences)
	}
}
