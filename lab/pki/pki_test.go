package pki

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEnsureMakesChainsThatVerifyAndKeepsThem(t *testing.T) {
	dir := t.TempDir()
	if err := EnsureFiles(dir); err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, CACert))
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(ca) {
		t.Fatal("the CA file has no certificate")
	}
	cases := map[string]struct {
		reason, cert, key, host string
		usage                   x509.ExtKeyUsage
	}{
		"APIServer": {"clients connect to 127.0.0.1", APIServerCert, APIServerKey, "127.0.0.1", x509.ExtKeyUsageServerAuth},
		"Webhook": {"the API server calls webhooks by URL on 127.0.0.1", WebhookDir + "/tls.crt", WebhookDir + "/tls.key", "127.0.0.1",
			x509.ExtKeyUsageServerAuth},
		"Admin": {"managers log in with it", AdminCert, AdminKey, "", x509.ExtKeyUsageClientAuth},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			pair, err := tls.LoadX509KeyPair(filepath.Join(dir, tc.cert), filepath.Join(dir, tc.key))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: tc.host, KeyUsages: []x509.ExtKeyUsage{tc.usage}}); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
	if err := EnsureFiles(dir); err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(dir, CACert))
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(ca) {
		t.Error("a second Ensure replaced the CA: everything issued before would be distrusted")
	}
}

func TestServiceAccountTokenIsSignedWithTheServiceAccountKey(t *testing.T) {
	dir := t.TempDir()
	if err := EnsureFiles(dir); err != nil {
		t.Fatal(err)
	}
	token, err := ServiceAccountToken(dir, "capz-system", "capz-manager", "api://AzureADTokenExchange")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatalf("token has %d parts, want 3", len(parts))
	}
	claims, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	if want := `"sub":"system:serviceaccount:capz-system:capz-manager"`; !strings.Contains(string(claims), want) {
		t.Errorf("claims %s: want %s", claims, want)
	}
	der, err := readPEM(filepath.Join(dir, ServiceAccountPub))
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(public.(*ecdsa.PublicKey), sum[:], r, s) {
		t.Error("the signature does not verify with the published key")
	}
}
