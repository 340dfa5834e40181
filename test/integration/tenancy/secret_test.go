package tenancy_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

func isHeld(secret *corev1.Secret) bool {
	return slices.Contains(secret.Finalizers, infrav1.CredentialFinalizer)
}

// TestNamespaceGoes deletes the objects of a namespace as the namespace controller does, which has no order: the Secret with the
// credential first. The cluster is deleted all the same, and then the identity and the Secret are.
func TestNamespaceGoes(t *testing.T) {
	w := newWorld(t)
	tenant := w.InOtherNamespace()
	tenant.CreateCredential(w.Azure.ClientSecret)
	createIdentity(tenant, func(*infrav1.AzureClusterIdentitySpec) {})
	createCluster(tenant, nil)
	tenant.WaitClusterProvisioned("c1")
	tenant.WaitMachineProvisioned("m1")
	harness.WaitFor(tenant, &corev1.Secret{}, harness.IdentityName, "held", isHeld)

	secret, object := &corev1.Secret{}, &infrav1.AzureClusterIdentity{}
	for _, first := range []client.Object{secret, object} {
		tenant.ReadObject(first, harness.IdentityName)
		if err := tenant.Client.Delete(t.Context(), first); err != nil {
			t.Fatal(err)
		}
	}
	tenant.Eventually("the Secret names the objects that keep it", func() bool {
		return slices.ContainsFunc(tenant.ListEvents("Secret", harness.IdentityName), func(event string) bool {
			return strings.Contains(event, "InUse") && strings.Contains(event, tenant.Namespace+"/"+harness.IdentityName)
		})
	})
	tenant.DeleteCluster("c1", "m1")
	tenant.WaitGone(object, harness.IdentityName)
	tenant.WaitGone(secret, harness.IdentityName)
	if left := w.inAzureNow(tenant); len(left) > 0 {
		t.Errorf("left in Azure: %q", left)
	}
}

// TestNamespaceWithoutTokens deletes a namespace, for which the API server gives no tokens then, and starts the manager again, which has
// none: the identity reports the missing token and the remedy.
func TestNamespaceWithoutTokens(t *testing.T) {
	w := newWorld(t)
	tenant := w.InOtherNamespace()
	w.createAccount(tenant, infrav1.WorkloadIdentityServiceAccount)
	createIdentity(tenant, func(i *infrav1.AzureClusterIdentitySpec) {
		i.Type, i.ClientSecret = infrav1.WorkloadIdentity, corev1.SecretReference{}
	})
	waitReason(tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, infrav1.ReadyReason)
	if err := w.manager.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := w.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant.Namespace}}); err != nil {
		t.Fatal(err)
	}
	w.startManager()
	waitReason(tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, "NamespaceTerminating", "is being deleted",
		infrav1.WorkloadIdentityServiceAccount, "--manager-identity-namespaces")
}

// TestSecretIsLetGo follows the finalizer of a Secret: it is absent before a cluster uses the identity, after the last one, and on a
// Secret of another owner that is named by an identity which only looks used.
func TestSecretIsLetGo(t *testing.T) {
	w := newWorld(t)
	w.CreateCredential(w.Azure.ClientSecret)
	tenant := w.InOtherNamespace()
	tenant.CreateCredential(w.Azure.ClientSecret)
	createIdentity(tenant, func(*infrav1.AzureClusterIdentitySpec) {})
	thief := w.InOtherNamespace()
	forged := thief.NewIdentity()
	forged.Finalizers = []string{infrav1.ClusterFinalizer + "/forged"}
	forged.Spec.ClientSecret.Namespace = w.Namespace
	thief.CreateObject(forged)

	waitReason(tenant, &infrav1.AzureClusterIdentity{}, harness.IdentityName, infrav1.ReadyReason)
	secret := &corev1.Secret{}
	if tenant.ReadObject(secret, harness.IdentityName); isHeld(secret) {
		t.Error("the Secret of an identity that no object uses has a finalizer")
	}
	tenant.CreateCluster(tenant.AzureCluster("c1"))
	tenant.WaitClusterProvisioned("c1")
	harness.WaitFor(tenant, secret, harness.IdentityName, "held", isHeld)
	tenant.DeleteCluster("c1")
	harness.WaitFor(tenant, secret, harness.IdentityName, "free", func(s *corev1.Secret) bool { return !isHeld(s) })
	waitReason(thief, &infrav1.AzureClusterIdentity{}, harness.IdentityName, infrav1.NotAllowedByTenancyReason)
	if w.ReadObject(secret, harness.IdentityName); isHeld(secret) {
		t.Error("who may not use a Secret keeps it from being deleted")
	}
}
