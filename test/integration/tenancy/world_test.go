package tenancy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	identityVersion = "2023-01-31"
	managerAccount  = "manager"
)

// world is a management cluster: the operator's namespace, which is the stage's, and a manager that watches all namespaces.
type world struct {
	*harness.Stage
	manager *harness.Manager
	flags   []string
	// token is the token file of the manager, and certificates the folder that spec.certPath has to be in.
	token, certificates string
	// issuer is that of the API server's tokens.
	issuer string
}

// newWorld starts a manager with these flags. Tests with a world run one after the other, because it watches everything.
func newWorld(t *testing.T, flags ...string) *world {
	t.Helper()
	w := &world{Stage: harness.NewStage(t, environment), certificates: t.TempDir(), token: filepath.Join(t.TempDir(), "token")}
	t.Cleanup(w.clearObjects)
	w.createAccount(w.Stage, managerAccount)
	if err := os.WriteFile(w.token, []byte(w.tokenOf(managerAccount)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.issuer = w.TrustTokens()
	w.Azure.PutResource("resourceGroups/identities", "2021-04-01", map[string]any{"location": "eastus"})
	w.flags = append([]string{"--namespace=", "--manager-identity-namespaces=" + w.Namespace,
		"--identity-certificate-folder=" + w.certificates}, flags...)
	w.startManager()
	return w
}

// startManager starts a manager; there is one at a time.
func (w *world) startManager() {
	w.manager = w.StartManager(harness.ManagerOptions{TokenFile: w.token, Flags: w.flags})
}

// clearObjects takes everything away that another world's manager would look after. It runs when the manager has stopped.
func (w *world) clearObjects() {
	ctx := context.Background()
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureClusterIdentityList{}, &clusterv1.ClusterList{},
		&clusterv1.MachineList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
		&clusterv1.MachinePoolList{},
	} {
		if err := w.Client.List(ctx, list); err != nil {
			w.T.Error(err)
		}
		for _, object := range objectsOf(list) {
			before := object.DeepCopyObject().(client.Object)
			object.SetFinalizers(nil)
			if err := w.Client.Patch(ctx, object, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
				w.T.Error(err)
			}
			if err := w.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
				w.T.Error(err)
			}
		}
	}
}

func objectsOf(list client.ObjectList) (out []client.Object) {
	// An error could only come from the function.
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		out = append(out, item.(client.Object))
		return nil
	})
	return out
}

// createAccount makes a ServiceAccount.
func (w *world) createAccount(in *harness.Stage, name string) {
	in.CreateObject(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: in.Namespace, Name: name}})
}

// tokenOf returns a token of an account of the operator's namespace, as a pod has it mounted.
func (w *world) tokenOf(name string) string {
	w.T.Helper()
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{Audiences: []string{"api://AzureADTokenExchange"}}}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
	if err := w.Client.SubResource("token").Create(w.T.Context(), account, request); err != nil {
		w.T.Fatal(err)
	}
	return request.Status.Token
}

// createApplication makes a managed identity in Azure that trusts an account of a namespace, and returns its client ID.
func (w *world) createApplication(name, namespace, account string) string {
	w.T.Helper()
	path := "resourceGroups/identities/providers/Microsoft.ManagedIdentity/userAssignedIdentities/" + name
	w.Azure.PutResource(path, identityVersion, map[string]any{"location": "eastus"})
	w.Azure.PutResource(path+"/federatedIdentityCredentials/capz", identityVersion, map[string]any{"properties": map[string]any{
		"issuer": w.issuer, "subject": "system:serviceaccount:" + namespace + ":" + account, "audiences": []any{"api://AzureADTokenExchange"},
	}})
	_, made := w.Azure.GetResource(path, identityVersion)
	return harness.FindString(made, "properties.clientId")
}

// createIdentity makes the identity of a tenant, which its own namespace may use.
func createIdentity(in *harness.Stage, change func(*infrav1.AzureClusterIdentitySpec)) {
	in.T.Helper()
	object := in.NewIdentity()
	object.Spec.AllowedNamespaces = &infrav1.AllowedNamespaces{NamespaceList: []string{in.Namespace}}
	change(&object.Spec)
	in.CreateObject(object)
}

// createCluster makes the cluster c1 of a tenant with a machine, in a group with the name of the namespace.
func createCluster(in *harness.Stage, change func(*infrav1.AzureCluster)) {
	in.T.Helper()
	azureCluster := in.AzureCluster("c1")
	azureCluster.Spec.ResourceGroup = in.Namespace
	if change != nil {
		change(azureCluster)
	}
	in.CreateCluster(azureCluster)
	in.CreateMachine(in.AzureMachine("c1", "m1"), harness.Worker, "")
}

// inAzure returns the requests that are about a tenant's group.
func (w *world) inAzure(tenant *harness.Stage) []string {
	var out []string
	for _, request := range w.Azure.RequestsSince(0) {
		if strings.Contains(strings.ToLower(request), strings.ToLower(tenant.Namespace)) {
			out = append(out, request)
		}
	}
	return out
}

// inAzureNow returns the resources in a tenant's group.
func (w *world) inAzureNow(tenant *harness.Stage) []string {
	return slices.DeleteFunc(w.Azure.ListResources(),
		func(id string) bool { return !strings.Contains(strings.ToLower(id), strings.ToLower(tenant.Namespace)) })
}

// secretsOf returns the Secrets in the namespace of a tenant.
func secretsOf(tenant *harness.Stage) []corev1.Secret {
	tenant.T.Helper()
	list := &corev1.SecretList{}
	if err := tenant.Client.List(tenant.T.Context(), list, client.InNamespace(tenant.Namespace)); err != nil {
		tenant.T.Fatal(err)
	}
	return list.Items
}

// waitReason waits until the Ready condition of an object has this reason and its message contains all the texts.
func waitReason[T harness.Conditioned](in *harness.Stage, object T, name, reason string, all ...string) {
	in.T.Helper()
	harness.WaitFor(in, object, name, "refused with "+reason+", saying "+strings.Join(all, "; "), func(o T) bool {
		condition := harness.FindCondition(o, infrav1.ReadyCondition)
		missing := func(text string) bool { return !strings.Contains(condition.Message, text) }
		return condition.Reason == reason && !slices.ContainsFunc(all, missing)
	})
}
