package identity

import (
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestOperatorSecret makes credentials of Secrets as the Azure Service Operator reads them. Isolated tenants have no way to what
// is the manager's.
func TestOperatorSecret(t *testing.T) {
	data := func(more map[string]string) map[string][]byte {
		out := map[string][]byte{"AZURE_SUBSCRIPTION_ID": []byte("sub"), "AZURE_TENANT_ID": []byte(tenant),
			"AZURE_CLIENT_ID": []byte(application)}
		for key, value := range more {
			out[key] = []byte(value)
		}
		return out
	}
	without := data(nil)
	delete(without, "AZURE_SUBSCRIPTION_ID")
	tests := map[string]struct {
		reason    string
		namespace string
		data      map[string][]byte
		options   Options
		code      Code
		message   string
	}{
		"client secret": {"the most usual one", "ids", data(map[string]string{"AZURE_CLIENT_SECRET": password}), Options{}, "", ""},
		"certificate": {"it goes after the secret", "ids",
			data(map[string]string{"AZURE_CLIENT_CERTIFICATE": string(newCertificate(t))}), Options{}, "", ""},
		"no certificate": {"the error reveals nothing of it", "ids", data(map[string]string{"AZURE_CLIENT_CERTIFICATE": password}), Options{},
			CredentialsInvalid, "Secret ids/secret"},
		"no subscription": {"the manager's own subscription is not used instead", "ids", without, Options{SubscriptionID: "the manager's"},
			SecretKeyMissing,
			"AZURE_SUBSCRIPTION_ID"},
		"Secret of others": {"a namespace has its own", "others", data(map[string]string{"AZURE_CLIENT_SECRET": password}), Options{},
			SecretNotFound, "there is no Secret ids/secret"},
		"workload identity": {"it signs in as the namespace's ServiceAccount, which does not exist", "ids", data(nil), Options{},
			ServiceAccountNotFound, "system:serviceaccount:ids:capz-workload-identity"},
		"workload identity, listed": {"the operator listed the namespace", "ids", data(nil), Options{ManagerNamespaces: []string{"ids"}}, "",
			""},
		"workload identity, trusted": {"who may create Secrets has the manager's token, as the page about tenancy warns", "ids", data(nil),
			Options{Tenancy: Trusted}, "", ""},
		"machine's identity": {"it is the manager's", "ids", data(map[string]string{"AUTH_MODE": "podidentity"}), Options{},
			NotAllowedByTenancy, "--manager-identity-namespaces"},
		"machine's, trusted": {"trusted tenancy allows each namespace the manager's identity",
			"ids", data(map[string]string{"AUTH_MODE": "podidentity"}), Options{Tenancy: Trusted},
			"", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			provider := New(newKubernetes(t, secretOf(test.namespace, test.data)), test.options)
			resolved, subscription, err := provider.ResolveSecret(t.Context(), types.NamespacedName{Namespace: "ids", Name: "secret"},
				infrav1.PublicCloud)
			if CodeOf(err) != test.code || err != nil &&
				(test.code == "" || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), password)) {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if err == nil && (subscription != "sub" || !resolved.OfSecret || resolved.Identity.Namespace != "ids") {
				t.Errorf("%s: subscription %q, %v", test.reason, subscription, resolved.Identity)
			}
		})
	}
}

// TestReplacedCredential checks that no material of an identity is read when the options replace its credential, and that an identity with
// a client secret counts as one.
func TestReplacedCredential(t *testing.T) {
	options := Options{Credential: fakeCredential{}}
	secret := secretOf("ids", map[string][]byte{"AZURE_SUBSCRIPTION_ID": []byte("sub"), "AZURE_TENANT_ID": []byte(tenant),
		"AZURE_CLIENT_ID": []byte(application)})
	resolved, subscription, err := New(newKubernetes(t, secret), options).ResolveSecret(t.Context(),
		types.NamespacedName{Namespace: "ids", Name: "secret"}, infrav1.PublicCloud)
	if err != nil || subscription != "sub" || !resolved.OfSecret || resolved.Credential != (fakeCredential{}) {
		t.Errorf("of a Secret for workload identity, whose ServiceAccount does not exist: %v, subscription %q, %v", resolved, subscription, err)
	}
	for kind, has := range map[infrav1.IdentityType]bool{infrav1.ServicePrincipal: true, infrav1.ManualServicePrincipal: true,
		infrav1.ServicePrincipalCertificate: false, infrav1.WorkloadIdentity: false, infrav1.UserAssignedMSI: false} {
		identity := &infrav1.AzureClusterIdentity{Spec: infrav1.AzureClusterIdentitySpec{Type: kind}}
		resolved, err := New(newKubernetes(t), options).resolveIdentity(t.Context(), identity, infrav1.PublicCloud)
		if err != nil {
			t.Fatal(err)
		}
		if got := resolved.CloudConfigSecret().ClientSecret != ""; got != has {
			t.Errorf("%s: has a client secret: %t, want %t", kind, got, has)
		}
	}
}

type fakeCredential struct{ azcore.TokenCredential }
