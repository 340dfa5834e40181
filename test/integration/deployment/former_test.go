package deployment_test

import (
	"context"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFormerIdentities starts a manager with the rights of the release where the established provider has left its lease and an identity
// that signed in as the manager.
func TestFormerIdentities(t *testing.T) {
	install(t)
	stage := harness.NewStage(t, environment)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "controller-leader-election-capz"}}
	record := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "capz-former-identities"}}
	if err := client.IgnoreNotFound(environment.Client.Delete(t.Context(), lease.DeepCopy())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(environment.Client.Delete(context.Background(), record)); err != nil {
			t.Error(err)
		}
	})
	stage.CreateObject(lease)
	workload := func(name, client string) *infrav1.AzureClusterIdentity {
		out := stage.NewIdentity()
		out.Name, out.Spec.Type, out.Spec.ClientID, out.Spec.ClientSecret = name, infrav1.WorkloadIdentity, client, corev1.SecretReference{}
		return out
	}
	stage.CreateObject(workload("before", stage.Azure.ClientID))

	start(stage, t, harness.BuildManager(t))
	const another = "99999999-9999-9999-9999-999999999999"
	stage.CreateObject(workload("after", another))
	is := func(i *infrav1.AzureClusterIdentity, condition, reason string) bool {
		return harness.FindCondition(i, condition).Reason == reason
	}
	harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, "before", "as it was before the upgrade",
		func(i *infrav1.AzureClusterIdentity) bool {
			return harness.IsReady(i) && is(i, infrav1.TenantsIsolatedCondition, infrav1.UsedBeforeUpgradeReason)
		})
	isolated := func(i *infrav1.AzureClusterIdentity) bool {
		return is(i, infrav1.ReadyCondition, "ServiceAccountNotFound") && harness.FindCondition(i, infrav1.TenantsIsolatedCondition).Reason == ""
	}
	harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, "after", "isolated", isolated)
	if err := environment.Client.Get(t.Context(), client.ObjectKeyFromObject(record), record); err != nil || len(record.Data) != 1 {
		t.Errorf("the record has %v: %v, want one entry", record.Data, err)
	}

	edited := &infrav1.AzureClusterIdentity{}
	stage.ReadObject(edited, "before")
	before := edited.DeepCopy()
	edited.Spec.ClientID = another
	if err := environment.Client.Patch(t.Context(), edited, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, "before", "isolated after the edit", isolated)
}
