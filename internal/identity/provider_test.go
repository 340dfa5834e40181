package identity

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest"
)

const (
	tenant      = "11111111-1111-1111-1111-111111111111"
	application = "22222222-2222-2222-2222-222222222222"
	password    = "s3cret-v4lue"
)

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, infrav1.AddToScheme} {
		if err := add(s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func newKubernetes(t *testing.T, objects ...client.Object) client.WithWatch {
	t.Helper()
	return fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(objects...).Build()
}

// identityOf returns an identity in namespace "ids" that everybody may use.
func identityOf(change func(*infrav1.AzureClusterIdentitySpec)) *infrav1.AzureClusterIdentity {
	identity := &infrav1.AzureClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ids", Name: "id"},
		Spec: infrav1.AzureClusterIdentitySpec{
			Type: infrav1.ServicePrincipal, TenantID: tenant, ClientID: application,
			ClientSecret:      corev1.SecretReference{Namespace: "ids", Name: "secret"},
			AllowedNamespaces: &infrav1.AllowedNamespaces{},
		},
	}
	if change != nil {
		change(&identity.Spec)
	}
	return identity
}

func secretOf(namespace string, data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "secret"}, Data: data}
}

func accountOf(namespace string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: infrav1.WorkloadIdentityServiceAccount}}
}

func requestToken(t *testing.T, resolved *Resolved) string {
	t.Helper()
	token, err := resolved.Credential.GetToken(context.Background(),
		policy.TokenRequestOptions{Scopes: []string{"https://management.core.windows.net//.default"}})
	if err != nil {
		t.Fatalf("token: %v", err)
	}
	return token.Token
}

// newCertificate returns a self-signed certificate with its key in PEM form.
func newCertificate(t testing.TB) []byte {
	t.Helper()
	certificate, key := azuretest.NewCertificate(t)
	return append(certificate, key...)
}

func TestResolve(t *testing.T) {
	pemBytes := newCertificate(t)
	folder := t.TempDir()
	certFile, tokenFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "token")
	for name, content := range map[string][]byte{certFile: pemBytes, tokenFile: []byte("projected-token")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	// The library keeps tokens of managed identities for the whole process, also across repetitions of this test.
	managed := uuid.NewString()
	const assertion = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
	tests := map[string]struct {
		reason      string
		spec        func(*infrav1.AzureClusterIdentitySpec)
		secret      *corev1.Secret
		environment string
		options     Options
		url         string            // where the token is asked for
		form        map[string]string // further form values of the request
		want        CloudConfigSecret
	}{
		"service principal": {
			reason: "the newline that an editor leaves is no part of the secret",
			secret: secretOf("ids", map[string][]byte{"clientSecret": []byte(password + "\n")}),
			url:    "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_id": application, "client_secret": password, "grant_type": "client_credentials"},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application, ClientSecret: password},
		},
		"old name of service principal, Secret without namespace": {
			reason: "the Secret is in the identity's namespace then",
			spec: func(s *infrav1.AzureClusterIdentitySpec) {
				s.Type, s.ClientSecret.Namespace = infrav1.ManualServicePrincipal, ""
			},
			secret: secretOf("ids", map[string][]byte{"clientSecret": []byte(password)}),
			url:    "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_secret": password},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application, ClientSecret: password},
		},
		"service principal in China": {
			reason: "the environment names the authority", environment: "AzureChinaCloud",
			secret: secretOf("ids", map[string][]byte{"clientSecret": []byte(password)}),
			url:    "https://login.chinacloudapi.cn/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_secret": password},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application, ClientSecret: password},
		},
		"service principal with an authority of one's own": {
			reason:  "no request verifies that the authority is one of Microsoft's",
			options: Options{AuthorityHost: "https://entra.test/"},
			secret:  secretOf("ids", map[string][]byte{"clientSecret": []byte(password)}),
			url:     "https://entra.test/" + tenant + "/oauth2/v2.0/token",
			form:    map[string]string{"client_secret": password},
			want:    CloudConfigSecret{TenantID: tenant, ClientID: application, ClientSecret: password},
		},
		"certificate": {
			reason: "the documented key",
			spec:   func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate },
			secret: secretOf("ids", map[string][]byte{"certificate": pemBytes, "password": nil}),
			url:    "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_id": application, "client_assertion_type": assertion},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"certificate under clientSecret": {
			reason: "the key that the established provider's own client reads",
			spec:   func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate },
			secret: secretOf("ids", map[string][]byte{"clientSecret": pemBytes}),
			url:    "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_assertion_type": assertion},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"certificate file": {
			reason: "the file wins over the Secret, which need not exist",
			spec: func(s *infrav1.AzureClusterIdentitySpec) {
				s.Type, s.CertPath = infrav1.ServicePrincipalCertificate, certFile
			},
			options: Options{ManagerNamespaces: []string{"ids"}, CertificateFolder: folder},
			url:     "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:    map[string]string{"client_assertion_type": assertion},
			want:    CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"workload identity": {
			reason:  "the projected token is the assertion",
			spec:    func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.WorkloadIdentity },
			options: Options{TokenFile: tokenFile + "\n", ManagerNamespaces: []string{"ids"}},
			url:     "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:    map[string]string{"client_id": application, "client_assertion": "projected-token", "client_assertion_type": assertion},
			want:    CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"workload identity of a namespace": {
			reason: "a token of the ServiceAccount of the identity's namespace is the assertion; the fake API server gives this one",
			spec:   func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.WorkloadIdentity },
			url:    "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:   map[string]string{"client_id": application, "client_assertion": "fake-token", "client_assertion_type": assertion},
			want:   CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"workload identity of trusted tenants": {
			reason:  "in every namespace",
			spec:    func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.WorkloadIdentity },
			options: Options{TokenFile: tokenFile, Tenancy: Trusted},
			url:     "https://login.microsoftonline.com/" + tenant + "/oauth2/v2.0/token",
			form:    map[string]string{"client_assertion": "projected-token"},
			want:    CloudConfigSecret{TenantID: tenant, ClientID: application},
		},
		"managed identity": {
			options: Options{ManagerNamespaces: []string{"ids"}},
			reason:  "the metadata endpoint is asked for the identity by client ID; the tenant is its own business",
			spec: func(s *infrav1.AzureClusterIdentitySpec) {
				s.Type, s.TenantID, s.ClientID = infrav1.UserAssignedMSI, "", managed
			},
			url:  "http://169.254.169.254/metadata/identity/oauth2/token",
			form: map[string]string{"client_id": managed},
			want: CloudConfigSecret{ClientID: managed},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{identityOf(test.spec), accountOf("ids")}
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			authority := &entra{}
			test.options.Transport = authority
			provider := New(newKubernetes(t, objects...), test.options)
			resolved, err := provider.Resolve(context.Background(), &corev1.ObjectReference{Kind: Kind, Name: "id", Namespace: "ids"}, "clusters",
				test.environment)
			if err != nil {
				t.Fatal(err)
			}
			requestToken(t, resolved)
			got := authority.lastRequest()
			if got.URL != test.url {
				t.Errorf("%s: asked %s for the token, want %s", test.reason, got.URL, test.url)
			}
			for key, want := range test.form {
				if got.Form.Get(key) != want {
					t.Errorf("%s: sent %s=%q, want %q", test.reason, key, got.Form.Get(key), want)
				}
			}
			if diff := cmp.Diff(test.want, resolved.CloudConfigSecret()); diff != "" {
				t.Errorf("%s: azure.json: %s", test.reason, diff)
			}
			for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
				if printed := fmt.Sprintf(format+format, *resolved, resolved.CloudConfigSecret()); strings.Contains(printed, password) {
					t.Errorf("%s prints the secret: %s", format, printed)
				}
			}
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	ref := &corev1.ObjectReference{Kind: Kind, Name: "id", Namespace: "ids"}
	good := secretOf("ids", map[string][]byte{"clientSecret": []byte(password)})
	tests := map[string]struct {
		reason      string
		ref         *corev1.ObjectReference
		identity    *infrav1.AzureClusterIdentity
		secret      *corev1.Secret
		environment string
		code        Code
		message     string
	}{
		"no reference": {reason: "required", code: IdentityNotFound, message: "spec.identityRef: set identityRef to an AzureClusterIdentity"},
		"another kind": {reason: "only one is known", ref: &corev1.ObjectReference{Kind: "Secret", Name: "id"}, code: NotSupported,
			message: `spec.identityRef.kind: "Secret"`},
		"missing identity": {reason: "it may be created later", ref: ref, code: IdentityNotFound,
			message: "there is no AzureClusterIdentity ids/id"},
		"missing in namespace": {reason: "no namespace means the object's own", ref: &corev1.ObjectReference{Name: "id"},
			identity: identityOf(nil), code: IdentityNotFound, message: "AzureClusterIdentity clusters/id"},
		"namespace not allowed": {
			reason: "the Secret is not read", ref: ref,
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.AllowedNamespaces.NamespaceList = []string{"other"} }),
			code:     NamespaceNotAllowedByIdentity, message: "namespace clusters may not use AzureClusterIdentity ids/id",
		},
		"namespace not selected": {
			reason: "the labels are read for the selector", ref: ref, secret: good,
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) {
				s.AllowedNamespaces.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team",
					Operator: metav1.LabelSelectorOpDoesNotExist}}}
			}),
			code: NamespaceNotAllowedByIdentity, message: "its spec.allowedNamespaces does not include it",
		},
		"missing Secret": {reason: "named with its namespace", ref: ref, identity: identityOf(nil), code: SecretNotFound,
			message: "there is no Secret ids/secret"},
		"no Secret named": {
			reason: "the type needs one", ref: ref, code: SecretNotFound, message: "spec.clientSecret.name is empty",
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret = corev1.SecretReference{} }),
		},
		"missing key": {
			reason: "a misspelt key", ref: ref, identity: identityOf(nil),
			secret: secretOf("ids", map[string][]byte{"clientsecret": []byte(password)}),
			code:   SecretKeyMissing, message: `Secret ids/secret has no value under key "clientSecret"`,
		},
		"empty key": {
			reason: "as good as missing", ref: ref, identity: identityOf(nil),
			secret: secretOf("ids", map[string][]byte{"clientSecret": []byte("\n")}),
			code:   SecretKeyMissing, message: `under key "clientSecret"`,
		},
		"missing certificate": {
			reason: "the documented key is named", ref: ref, secret: secretOf("ids", nil), code: SecretKeyMissing,
			message:  `under key "certificate"`,
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate }),
		},
		"certificate that is none": {
			reason: "the error does not show the content", ref: ref, secret: secretOf("ids", map[string][]byte{"certificate": []byte(password)}),
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate }),
			code:     CredentialsInvalid, message: "ids/id: cannot create a client certificate credential",
		},
		"missing certificate file": {
			reason: "the file is the manager's", ref: ref, code: SecretNotFound, message: "spec.certPath cannot be read",
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) {
				s.Type, s.CertPath = infrav1.ServicePrincipalCertificate, "/does/not/exist"
			}),
		},
		"empty client ID": {
			reason: "the SDK would fall back to the environment's", ref: ref, secret: good, code: CredentialsInvalid,
			message:  "spec.clientID is empty",
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type, s.ClientID = infrav1.WorkloadIdentity, "" }),
		},
		"malformed tenant": {
			reason: "it would become part of a URL", ref: ref, secret: good, code: CredentialsInvalid,
			message:  "cannot create a client secret credential",
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.TenantID = "../common" }),
		},
		"unknown credential type": {
			reason: "refused by name, with the replacement", ref: ref, code: NotSupported,
			message:  "spec.type UserAssignedIdentityCredential is not supported yet, use WorkloadIdentity",
			identity: identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.UserAssignedIdentityCredential }),
		},
		"unknown cloud": {reason: "named", ref: ref, identity: identityOf(nil), secret: good, environment: "Mooncake", code: NotSupported,
			message: `spec.azureEnvironment: "Mooncake"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "clusters", Labels: map[string]string{"team": "blue"}}}}
			if test.identity != nil {
				objects = append(objects, test.identity)
			}
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			provider := New(newKubernetes(t, objects...), Options{ManagerNamespaces: []string{"ids"}})
			_, err := provider.Resolve(context.Background(), test.ref, "clusters", test.environment)
			if err == nil || CodeOf(err) != test.code || !strings.Contains(err.Error(), test.message) {
				t.Fatalf("%s: got code %q, %v", test.reason, CodeOf(err), err)
			}
			if checks := test.identity != nil && test.environment == "" && test.code != IdentityNotFound &&
				test.code != NamespaceNotAllowedByIdentity; checks {
				if err := provider.CheckCredential(context.Background(), test.identity); CodeOf(err) != test.code {
					t.Errorf("the identity's own check returns %v", err)
				}
			}
			if strings.Contains(err.Error(), password) {
				t.Errorf("the message shows the secret: %v", err)
			}
		})
	}
}

// TestSecretIsNotReadBeforeTheCheck makes sure that a namespace that may not use the identity does not even cause a read.
func TestSecretIsNotReadBeforeTheCheck(t *testing.T) {
	var secretsRead int
	reader := interceptor.NewClient(newKubernetes(t, identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.AllowedNamespaces = nil }),
		secretOf("ids", map[string][]byte{"clientSecret": []byte(password)})), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*corev1.Secret); ok {
				secretsRead++
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	_, err := New(reader, Options{}).Resolve(context.Background(), &corev1.ObjectReference{Name: "id", Namespace: "ids"}, "clusters", "")
	if CodeOf(err) != NamespaceNotAllowedByIdentity || secretsRead != 0 {
		t.Errorf("got %v after reading %d Secrets", err, secretsRead)
	}
}

func TestCredentialsAreShared(t *testing.T) {
	ctx := context.Background()
	authority := &entra{}
	secret := secretOf("ids", map[string][]byte{"clientSecret": []byte("first")})
	c := newKubernetes(t, identityOf(nil), secret)
	provider := New(c, Options{Transport: authority})
	ref := &corev1.ObjectReference{Name: "id", Namespace: "ids"}
	resolve := func(environment string) *Resolved {
		t.Helper()
		resolved, err := provider.Resolve(ctx, ref, "clusters", environment)
		if err != nil {
			t.Fatal(err)
		}
		return resolved
	}

	first, again := resolve(""), resolve("AzurePublicCloud")
	if first.Key != again.Key || requestToken(t, first) != requestToken(t, again) || len(authority.requests) != 1 {
		t.Errorf("two objects of one identity asked for %d tokens", len(authority.requests))
	}
	if other := resolve("AzureChinaCloud"); other.Key == first.Key {
		t.Error("two clouds share a credential")
	}

	secret.Data["clientSecret"] = []byte("second")
	if err := c.Update(ctx, secret); err != nil {
		t.Fatal(err)
	}
	rotated := resolve("")
	requestToken(t, rotated)
	if got := authority.lastRequest().Form.Get("client_secret"); rotated.Key == first.Key || got != "second" {
		t.Errorf("after the Secret changed, %q was sent", got)
	}
	if strings.Contains(rotated.Key, "second") {
		t.Error("the key shows the secret")
	}
}

// TestCheckIsNotAboutNamespaces tests that Check accepts an identity that no namespace may use yet.
func TestCheckIsNotAboutNamespaces(t *testing.T) {
	identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.AllowedNamespaces = nil })
	c := newKubernetes(t, identity, secretOf("ids", map[string][]byte{"clientSecret": []byte(password)}))
	if err := New(c, Options{}).CheckCredential(context.Background(), identity); err != nil {
		t.Error(err)
	}
}

func TestSubscription(t *testing.T) {
	tests := map[string]struct {
		reason          string
		specified, own  string
		want            string
		wantMissingCode bool
	}{
		"specified":      {"the object wins", "a\n", "b", "a", false},
		"manager's":      {"the environment of old manifests", "", "b\n", "b", false},
		"neither of two": {"no guess", "", "", "", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := New(nil, Options{SubscriptionID: test.own}).ResolveSubscription(test.specified)
			if got != test.want || (CodeOf(err) == SubscriptionMissing) != test.wantMissingCode {
				t.Errorf("%s: got %q, %v", test.reason, got, err)
			}
		})
	}
}
