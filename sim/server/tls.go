package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// names are the hosts the simulator's certificate is for.
var names = []string{"localhost", "management.azure.com", "*.management.azure.com", "management.core.windows.net",
	"login.microsoftonline.com", "login.microsoft.com", "login.windows.net",
	"sts.windows.net", "graph.microsoft.com", "graph.windows.net", "*.vault.azure.net", "*.azmk8s.io", "*.hcp.eastus.azmk8s.io"}

// authority is the simulator's own certificate authority and its leaf.
type authority struct {
	ca   []byte // PEM
	leaf tls.Certificate
}

// newAuthority reads the authority from dir, or makes one. The certificate is written to dir/ca.crt.
func newAuthority(dir string) (*authority, error) {
	var caCert *x509.Certificate
	var caKey *ecdsa.PrivateKey
	if dir != "" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("state directory: %w", err)
		}
		cert, key, err := readPair(filepath.Join(dir, "ca.crt"), filepath.Join(dir, "ca.key"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		caCert, caKey = cert, key
	}
	if caCert == nil {
		var err error
		if caKey, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, err
		}
		tmpl := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "Simulated Azure CA"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
			IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign}
		raw, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &caKey.PublicKey, caKey)
		if err != nil {
			return nil, err
		}
		if caCert, err = x509.ParseCertificate(raw); err != nil {
			return nil, err
		}
		if dir != "" {
			keyRaw, err := x509.MarshalECPrivateKey(caKey)
			if err != nil {
				return nil, err
			}
			if err := files.Replace(filepath.Join(dir, "ca.key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyRaw}),
				0o600); err != nil {
				return nil, err
			}
			if err := files.Replace(filepath.Join(dir, "ca.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
				0o644); err != nil {
				return nil, err
			}
		}
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "management.azure.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(2, 0, 0),
		DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	raw, err := x509.CreateCertificate(rand.Reader, tmpl, caCert, &leafKey.PublicKey, caKey)
	if err != nil {
		return nil, err
	}
	return &authority{
		ca:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caCert.Raw}),
		leaf: tls.Certificate{Certificate: [][]byte{raw, caCert.Raw}, PrivateKey: leafKey},
	}, nil
}

func readPair(certPath, keyPath string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certRaw, err := os.ReadFile(certPath)
	if err != nil {
		return nil, nil, err
	}
	keyRaw, err := os.ReadFile(keyPath)
	if err != nil {
		return nil, nil, err
	}
	certBlock, _ := pem.Decode(certRaw)
	keyBlock, _ := pem.Decode(keyRaw)
	if certBlock == nil || keyBlock == nil {
		return nil, nil, fmt.Errorf("%s or %s is damaged; remove both to have new ones made", certPath, keyPath)
	}
	cert, err := x509.ParseCertificate(certBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", certPath, err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", keyPath, err)
	}
	return cert, key, nil
}

// TLSConfig serves the simulator's certificate; HTTP/2 is offered as Azure does.
func (s *Server) TLSConfig() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{s.tls.leaf}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
}

// CA returns the PEM certificate clients have to trust.
func (s *Server) CA() []byte { return s.tls.ca }
