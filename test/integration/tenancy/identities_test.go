package tenancy_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestIdentitiesOfOthers lets a tenant with the administrator's identity give VMs an identity that is not the tenant's. It expects that the
// template does not show whether it exists, and that no azure.json has its client ID, until the administrator allows it.
func TestIdentitiesOfOthers(t *testing.T) {
	w := newWorld(t)
	clientID := w.createApplication("secret-app", w.Namespace, managerAccount)
	tenant := w.InOtherNamespace()
	shared := w.NewIdentity()
	shared.Name = tenant.Namespace
	shared.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{tenant.Namespace}}
	w.CreateObject(shared)
	w.CreateCredential(w.Azure.ClientSecret)
	createCluster(tenant, func(c *infrav1.AzureCluster) {
		c.Spec.IdentityRef.Namespace, c.Spec.IdentityRef.Name = w.Namespace, shared.Name
	})
	tenant.WaitClusterProvisioned("c1")
	cluster := &clusterv1.Cluster{}
	tenant.ReadObject(cluster, "c1")
	const there = "resourceGroups/identities/providers/Microsoft.ManagedIdentity/userAssignedIdentities/secret-app"
	ids := map[string]string{"there": there, "not-there": strings.ReplaceAll(there, "secret-app", "another")}
	for name, id := range ids {
		template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: tenant.Namespace, Name: name,
			Labels:          map[string]string{"cluster.x-k8s.io/cluster-name": "c1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Cluster", Name: "c1", UID: cluster.GetUID()}}}}
		template.Spec.Template.Spec = tenant.AzureMachine("c1", name).Spec
		template.Spec.Template.Spec.Identity = infrav1.VMIdentityUserAssigned
		template.Spec.Template.Spec.UserAssignedIdentities = []infrav1.UserAssignedIdentity{
			{ProviderID: "azure:///subscriptions/" + w.Azure.SubscriptionID + "/" + id}}
		tenant.CreateObject(template)
	}
	for name := range ids {
		const says = "belongs to another namespace and does not allow this identity for VMs"
		harness.WaitFor(tenant, &infrav1.AzureMachineTemplate{}, name, "refused", func(o *infrav1.AzureMachineTemplate) bool {
			return !harness.IsReady(o) && strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message, says)
		})
	}
	for _, secret := range secretsOf(tenant) {
		if strings.Contains(string(secret.Data["azure.json"]), clientID) {
			t.Errorf("the tenant got the client ID in the Secret %s", secret.Name)
		}
	}
	harness.ChangeObject(w.Stage, shared, func(i *infrav1.AzureClusterIdentity) {
		i.Spec.AllowedResources = []string{"/subscriptions/" + w.Azure.SubscriptionID + "/" + there}
	})
	harness.WaitFor(tenant, &infrav1.AzureMachineTemplate{}, "there", "allowed", func(o *infrav1.AzureMachineTemplate) bool { return harness.IsReady(o) })
	harness.WaitFor(tenant, &corev1.Secret{}, "there-azure-json", "with the client ID", func(secret *corev1.Secret) bool {
		return strings.Contains(string(secret.Data["azure.json"]), clientID)
	})
}
