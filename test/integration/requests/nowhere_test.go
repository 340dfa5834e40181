package requests_test

import (
	"cmp"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestNowhereToLook lets clusters of both families name a subscription that Azure does not know, or a credential that Microsoft Entra ID
// does not know. None of their resources was ever created, so the test expects that they can be deleted as they are.
func TestNowhereToLook(t *testing.T) {
	for name, test := range map[string]struct {
		subscription, credential string
		why                      string
	}{
		"wrong subscription": {subscription: "00000000-0000-0000-0000-00000000dead", why: infrav1.SubscriptionNotFoundReason},
		"wrong credential":   {credential: "wrong", why: infrav1.CredentialsInvalidReason},
	} {
		t.Run(name, func(t *testing.T) { checkNowhere(t, test.subscription, test.credential, test.why) })
	}
}

func checkNowhere(t *testing.T, subscription, credential, why string) {
	t.Helper()
	inVirtualTime(t, func(w *world) {
		if credential != "" {
			harness.ChangeObject(w.Stage, newSecret(harness.IdentityName),
				func(s *corev1.Secret) { s.Data = map[string][]byte{"clientSecret": []byte(credential)} })
		}
		named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
		azureCluster, own := w.AzureCluster("c1"), w.ControlPlane("aks1")
		azureCluster.Spec.SubscriptionID = cmp.Or(subscription, azureCluster.Spec.SubscriptionID)
		own.Spec.SubscriptionID = cmp.Or(subscription, own.Spec.SubscriptionID)
		defaults.FillAzureCluster(azureCluster)
		defaults.FillAzureManagedControlPlane(own)
		w.CreateCluster(azureCluster)
		w.ApplyMachine("c1", "m1", harness.Worker)
		w.CreateManagedCluster(own,
			harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
		w.WaitUntil("the cluster has the reason", virtual.ObjectMatches(w.Scenario, &infrav1.AzureCluster{}, "c1", func(c *infrav1.AzureCluster) bool {
			return harness.FindCondition(c, infrav1.ReadyCondition).Reason == why
		}))
		w.WaitUntil("the control plane has the reason",
			virtual.ObjectMatches(w.Scenario, &infrav1.AzureManagedControlPlane{}, "aks1", func(c *infrav1.AzureManagedControlPlane) bool {
				return harness.FindCondition(c, infrav1.ReadyCondition).Reason == why
			}))
		w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: named("c1")}, &clusterv1.Cluster{ObjectMeta: named("aks1")},
			&clusterv1.Machine{ObjectMeta: named("m1")}, virtual.MachinePool("aks1-pool0"))
		for _, step := range [][]client.Object{
			{&infrav1.AzureMachine{ObjectMeta: named("m1")}, &infrav1.AzureManagedMachinePool{ObjectMeta: named("aks1-pool0")}},
			{&infrav1.AzureCluster{ObjectMeta: named("c1")}, &infrav1.AzureManagedControlPlane{ObjectMeta: named("aks1")}},
		} {
			for _, object := range step {
				w.DeleteObjects(object)
				w.WaitUntilGone(object)
			}
		}
		w.checkWrites("nothing was ever made", 0)
	})
}
