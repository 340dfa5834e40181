package identity

import (
	"bytes"
	"crypto/rsa"
	"encoding/pem"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestCertificatesAreBounded resolves identities with certificates that would take long to read or to sign with. The messages name the
// Secret, its key and the limit. pkcs12 has the tests of its own limits.
func TestCertificatesAreBounded(t *testing.T) {
	pair := newCertificate(t)
	certificate := pair[:bytes.Index(pair, []byte("-----END CERTIFICATE-----"))+len("-----END CERTIFICATE-----\n")]
	// A key that is none: its size must be seen before it is parsed.
	key := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: make([]byte, maxKeyBytes+1)})
	tests := map[string]struct {
		reason   string
		data     []byte
		password string
		message  string
	}{
		"PEM":            {"as before", pair, "", ""},
		"large data":     {"also with a valid pair", append(bytes.Clone(pair), make([]byte, maxCertificateBytes)...), "", "more than 65536 bytes"},
		"large password": {"it is a part of the work", pair, strings.Repeat("x", maxCertificateBytes), "more than 65536 bytes"},
		"large RSA key":  {"each token would be signed with it", append(bytes.Clone(certificate), key...), "", "RSA key of 8192 bits"},
		"many keys":      {"the first one is the only one that is read", append(append(bytes.Clone(pair), pair...), pair...), "", "it must be PEM"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			identity := identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate })
			kubernetes := newKubernetes(t, identity,
				secretOf("ids", map[string][]byte{"certificate": test.data, "password": []byte(test.password)}),
				operatorCertificateSecret(test.data, test.password))
			provider := New(kubernetes, Options{})
			_, err := provider.Resolve(t.Context(), &corev1.ObjectReference{Name: "id", Namespace: "ids"}, "clusters", "")
			checkBounded(t, test.reason, err, test.message, `key "certificate" of Secret ids/secret`)
			_, _, err = provider.ResolveSecret(t.Context(), types.NamespacedName{Namespace: "ids", Name: "aso-credential"}, infrav1.PublicCloud)
			checkBounded(t, test.reason, err, test.message, `key "AZURE_CLIENT_CERTIFICATE" of Secret ids/aso-credential`)
		})
	}
}

func operatorCertificateSecret(certificate []byte, password string) *corev1.Secret {
	out := secretOf("ids", map[string][]byte{"AZURE_SUBSCRIPTION_ID": []byte("sub"), "AZURE_TENANT_ID": []byte(tenant),
		"AZURE_CLIENT_ID": []byte(application), "AZURE_CLIENT_CERTIFICATE": certificate,
		"AZURE_CLIENT_CERTIFICATE_PASSWORD": []byte(password)})
	out.Name = "aso-credential"
	return out
}

func checkBounded(t *testing.T, reason string, err error, message, source string) {
	t.Helper()
	switch {
	case message == "" && err != nil:
		t.Errorf("%s: %v", reason, err)
	case message != "" && (CodeOf(err) != CredentialsInvalid || !strings.Contains(err.Error(), message) ||
		!strings.Contains(err.Error(), source)):
		t.Errorf("%s: %v, want %q and %q", reason, err, message, source)
	}
}

// TestPKCS12 resolves an identity whose certificate is a file of OpenSSL.
func TestPKCS12(t *testing.T) {
	data, err := os.ReadFile("pkcs12/testdata/rc2.pfx")
	if err != nil {
		t.Fatal(err)
	}
	certificates, key, err := parseCertificate(data, []byte("pass"))
	if of, ok := key.(*rsa.PrivateKey); err != nil || !ok || of.N.BitLen() != 2048 || len(certificates) != 2 {
		t.Errorf("%d certificates, key %T, %v", len(certificates), key, err)
	}
}

// TestInvalidMaterialIsReadOnce counts the reads of a certificate that is none. A corrected Secret has an effect at once.
func TestInvalidMaterialIsReadOnce(t *testing.T) {
	secret := secretOf("ids", map[string][]byte{"certificate": []byte("none")})
	kubernetes := newKubernetes(t, secret,
		identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.ServicePrincipalCertificate }))
	provider := New(kubernetes, Options{})
	resolve := func() error {
		_, err := provider.Resolve(t.Context(), &corev1.ObjectReference{Name: "id", Namespace: "ids"}, "clusters", "")
		return err
	}
	for range 2 {
		if err := resolve(); CodeOf(err) != CredentialsInvalid || provider.credentials.invalid.Len() != 1 {
			t.Errorf("%v, and %d errors are kept", err, provider.credentials.invalid.Len())
		}
	}
	secret.Data["certificate"] = newCertificate(t)
	if err := kubernetes.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := resolve(); err != nil {
		t.Errorf("after the correction: %v", err)
	}
}
