package tenancy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestRevokedByLabel removes the label by which a namespace may use an identity. The provider stops changing its cluster, and cluster and
// machine report that at once and not at the next sync. The provider continues when the label is back.
func TestRevokedByLabel(t *testing.T) {
	w := newWorld(t)
	w.CreateCredential(w.Azure.ClientSecret)
	shared := w.NewIdentity()
	shared.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "blue"}}}
	w.CreateObject(shared)
	tenant := w.InOtherNamespace()
	label := func(team string) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenant.Namespace}}
		harness.ChangeObject(&harness.Stage{T: t, Client: w.Client, Azure: w.Azure}, namespace,
			func(n *corev1.Namespace) { metav1.SetMetaDataLabel(&n.ObjectMeta, "team", team) })
	}
	label("blue")
	createCluster(tenant, func(c *infrav1.AzureCluster) { c.Spec.IdentityRef.Namespace = w.Namespace })
	tenant.WaitClusterProvisioned("c1")
	tenant.WaitMachineProvisioned("m1")
	before := w.Azure.ListResources()

	label("red")
	mark := w.Azure.MarkRequests()
	revoked := func(o harness.Conditioned) bool {
		return strings.Contains(harness.FindCondition(o, infrav1.ReadyCondition).Message, "namespace "+tenant.Namespace+" may not use")
	}
	harness.WaitFor(tenant, &infrav1.AzureCluster{}, "c1", "revoked", func(c *infrav1.AzureCluster) bool { return revoked(c) })
	harness.WaitFor(tenant, &infrav1.AzureMachine{}, "m1", "revoked", func(m *infrav1.AzureMachine) bool { return revoked(m) })
	tenant.CreateMachine(tenant.AzureMachine("c1", "m2"), harness.Worker, "")
	harness.WaitFor(tenant, &infrav1.AzureMachine{}, "m2", "refused", func(m *infrav1.AzureMachine) bool { return revoked(m) })
	if asked := w.Azure.RequestsSince(mark); len(asked) > 0 {
		t.Errorf("Azure was asked for a tenant who may not: %q", asked)
	}
	if diff := cmp.Diff(before, w.Azure.ListResources()); diff != "" {
		t.Errorf("the cluster is not as it was:\n%s", diff)
	}

	label("blue")
	tenant.WaitMachineProvisioned("m2")
	tenant.DeleteCluster("c1", "m1", "m2")
	if left := w.inAzureNow(tenant); len(left) > 0 {
		t.Errorf("left in Azure: %q", left)
	}
}
