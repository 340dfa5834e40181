package pki

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"math/big"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
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

// TestEnsureAfterFullDisk simulates a disk that takes only the beginning of each file; it expects that a later start creates the missing
// files.
func TestEnsureAfterFullDisk(t *testing.T) {
	for name, limit := range map[string]uint64{"nothing": 0, "part of a key": 100, "keys and part of a certificate": 300} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			restore := limitFileSize(t, limit)
			err := EnsureFiles(dir)
			restore()
			if !errors.Is(err, syscall.EFBIG) {
				t.Fatalf("on a full disk: %v", err)
			}
			if err := EnsureFiles(dir); err != nil {
				t.Fatal(err)
			}
			for cert, key := range map[string]string{APIServerCert: APIServerKey, AdminCert: AdminKey, WebhookDir + "/tls.crt": WebhookDir + "/tls.key"} {
				if _, err := tls.LoadX509KeyPair(filepath.Join(dir, cert), filepath.Join(dir, key)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// limitFileSize bounds the files that this process can write, until restore is called.
func limitFileSize(t *testing.T, limit uint64) (restore func()) {
	t.Helper()
	var former syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &former); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // The write then ends with an error.
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	set(syscall.Rlimit{Cur: limit, Max: former.Max})
	return func() { set(former); signal.Reset(syscall.SIGXFSZ) }
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
