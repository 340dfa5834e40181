package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// endpoint is a host that the manager connects to.
type endpoint struct {
	name string
	// url is its root, and path a path there that needs no credentials.
	url, path string
}

// endpointsOf returns the endpoints of a cloud that the manager connects to.
// https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc, https://learn.microsoft.com/rest/api/resources/
func endpointsOf(c cloud.Configuration) []endpoint {
	return []endpoint{
		{"Entra ID", strings.TrimSuffix(c.ActiveDirectoryAuthorityHost, "/"), "/common/v2.0/.well-known/openid-configuration"},
		{"Azure Resource Manager", strings.TrimSuffix(c.Services[cloud.ResourceManager].Endpoint, "/"), "/metadata/endpoints?api-version=2015-01-01"},
	}
}

// endpointTimeout bounds one request for an endpoint.
const endpointTimeout = 15 * time.Second

// checkEndpoint checks that an endpoint answers over HTTPS from this machine. Each answer counts except those of proxies and gateways
// that cannot reach it.
func checkEndpoint(ctx context.Context, transport policy.Transporter, e endpoint) Check {
	out := Check{Check: CheckEgress, Subject: e.name, Status: Passed, Message: e.url + " answers."}
	ctx, cancel := context.WithTimeout(ctx, endpointTimeout)
	defer cancel()
	status, err := getStatus(ctx, transport, e.url+e.path)
	switch {
	case err != nil:
		out.Status, out.Message = Failed, fmt.Sprintf(
			"%s cannot be reached: %v. Allow outgoing HTTPS to this host in firewalls, and set HTTPS_PROXY if there is a proxy.", e.url, err)
	case status >= http.StatusBadGateway || status == http.StatusProxyAuthRequired:
		out.Status, out.Message = Failed, fmt.Sprintf("%s answers with status %d. Allow this host in the proxy.", e.url, status)
	}
	if out.Status != Passed {
		out.Fix = "curl --verbose " + arm.ShellQuote(e.url+e.path)
	}
	return out
}

func getStatus(ctx context.Context, transport policy.Transporter, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	response, err := transport.Do(request)
	if err != nil {
		return 0, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20))
	_ = response.Body.Close()
	return response.StatusCode, nil
}

// signIn checks that Entra ID accepts the credential, and that it shows the subscription. It returns no client if not.
func signIn(ctx context.Context, o Options, account *Account) (*armclient.Client, Check) {
	out := Check{Check: CheckCredentials, Subject: account.Subject, Status: Passed,
		Message: fmt.Sprintf("Client %s signs in to tenant %s, and may use subscription %s.", account.Identity.Spec.ClientID,
			account.Identity.Spec.TenantID, account.SubscriptionID)}
	fail := func(message, fix string) (*armclient.Client, Check) {
		out.Status, out.Message, out.Fix = Failed, message, fix
		return nil, out
	}
	if account.Err != nil {
		return fail(account.Err.Error(), fixCredential(account, ""))
	}
	c, err := armclient.New(account.Credential, account.Cloud, armclient.Options{Principal: account.Identity.Spec.ClientID, Version: o.Version,
		Transport: o.Transport})
	if err != nil {
		return fail(err.Error(), fixCredential(account, ""))
	}
	c = c.ReadOnly()
	if err := c.SignIn(ctx); err != nil {
		var failure *arm.Error
		if errors.As(err, &failure) {
			if failure.Code == armclient.CodeTokenUnavailable && failure.Target != "" {
				// A host answered, and not about the credential: another one would not help.
				entra := endpointsOf(account.Cloud)[0]
				return fail(failure.Message, "curl --verbose "+arm.ShellQuote(entra.url+entra.path))
			}
			return fail(failure.Message, fixCredential(account, failure.Target))
		}
		return fail(err.Error(), fixCredential(account, ""))
	}
	// Azure lists the subscriptions in which the caller has any role.
	// https://learn.microsoft.com/rest/api/resources/subscriptions/list
	items, err := c.List(ctx, "/subscriptions", subscriptionsAPIVersion, nil)
	if err != nil {
		return fail(err.Error(), fixCredential(account, ""))
	}
	if !hasNamed(items, "subscriptionId", account.SubscriptionID) {
		return fail(fmt.Sprintf("Client %s signs in, but has no role in subscription %s, or the subscription does not exist.",
			account.Identity.Spec.ClientID, account.SubscriptionID), assignRole("Contributor", account))
	}
	return c, out
}

// fixCredential returns the command that gives an identity a valid credential. code is that of Entra ID, or "".
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes
func fixCredential(account *Account, code string) string {
	if account.Fix != "" {
		return account.Fix
	}
	spec, q := account.Identity.Spec, arm.ShellQuote
	if spec.Type == "" && spec.ClientID == "" {
		return "kubectl get azureclusteridentities --all-namespaces" // There is no identity whose credential could be changed.
	}
	if code == "AADSTS700016" {
		return "az ad sp show --id " + q(spec.ClientID)
	}
	switch spec.Type {
	case infrav1.WorkloadIdentity:
		if code == "" {
			return fmt.Sprintf("kubectl create token %s --namespace %s --audience api://AzureADTokenExchange > token && export AZURE_FEDERATED_TOKEN_FILE=token",
				q(account.ServiceAccount.Name), q(account.ServiceAccount.Namespace))
		}
		return fmt.Sprintf(`az ad app federated-credential create --id %s --parameters '{"name":"capz","issuer":"ISSUER","subject":"system:serviceaccount:%s:%s","audiences":["api://AzureADTokenExchange"]}'`,
			q(spec.ClientID), account.ServiceAccount.Namespace, account.ServiceAccount.Name)
	case infrav1.UserAssignedMSI:
		return "az vm identity assign --ids ID_OF_THIS_VM --identities ID_OF_THE_IDENTITY"
	case infrav1.ServicePrincipalCertificate:
		return "az ad app credential reset --id " + q(spec.ClientID) + " --append --create-cert"
	}
	secret := account.Identity.Spec.ClientSecret
	namespace := secret.Namespace
	if namespace == "" {
		namespace = account.Identity.Namespace
	}
	return fmt.Sprintf("kubectl create secret generic %s --namespace %s --dry-run=client --output yaml --from-literal=clientSecret=\"$(az ad app credential reset --id %s --append --query password --output tsv)\" | kubectl apply --filename -",
		q(secret.Name), q(namespace), q(spec.ClientID))
}

// assignRole returns the command that assigns a role to the client of an account in its subscription.
func assignRole(name string, account *Account) string {
	return fmt.Sprintf("az role assignment create --role %s --assignee %s --scope %s", arm.ShellQuote(name),
		arm.ShellQuote(account.Identity.Spec.ClientID), arm.ShellQuote("/subscriptions/"+account.SubscriptionID))
}
