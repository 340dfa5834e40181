package changes_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
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
	stage.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "m1-azure-json"}, Data: theirs})
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	for _, name := range []string{"m1", "m2"} {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
		stage.WaitMachineProvisioned(name)
	}
	ours := harness.WaitFor(stage, &corev1.Secret{}, "m2-azure-json", "written",
		func(s *corev1.Secret) bool { return len(s.Data["azure.json"]) > 0 })
	want := ours.Data
	harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "m2-azure-json"}},
		func(s *corev1.Secret) { s.Data = map[string][]byte{"azure.json": []byte("changed")} })
	harness.WaitFor(stage, &corev1.Secret{}, "m2-azure-json", "as before", func(s *corev1.Secret) bool { return cmp.Equal(want, s.Data) })

	secret := &corev1.Secret{}
	stage.ReadObject(secret, "m1-azure-json")
	if diff := cmp.Diff(theirs, secret.Data); diff != "" || len(secret.OwnerReferences) > 0 {
		t.Errorf("the user's Secret was changed (-want +got):\n%s\nowners %v", diff, secret.OwnerReferences)
	}
}

// TestCloudConfigOfAnotherSecret lets an identity name a Secret that does not belong to its application: no value of it gets into
// azure.json, where the creator of the identity could read it, and the machine reports why it has no azure.json.
func TestCloudConfigOfAnotherSecret(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(s *corev1.Secret) {
		s.Data["clientSecret"] = []byte(stage.NewSecretValue("somebody-elses"))
	})
	// A manager that still has the former Secret in its cache would be right to use it.
	stage.Eventually("the manager sees the other Secret", func() bool {
		azureCluster := &infrav1.AzureCluster{}
		stage.ReadObject(azureCluster, "c1")
		return strings.Contains(harness.FindCondition(azureCluster, infrav1.ReadyCondition).Message, "AADSTS7000215")
	})
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	stage.Eventually("an event reports the missing azure.json", func() bool {
		return slices.ContainsFunc(stage.ListEvents("AzureMachine", "m1"), func(event string) bool {
			return strings.Contains(event, "CloudConfigFailed") && strings.Contains(event, "AADSTS7000215")
		})
	})
	secret := &corev1.Secret{}
	if err := stage.Client.Get(t.Context(), client.ObjectKey{Namespace: stage.Namespace, Name: "m1-azure-json"},
		secret); !apierrors.IsNotFound(err) {
		t.Errorf("there is a Secret m1-azure-json: %v", err)
	}
}
