package changes_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestCloudConfigOfUsers leaves a Secret with azure.json alone that users made, and keeps those that are the cluster's in
// line.
func TestCloudConfigOfUsers(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	theirs := map[string][]byte{"control-plane-azure.json": []byte(`{"mine":1}`), "worker-node-azure.json": []byte(`{"mine":2}`)}
	stage.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "m1-azure-json"}, Data: theirs})
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	for _, name := range []string{"m1", "m2"} {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
		stage.WaitMachineProvisioned(name)
	}
	ours := harness.WaitFor(stage, &corev1.Secret{}, "m2-azure-json", "written", func(s *corev1.Secret) bool { return len(s.Data["azure.json"]) > 0 })
	want := ours.Data
	harness.Change(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "m2-azure-json"}}, func(s *corev1.Secret) { s.Data = map[string][]byte{"azure.json": []byte("changed")} })
	harness.WaitFor(stage, &corev1.Secret{}, "m2-azure-json", "as before", func(s *corev1.Secret) bool { return cmp.Equal(want, s.Data) })

	secret := &corev1.Secret{}
	stage.Get(secret, "m1-azure-json")
	if diff := cmp.Diff(theirs, secret.Data); diff != "" || len(secret.OwnerReferences) > 0 {
		t.Errorf("the user's Secret was changed (-want +got):\n%s\nowners %v", diff, secret.OwnerReferences)
	}
}
