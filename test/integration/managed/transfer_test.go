package managed_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/readonly"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/transfer"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// userCredential is the credential of the user who runs the command.
type userCredential struct{ *harness.Simulator }

// GetToken implements azcore.TokenCredential.
func (c userCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.UserToken(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// TestTransfer moves a cluster to the other family of objects and back, with the API server's rules and the webhooks: nothing is
// written to Azure, and the kubeconfig stays.
func TestTransfer(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateOperatorSecret(harness.OperatorSecret)
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	azure, err := armclient.New(userCredential{stage.Azure}, cloud.Configuration{Services: map[cloud.ServiceName]cloud.ServiceConfiguration{
		cloud.ResourceManager: {Endpoint: stage.Azure.URL, Audience: "https://management.core.windows.net/"},
	}}, armclient.Options{Principal: "convert", Version: "test", Transport: readonly.Transport{Next: stage.Azure.HTTP}})
	if err != nil {
		t.Fatal(err)
	}
	mark, before := stage.Azure.MarkRequests(), stage.Azure.ListResources()
	kubeconfig := &corev1.Secret{}
	stage.ReadObject(kubeconfig, "c1-kubeconfig")
	move := func(to string) {
		messages := &bytes.Buffer{}
		moved := &transfer.Transfer{
			Kubernetes: stage.Client, Azure: azure, Key: client.ObjectKey{Namespace: stage.Namespace, Name: "c1"}, To: to,
			Identity: harness.IdentityName, Credential: harness.OperatorSecret, SubscriptionID: stage.Azure.SubscriptionID,
			APIVersion: types.ContainerServiceAPIVersion, Messages: messages, Poll: 50 * time.Millisecond, Patience: harness.Patience,
		}
		if err := moved.Run(t.Context()); err != nil {
			t.Fatalf("to %s: %v\n%s", to, err, messages)
		}
	}
	check := func(to string) {
		if diff := cmp.Diff([]string{}, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
			t.Errorf("to %s: writes to Azure (-want +got):\n%s", to, diff)
		}
		if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
			t.Errorf("to %s: resources in Azure (-before +after):\n%s", to, diff)
		}
		now := &corev1.Secret{}
		stage.ReadObject(now, "c1-kubeconfig")
		if now.UID != kubeconfig.UID {
			t.Errorf("to %s: the kubeconfig was created anew", to)
		}
	}
	move(transfer.AzureASOManaged)
	stage.WaitDocumentsReady(stage.BuildASOCluster("c1", "pool0", "pool1"))
	check(transfer.AzureASOManaged)
	cluster := &clusterv1.Cluster{}
	stage.ReadObject(cluster, "c1")
	if ref := cluster.Spec.ControlPlaneRef; ref.Kind != "AzureASOManagedControlPlane" {
		t.Errorf("the Cluster refers to a %s", ref.Kind)
	}
	move(transfer.AzureManaged)
	stage.WaitManagedClusterReady("c1", pools...)
	check(transfer.AzureManaged)
	stage.ReadObject(&infrav1.AzureManagedControlPlane{}, "c1")
}
