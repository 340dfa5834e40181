// Package pki makes the keys and certificates of a lab: one CA for everything that serves or logs in on loopback, and
// the key that signs service-account tokens. What exists is kept, so that a lab can be started again.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// validity is that of all certificates: a lab is thrown away long before.
const validity = 10 * 365 * 24 * time.Hour

// Files in the directory.
const (
	CACert        = "ca.crt"
	caKey         = "ca.key"
	APIServerCert = "apiserver.crt"
	APIServerKey  = "apiserver.key"
	AdminCert     = "admin.crt"
	AdminKey      = "admin.key"
	// WebhookDir has tls.crt and tls.key, the names that controller managers look for.
	WebhookDir        = "webhook"
	ServiceAccountKey = "service-account.key"
	ServiceAccountPub = "service-account.pub"
)

// EnsureFiles creates the missing files in dir.
func EnsureFiles(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, WebhookDir), 0o755); err != nil {
		return err
	}
	ca, err := ensureCA(dir)
	if err != nil {
		return err
	}
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	leaves := []struct {
		cert, key string
		template  x509.Certificate
	}{
		{APIServerCert, APIServerKey, x509.Certificate{
			Subject: pkix.Name{CommonName: "kube-apiserver"}, IPAddresses: append(loopback, net.IPv4(10, 96, 0, 1)),
			DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
		{AdminCert, AdminKey, x509.Certificate{
			Subject:     pkix.Name{CommonName: "lab-admin", Organization: []string{"system:masters"}},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}},
		{filepath.Join(WebhookDir, "tls.crt"), filepath.Join(WebhookDir, "tls.key"), x509.Certificate{
			Subject: pkix.Name{CommonName: "webhooks"}, IPAddresses: loopback, DNSNames: []string{"localhost"},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}},
	}
	for _, leaf := range leaves {
		if fileExists(filepath.Join(dir, leaf.cert)) {
			continue
		}
		leaf.template.KeyUsage = x509.KeyUsageDigitalSignature
		if err := ca.issueCertificate(leaf.template, filepath.Join(dir, leaf.cert), filepath.Join(dir, leaf.key)); err != nil {
			return err
		}
	}
	return ensureServiceAccountKey(dir)
}

type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func ensureCA(dir string) (*authority, error) {
	certFile, keyFile := filepath.Join(dir, CACert), filepath.Join(dir, caKey)
	if fileExists(certFile) {
		cert, err := readPEM(certFile)
		if err != nil {
			return nil, err
		}
		parsed, err := x509.ParseCertificate(cert)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", certFile, err)
		}
		key, err := readKey(keyFile)
		return &authority{cert: parsed, key: key}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := x509.Certificate{
		Subject: pkix.Name{CommonName: "lab"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign | x509.KeyUsageDigitalSignature,
	}
	ca := &authority{cert: &template, key: key}
	if err := ca.writeCertificate(template, key, certFile, keyFile); err != nil {
		return nil, err
	}
	return ensureCA(dir)
}

// issueCertificate writes a certificate with a key of its own.
func (a *authority) issueCertificate(template x509.Certificate, certFile, keyFile string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	return a.writeCertificate(template, key, certFile, keyFile)
}

func (a *authority) writeCertificate(template x509.Certificate, key *ecdsa.PrivateKey, certFile, keyFile string) error {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(validity)
	der, err := x509.CreateCertificate(rand.Reader, &template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	if err := writeKey(keyFile, key); err != nil {
		return err
	}
	return files.Replace(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644)
}

func ensureServiceAccountKey(dir string) error {
	keyFile, pubFile := filepath.Join(dir, ServiceAccountKey), filepath.Join(dir, ServiceAccountPub)
	if fileExists(pubFile) {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	if err := writeKey(keyFile, key); err != nil {
		return err
	}
	return files.Replace(pubFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), 0o644)
}

func writeKey(path string, key crypto.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return files.Replace(path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(path)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("%s: has a %T, want an ECDSA key", path, parsed)
	}
	return key, nil
}

func readPEM(path string) ([]byte, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, fmt.Errorf("%s: is not PEM; remove the directory to have it made anew", path)
	}
	return block.Bytes, nil
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
