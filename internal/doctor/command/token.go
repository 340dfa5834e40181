package command

import (
	"context"
	"fmt"
	"io"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/doctor"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// Names that the release gives the manager (config/default).
const (
	managerNamespace      = "capz-system"
	managerServiceAccount = "capz-manager"
	managerDeployment     = "capz-controller-manager"
)

// tokenReader returns a function that reads the file of AZURE_FEDERATED_TOKEN_FILE, nil if the variable is empty.
func tokenReader(e *environment.Environment) func() (string, error) {
	name := strings.TrimSpace(e.Identity.TokenFile)
	if name == "" {
		return nil
	}
	return func() (string, error) {
		file, err := e.OpenFile(name)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		raw, err := io.ReadAll(io.LimitReader(file, 1<<20))
		return strings.TrimSpace(string(raw)), err
	}
}

// SubResource implements client.SubResourceClientConstructor for tokens of ServiceAccounts.
func (s *source) SubResource(name string) client.SubResourceClient {
	if s.readToken != nil || s.live == nil {
		return givenToken{read: s.readToken}
	}
	return s.live.SubResource(name)
}

// givenToken answers requests for tokens of ServiceAccounts with the token of a file.
type givenToken struct {
	client.SubResourceClient
	// read is nil if there is no file.
	read func() (string, error)
}

// Create implements client.SubResourceWriter. The manager does not sign in as another ServiceAccount, so a token of another one is refused: a
// sign-in with it would show nothing.
func (g givenToken) Create(_ context.Context, account, request client.Object, _ ...client.SubResourceCreateOption) error {
	if g.read == nil {
		return fmt.Errorf("there is no connection to a management cluster that gives one. Set --kubeconfig, or AZURE_FEDERATED_TOKEN_FILE")
	}
	token, err := g.read()
	if err != nil {
		return fmt.Errorf("the file of AZURE_FEDERATED_TOKEN_FILE cannot be read: %w", err)
	}
	want := identity.TokenSource{Account: client.ObjectKeyFromObject(account)}.Subject()
	got := doctor.ReadClaims(token)
	if got.Subject != want {
		return fmt.Errorf("the token in the file of AZURE_FEDERATED_TOKEN_FILE has the subject %q, and the manager signs in as %s", got.Subject, want)
	}
	if request, is := request.(*authenticationv1.TokenRequest); is {
		request.Status.Token, request.Status.ExpirationTimestamp = token, metav1.Unix(got.Expires, 0)
	}
	return nil
}

// findServiceAccount returns the ServiceAccount whose token an identity signs in with.
func findServiceAccount(ctx context.Context, provider *identity.Provider, of *infrav1.AzureClusterIdentity, former identity.Former) client.ObjectKey {
	found, err := provider.FindTokenSource(ctx, of, former)
	if err != nil || found.ManagersOwn {
		return client.ObjectKey{Namespace: managerNamespace, Name: managerServiceAccount}
	}
	return found.Account
}

// fixRefusal returns the command for a credential that the manager refuses before it signs in, "" for other errors.
func fixRefusal(account *doctor.Account) string {
	q := arm.ShellQuote
	switch identity.CodeOf(account.Err) {
	case identity.ServiceAccountNotFound:
		return fmt.Sprintf("kubectl create serviceaccount %s --namespace %s", q(account.ServiceAccount.Name), q(account.ServiceAccount.Namespace))
	case identity.NotAllowedByTenancy:
		if key, is := identity.SecretOf(account.Identity); is {
			return fmt.Sprintf("kubectl annotate secret %s --namespace %s %s=%s", q(key.Name), q(key.Namespace), infrav1.IdentityNamespacesAnnotation,
				q(account.Identity.Namespace))
		}
		// An operator adds the namespace to --manager-identity-namespaces.
		return fmt.Sprintf("kubectl edit deployment %s --namespace %s", managerDeployment, managerNamespace)
	}
	return ""
}
