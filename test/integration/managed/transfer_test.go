package managed_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	clienvironment "sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	azureidentity "sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// userCredential is the credential of the user who runs the command.
type userCredential struct{ *harness.Simulator }

// GetToken implements azcore.TokenCredential.
func (c userCredential) GetToken(context.Context, policy.TokenRequestOptions) (azcore.AccessToken, error) {
	return azcore.AccessToken{Token: c.UserToken(), ExpiresOn: time.Now().Add(time.Hour)}, nil
}

// transferCommands returns the commands of the book's page, for the names of the stage.
func transferCommands(t *testing.T, stage *harness.Stage) (out [][]string) {
	t.Helper()
	names := map[string]string{"default": stage.Namespace, "aso-credential": harness.OperatorSecret, "cluster-identity": harness.IdentityName,
		"$AZURE_SUBSCRIPTION_ID": stage.Azure.SubscriptionID}
	page, err := os.ReadFile("../../../docs/book/convert.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		words, is := strings.CutPrefix(line, "kubectl capz convert transfer ")
		if !is {
			continue
		}
		command := append([]string{"convert", "transfer"}, strings.Fields(words)...)
		for i, word := range command {
			command[i] = stdcmp.Or(names[word], word)
		}
		out = append(out, command)
	}
	if len(out) != 2 {
		t.Fatalf("the page has %d commands, not one there and one back", len(out))
	}
	return out
}

// TestTransfer runs the commands of the book, which move a cluster to the other family of objects and back, against the rules of the API server and the webhooks:
// nothing is written to Azure, and the kubeconfig stays.
func TestTransfer(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateOperatorSecret(harness.OperatorSecret)
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitManagedClusterReady("c1", pools...)
	mark, before := stage.Azure.MarkRequests(), stage.Azure.ListResources()
	kubeconfig, kubeconfigFile := &corev1.Secret{}, stage.Environment.WriteKubeconfig(t, t.TempDir())
	stage.ReadObject(kubeconfig, "c1-kubeconfig")
	move := func(command []string) {
		e := &clienvironment.Environment{Version: "test", Transport: stage.Azure.HTTP, Credential: userCredential{stage.Azure},
			Identity: azureidentity.Options{ResourceManagerEndpoint: stage.Azure.URL, ResourceManagerAudience: "https://management.core.windows.net/",
				AuthorityHost: stage.Azure.URL}}
		root, messages := cli.NewCommand(e), &bytes.Buffer{}
		root.SetErr(messages)
		root.SetArgs(append(command, "--kubeconfig", kubeconfigFile))
		if err := root.ExecuteContext(t.Context()); err != nil {
			t.Fatalf("%q: %v\n%s", command, err, messages)
		}
	}
	commands := transferCommands(t, stage)
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
	move(commands[0])
	stage.WaitManifestsReady(stage.BuildASOCluster("c1", "pool0", "pool1"))
	check("documents")
	cluster := &clusterv1.Cluster{}
	stage.ReadObject(cluster, "c1")
	if ref := cluster.Spec.ControlPlaneRef; ref.Kind != "AzureASOManagedControlPlane" {
		t.Errorf("the Cluster refers to a %s", ref.Kind)
	}
	move(commands[1])
	stage.WaitManagedClusterReady("c1", pools...)
	check("azuremanaged")
	stage.ReadObject(&infrav1.AzureManagedControlPlane{}, "c1")
}
