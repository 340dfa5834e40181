package identity

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestTenancy lets an identity in namespace "ids" name Secrets, files and credentials of other namespaces and of the manager.
func TestTenancy(t *testing.T) {
	folder := t.TempDir()
	outside := filepath.Join(t.TempDir(), "cert.pem")
	for _, path := range []string{outside, filepath.Join(folder, "cert.pem")} {
		if err := os.WriteFile(path, newCertificate(t), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	elsewhere := func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Namespace = "others" }
	file := func(path string) func(*infrav1.AzureClusterIdentitySpec) {
		return func(s *infrav1.AzureClusterIdentitySpec) {
			s.Type, s.CertPath = infrav1.ServicePrincipalCertificate, path
		}
	}
	kind := func(kind infrav1.IdentityType) func(*infrav1.AzureClusterIdentitySpec) {
		return func(s *infrav1.AzureClusterIdentitySpec) { s.Type = kind }
	}
	lets := func(namespaces string) *corev1.Secret {
		secret := secretOf("others", map[string][]byte{"clientSecret": []byte(password)})
		secret.Annotations = map[string]string{infrav1.IdentityNamespacesAnnotation: namespaces}
		return secret
	}
	plain := lets("")
	listed, trusting := Options{ManagerNamespaces: []string{"ids"}, CertificateFolder: folder}, Options{Tenancy: Trusted}
	tests := map[string]struct {
		reason  string
		spec    func(*infrav1.AzureClusterIdentitySpec)
		secret  *corev1.Secret
		options Options
		code    Code
		message string
	}{
		"Secret of others": {"the Secret belongs to another namespace", elsewhere, plain, Options{}, NotAllowedByTenancy,
			"kubectl annotate secret -n others secret infrastructure.cluster.x-k8s.io/identity-namespaces=ids"},
		"no Secret of others": {"the message is the same, so that it reveals no Secrets of others", elsewhere, nil, Options{},
			NotAllowedByTenancy, "there is no Secret others/secret that lets identities of namespace ids use it"},
		"Secret for another namespace":    {"names are whole", elsewhere, lets("id,idss"), Options{}, NotAllowedByTenancy, "others/secret"},
		"Secret that lists the namespace": {"its owner allows it", elsewhere, lets("a, ids"), Options{}, "", ""},
		"Secret that lists all":           {"its owner allows it", elsewhere, lets("*"), Options{}, "", ""},
		"Secret of others, trusted":       {"trusted tenancy allows Secrets of other namespaces", elsewhere, plain, trusting, "", ""},
		"no Secret of others, trusted":    {"trusted tenancy reads Secrets of other namespaces and reports missing ones", elsewhere, nil, trusting, SecretNotFound, "there is no Secret others/secret"},
		"managed identity": {"the machine is the manager's", kind(infrav1.UserAssignedMSI), nil, Options{}, NotAllowedByTenancy,
			"--manager-identity-namespaces"},
		"managed identity, other": {"another namespace is listed", kind(infrav1.UserAssignedMSI), nil,
			Options{ManagerNamespaces: []string{"other"}}, NotAllowedByTenancy, "Add namespace ids there"},
		"managed identity, listed": {"the operator listed the namespace", kind(infrav1.UserAssignedMSI), nil, listed, "", ""},
		"managed identity, trusted": {"trusted tenancy allows each namespace the manager's identities",
			kind(infrav1.UserAssignedMSI), nil, trusting, "", ""},
		"workload identity": {"there is no ServiceAccount, and the message has the subject", kind(infrav1.WorkloadIdentity), nil,
			Options{}, ServiceAccountNotFound, "trust the subject system:serviceaccount:ids:capz-workload-identity"},
		"workload identity, listed": {"the manager's token is used", kind(infrav1.WorkloadIdentity), nil, listed, "", ""},
		"workload identity, trusted": {"trusted tenancy allows each namespace the manager's token",
			kind(infrav1.WorkloadIdentity), nil, trusting, "", ""},
		"file": {"it is the manager's", file(filepath.Join(folder, "cert.pem")), nil, Options{CertificateFolder: folder},
			NotAllowedByTenancy, "spec.certPath"},
		"file, listed": {"the operator listed the namespace", file(filepath.Join(folder, "cert.pem")), nil, listed, "", ""},
		"file elsewhere, listed": {"it is in no folder for certificates", file(outside), nil, listed, SecretNotFound,
			"--identity-certificate-folder"},
		"file by dots, listed": {"the path leads outside of the folder",
			file(folder + "/../" + filepath.Base(filepath.Dir(outside)) + "/cert.pem"), nil, listed, SecretNotFound,
			"--identity-certificate-folder"},
		"link out of it, listed": {"the target of the link counts", file(filepath.Join(folder, "link")), nil, listed, SecretNotFound, "escapes"},
		"file anywhere, trusted": {"trusted tenancy reads certificates from all folders", file(outside), nil, trusting, "", ""},
		"file in the folder of trusted": {"a folder that is named counts", file(outside), nil,
			Options{Tenancy: Trusted, CertificateFolder: folder}, SecretNotFound, "--identity-certificate-folder"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			identity := identityOf(test.spec)
			objects := []client.Object{identity}
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			err := New(newKubernetes(t, objects...), test.options).CheckCredential(t.Context(), identity)
			if CodeOf(err) != test.code || (err == nil) != (test.code == "") {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if err != nil && (!strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), password)) {
				t.Errorf("%s: got %v", test.reason, err)
			}
		})
	}
}

// TestCertificateErrorsHideTheSecret lets an identity name a Secret that is no certificate; it expects an error without the content,
// although a parser quotes the bytes that it cannot read.
func TestCertificateErrorsHideTheSecret(t *testing.T) {
	for _, secret := range []string{"s3", "\x30\x82\x01", "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"} {
		identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate })
		err := New(newKubernetes(t, identity, secretOf("ids", map[string][]byte{"certificate": []byte(secret)})),
			Options{}).CheckCredential(t.Context(), identity)
		if CodeOf(err) != CredentialsInvalid || !strings.HasSuffix(err.Error(), errNoCertificate.Error()) {
			t.Errorf("%q: got %v", secret, err)
		}
	}
}

// TestAssertion asks for tokens of ServiceAccounts over time.
func TestAssertion(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var asked []string
	var refuse error
	api := interceptor.NewClient(newKubernetes(t), interceptor.Funcs{
		SubResourceCreate: func(_ context.Context, _ client.Client, resource string, object, request client.Object,
			_ ...client.SubResourceCreateOption) error {
			spec := request.(*authenticationv1.TokenRequest).Spec
			asked = append(asked, resource+" "+object.GetNamespace()+"/"+object.GetName()+" "+strings.Join(spec.Audiences, ","))
			if refuse != nil {
				return refuse
			}
			request.(*authenticationv1.TokenRequest).Status = authenticationv1.TokenRequestStatus{
				Token:               "token-of-" + object.GetNamespace() + now.Format("-15:04"),
				ExpirationTimestamp: metav1.NewTime(now.Add(time.Duration(*spec.ExpirationSeconds) * time.Second)),
			}
			return nil
		},
	})
	a := &assertions{kubernetes: api, now: func() time.Time { return now }, kept: map[types.NamespacedName]assertion{}}
	gone := apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccounts"}, infrav1.WorkloadIdentityServiceAccount)
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "serviceaccounts"}, "x", nil)
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for _, step := range []struct {
		reason, namespace string
		after             time.Duration
		refuse            error
		want              string
		code              Code
		asks              bool
	}{
		{reason: "the first", namespace: "a", want: "token-of-a-00:00", asks: true},
		{reason: "namespaces have their own", namespace: "b", want: "token-of-b-00:00", asks: true},
		{reason: "it is kept", namespace: "a", after: 47 * time.Minute, want: "token-of-a-00:00"},
		{reason: "a fifth of its life is left", namespace: "a", after: time.Minute, want: "token-of-a-00:48", asks: true},
		{reason: "it is good while the namespace goes", namespace: "b", after: time.Minute, refuse: terminating, want: "token-of-b-00:00",
			asks: true},
		{reason: "the deletion of the ServiceAccount ends the right", namespace: "b", refuse: gone, code: ServiceAccountNotFound,
			asks: true},
		{reason: "it has expired", namespace: "b", after: time.Hour, refuse: terminating, code: NamespaceTerminating, asks: true},
	} {
		now, refuse, asked = now.Add(step.after), step.refuse, nil
		got, err := a.getToken(t.Context(), accountIn(step.namespace))
		if got != step.want || CodeOf(err) != step.code {
			t.Errorf("%s: got %q, %v", step.reason, got, err)
		}
		if step.asks != (len(asked) == 1) || step.asks &&
			asked[0] != "token "+step.namespace+"/capz-workload-identity api://AzureADTokenExchange" {
			t.Errorf("%s: asked %q", step.reason, asked)
		}
	}
}

// TestNamespacesShareNoTokens lets two namespaces claim one application; it expects that the proof of one of them does not count for the
// other one.
func TestNamespacesShareNoTokens(t *testing.T) {
	keys := map[string]bool{}
	for _, namespace := range []string{"ids", "others"} {
		identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.WorkloadIdentity })
		identity.Namespace = namespace
		provider := New(newKubernetes(t, identity, accountOf(namespace)), Options{})
		provider.credentials.processKey = []byte("one process")
		resolved, err := provider.Resolve(t.Context(), &corev1.ObjectReference{Name: "id"}, namespace, "")
		if err != nil {
			t.Fatal(err)
		}
		keys[resolved.Key] = true
	}
	if len(keys) != 2 {
		t.Error("two namespaces share a credential")
	}
}
