package deployment_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFormerIdentities starts a manager with the rights of the release where the established provider has left its lease, an identity
// that signed in as the manager, and a Secret with which the Azure Service Operator signed in as itself. Clusters of every family sign in
// to Azure as before.
func TestFormerIdentities(t *testing.T) {
	installManifests(t)
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
	issuer := stage.TrustTokens()
	stage.CreateObject(workload("before", createApplication(stage, "capz", issuer, "capz-manager")))
	documents := stage.BuildASOCluster("aks2", "pool0")
	stage.CreateManifests(documents)
	leaveOnlyIDs(stage, createApplication(stage, "aso", issuer, "azureserviceoperator-default"))

	mountToken(t)
	startPod(stage, t, harness.BuildManager(t))
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
	if err := environment.Client.Get(t.Context(), client.ObjectKeyFromObject(record), record); err != nil || len(record.Data) != 2 {
		t.Errorf("the record has %v: %v, want two entries", record.Data, err)
	}
	createEveryFamily(stage, documents)

	edited := &infrav1.AzureClusterIdentity{}
	stage.ReadObject(edited, "before")
	before := edited.DeepCopy()
	edited.Spec.ClientID = another
	if err := environment.Client.Patch(t.Context(), edited, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(stage, &infrav1.AzureClusterIdentity{}, "before", "isolated after the edit", isolated)
}

// createApplication creates a managed identity in Azure that trusts a ServiceAccount of the manager's namespace, as users of the
// established provider have it, and returns its client ID.
func createApplication(stage *harness.Stage, name, issuer, account string) string {
	stage.T.Helper()
	const apiVersion = "2023-01-31"
	path := "resourceGroups/identities/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name
	stage.Azure.PutResource("resourceGroups/identities", "2024-03-01", map[string]any{"location": "eastus"})
	stage.Azure.PutResource(path, apiVersion, map[string]any{"location": "eastus"})
	stage.Azure.PutResource(path+"/federatedIdentityCredentials/"+account, apiVersion, map[string]any{"properties": map[string]any{
		"issuer": issuer, "subject": "system:serviceaccount:" + namespace + ":" + account, "audiences": []any{audience},
	}})
	_, created := stage.Azure.GetResource(path, apiVersion)
	return harness.FindString(created, "properties.clientId")
}

// audience is the audience of tokens that Entra ID exchanges.
const audience = "api://AzureADTokenExchange"

// leaveOnlyIDs removes the client secret from the Secret of the AKS cluster of manifests, as users of workload identity have it: the
// operator then signed in with the token of its own ServiceAccount.
func leaveOnlyIDs(stage *harness.Stage, clientID string) {
	stage.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: harness.OperatorSecret}}
	harness.ChangeObject(stage, secret, func(s *corev1.Secret) {
		delete(s.Data, "AZURE_CLIENT_SECRET")
		s.Data["AZURE_CLIENT_ID"] = []byte(clientID)
	})
}

// mountToken writes the token of the manager's ServiceAccount that the Deployment mounts.
func mountToken(t *testing.T) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "azure-identity-token")
	if err := os.WriteFile(file, []byte(requestToken(t, namespace, "capz-manager", audience)), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AZURE_FEDERATED_TOKEN_FILE", file)
}

// createEveryFamily creates clusters that sign in as before the upgrade, and waits until they are in place: one on virtual machines and
// one of AKS with the AzureClusterIdentity "before", and one of AKS with the Secret of the operator.
func createEveryFamily(stage *harness.Stage, documents *harness.ASOCluster) {
	stage.T.Helper()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.IdentityRef.Name = "before"
	stage.CreateCluster(azureCluster)
	controlPlane := stage.ControlPlane("aks1")
	controlPlane.Spec.IdentityRef.Name = "before"
	stage.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: string(infrav1.NodePoolModeSystem), Replicas: 1})
	stage.WaitClusterProvisioned("c1")
	stage.WaitControlPlaneReady("aks1")
	stage.WaitManifestsReady(documents)
}
