package changes_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestRotatedClientSecret rotates the client secret of an identity in its Secret, then by another Secret, and then has the
// cluster use another identity: the azure.json of templates and of machines without one follows, and nothing else is touched.
func TestRotatedClientSecret(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "t1"}}
	template.Spec.Template.Spec = stage.AzureMachine("c1", "t1").Spec
	stage.CreateObject(template)
	stage.PlayCluster("c1", template)
	stage.WaitClusterProvisioned("c1")
	stage.CreateMachine(stage.AzureMachine("c1", "m1"), harness.Worker, "")
	stage.WaitMachineProvisioned("m1")
	has := func(value string) {
		t.Helper()
		for _, name := range []string{"t1-azure-json", "m1-azure-json"} {
			// The value itself is not to show up where the test fails.
			stage.Eventually("Secret "+name+" has what was changed", func() bool {
				secret := &corev1.Secret{}
				stage.ReadObject(secret, name)
				return strings.Contains(string(secret.Data["azure.json"]), value)
			})
		}
	}
	has(stage.Azure.ClientSecret)

	harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(s *corev1.Secret) {
		s.Data["clientSecret"] = []byte(stage.Azure.OtherSecret)
	})
	has(stage.Azure.OtherSecret)

	stage.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: "other"},
		Data: map[string][]byte{"clientSecret": []byte(stage.Azure.ClientSecret)}})
	harness.ChangeObject(stage, &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}},
		func(i *infrav1.AzureClusterIdentity) {
			i.Spec.ClientSecret.Name = "other"
		})
	has(stage.Azure.ClientSecret)

	second := stage.NewIdentity()
	second.Name, second.ResourceVersion = "second", ""
	stage.CreateObject(second)
	harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(s *corev1.Secret) {
		s.Data["clientSecret"] = []byte(stage.Azure.OtherSecret)
	})
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		func(c *infrav1.AzureCluster) { c.Spec.IdentityRef.Name = "second" })
	has(stage.Azure.OtherSecret)
}

// TestSyncPeriodOfCatalogs lets the time of --sync-period pass: the catalog of VM sizes is read again, once for all machines.
func TestSyncPeriodOfCatalogs(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: 30 * time.Minute})
	stage.CreateIdentity()
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	machines := []string{"m1", "m2"}
	for _, name := range machines {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
		stage.WaitMachineProvisioned(name)
	}
	catalogs := func(mark harness.Mark) int {
		count := 0
		for _, request := range stage.Azure.RequestsSince(mark) {
			if strings.HasPrefix(request, "GET Microsoft.Compute/skus ") || strings.HasPrefix(request, "GET providers/Microsoft.Compute/skus ") {
				count++
			}
		}
		return count
	}
	// look reconciles the machines one after the other and counts reads of catalogs. None reads a catalog again that the one
	// of the machine before has read.
	look := func(after time.Duration) int {
		t.Helper()
		begin := stage.Azure.MarkRequests()
		stage.AdvanceClock(after)
		for _, name := range machines {
			stage.AdvanceClock(time.Minute)
			mark := stage.Azure.MarkRequests()
			stage.WakeControllers(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}})
			// A reconciliation reads the interface after it has its facts.
			stage.Eventually(name+" is looked at", func() bool {
				return strings.Contains(strings.Join(stage.Azure.RequestsSince(mark), "\n"), "Microsoft.Network/networkInterfaces")
			})
		}
		return catalogs(begin)
	}
	if got := catalogs(0); got != 1 {
		t.Errorf("the catalog was read %d times for the first machines", got)
	}
	if got := look(20 * time.Minute); got != 0 {
		t.Errorf("the catalog is young enough, and was read %d times", got)
	}
	if got := look(11 * time.Minute); got != 1 {
		t.Errorf("the catalog is too old, and was read %d times for %d machines", got, len(machines))
	}
}
