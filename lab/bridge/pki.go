package bridge

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"
	"path"
	"slices"
	"time"

	"sigs.k8s.io/cluster-api/util/certs"
)

// authority is a CA found in a machine's bootstrap data. It signs serving certificates as kubeadm
// and etcd would on the machine.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	pool *x509.CertPool
}

// pinOfCA is kubeadm's pin of the CA: sha256 of the subject public key info.
func (a *authority) pinOfCA() string { return pinOf(a.cert) }

func pinOf(c *x509.Certificate) string {
	sum := sha256.Sum256(c.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// pkiFiles are the certificate authorities and keys kubeadm needs on each control-plane machine.
type pkiFiles struct {
	cluster *authority
	etcd    *authority
}

// readPKI checks the files Cluster API hands to a control-plane machine: present, parseable, and
// each key fitting its certificate. With an external etcd its CA belongs to others and is left out.
func readPKI(script *bootScript, dir string, externalEtcd bool) (*pkiFiles, error) {
	var out pkiFiles
	var err error
	if out.cluster, err = readAuthority(script, dir, "ca"); err != nil {
		return nil, err
	}
	if !externalEtcd {
		if out.etcd, err = readAuthority(script, dir, "etcd/ca"); err != nil {
			return nil, err
		}
	}
	if _, err := readAuthority(script, dir, "front-proxy-ca"); err != nil {
		return nil, err
	}
	return &out, readServiceAccountKeys(script, dir)
}

func readAuthority(script *bootScript, dir, name string) (*authority, error) {
	certFile, keyFile := path.Join(dir, name+".crt"), path.Join(dir, name+".key")
	certPEM, err := requireFile(script, certFile)
	if err != nil {
		return nil, err
	}
	keyPEM, err := requireFile(script, keyFile)
	if err != nil {
		return nil, err
	}
	return newAuthority(certFile, certPEM, keyFile, keyPEM)
}

// newAuthority checks a CA and its key. The names say in errors where each of them comes from.
func newAuthority(certFile string, certPEM []byte, keyFile string, keyPEM []byte) (*authority, error) {
	cert, err := certs.DecodeCertPEM(certPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: is not a PEM certificate: %w", certFile, err)
	}
	if !cert.IsCA {
		return nil, fmt.Errorf("%s: certificate %q is not a CA", certFile, cert.Subject.CommonName)
	}
	if now := time.Now(); now.After(cert.NotAfter) {
		return nil, fmt.Errorf("%s: certificate expired at %s", certFile, cert.NotAfter.Format(time.RFC3339))
	}
	key, err := certs.DecodePrivateKeyPEM(keyPEM)
	if err != nil {
		return nil, fmt.Errorf("%s: is not a PEM private key", keyFile)
	}
	if !samePublicKey(cert.PublicKey, key.Public()) {
		return nil, fmt.Errorf("%s: key does not belong to %s", keyFile, certFile)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &authority{cert: cert, key: key, pool: pool}, nil
}

// readServiceAccountKeys checks sa.key and sa.pub (Cluster API writes the public half as sa.pub).
func readServiceAccountKeys(script *bootScript, dir string) error {
	private := path.Join(dir, "sa.key")
	keyPEM, err := requireFile(script, private)
	if err != nil {
		return err
	}
	if _, err := certs.DecodePrivateKeyPEM(keyPEM); err != nil {
		return fmt.Errorf("%s: is not a PEM private key", private)
	}
	_, err = requireFile(script, path.Join(dir, "sa.pub"))
	return err
}

func requireFile(script *bootScript, name string) ([]byte, error) {
	f, ok := script.Files[name]
	if !ok {
		return nil, fmt.Errorf("%s: %s does not write it and kubeadm on a control plane needs it", name, script.WrittenBy)
	}
	content, err := f.readContent()
	if err == nil && len(content) == 0 {
		err = fmt.Errorf("%s: is empty", name)
	}
	return content, err
}

func samePublicKey(a, b crypto.PublicKey) bool {
	k, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && k.Equal(b)
}

// issueCertificate makes a serving certificate with the names, signed by the CA.
func (a *authority) issueCertificate(commonName string, names []string, usages ...x509.ExtKeyUsage) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: commonName},
		NotBefore:    now.Add(-5 * time.Minute),
		// kubeadm's leaf certificates last a year; KubeadmControlPlane reads the date to plan rollouts.
		NotAfter:    now.AddDate(1, 0, 0),
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: usages,
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else if n != "" && !slices.Contains(template.DNSNames, n) {
			template.DNSNames = append(template.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("sign certificate %s: %w", commonName, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
