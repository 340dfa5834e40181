package management

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io/fs"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// subject is the service account that our manager runs as in a cluster, which federated credentials name.
const (
	managerNamespace      = "capz-system"
	managerServiceAccount = "capz-manager"
	federatedAudience     = "api://AzureADTokenExchange"
)

// prepareFiles writes the files that processes need before any of them runs.
func (l *lab) prepareFiles() error {
	s := l.s
	if err := pki.EnsureFiles(s.JoinPath("pki")); err != nil {
		return err
	}
	if err := os.MkdirAll(s.SimulatorState(), 0o755); err != nil {
		return err
	}
	for file, secret := range map[string]string{s.ControlTokenFile(): s.ControlToken, s.ClientSecretFile(): s.ClientSecret} {
		if err := files.Replace(file, []byte(secret), 0o600); err != nil {
			return err
		}
	}
	token, err := pki.ServiceAccountToken(s.JoinPath("pki"), managerNamespace, managerServiceAccount, federatedAudience)
	if err != nil {
		return err
	}
	if err := files.Replace(s.FederatedTokenFile(), []byte(token), 0o600); err != nil {
		return err
	}
	if err := files.Replace(s.AuditPolicy(), []byte(auditPolicy), 0o644); err != nil {
		return err
	}
	return writeKubeconfig(s)
}

// auditPolicy selects the requests that the API server writes to the audit log. Requests of managers show the rights that managers use and lack.
// Writes of Clusters and of the provider's objects show what a manager changed. Only these writes and events are logged with their objects. Secrets
// are logged without their contents.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
  resources:
  - {group: infrastructure.cluster.x-k8s.io}
  - {group: cluster.x-k8s.io, resources: [clusters, clusters/status]}
- level: RequestResponse
  userGroups: ["system:serviceaccounts"]
  verbs: [create, update, patch]
  resources:
  - {group: "", resources: [events]}
  - {group: events.k8s.io, resources: [events]}
- {level: Metadata, userGroups: ["system:serviceaccounts"]}
- {level: None}
`

func writeKubeconfig(s *settings.Settings) error {
	read := func(name string) []byte {
		raw, err := os.ReadFile(s.JoinPath("pki", name))
		if err != nil {
			return nil // clientcmd refuses a kubeconfig without credentials with a clear message
		}
		return raw
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: s.APIServerURL(), CertificateAuthorityData: read(pki.CACert)}
	config.AuthInfos["lab"] = &clientcmdapi.AuthInfo{ClientCertificateData: read(pki.AdminCert), ClientKeyData: read(pki.AdminKey)}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab", Namespace: "default"}
	config.CurrentContext = "lab"
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return files.Replace(s.KubeconfigPath(), raw, 0o600)
}

// systemBundles are where distributions keep the CAs they trust.
var systemBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
}

// writeCABundle adds the simulator's CA to the system's, because SSL_CERT_FILE replaces them.
func (l *lab) writeCABundle() error {
	var bundle bytes.Buffer
	for _, path := range systemBundles {
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		bundle.Write(bytes.TrimSpace(raw))
		bundle.WriteByte('\n')
		break
	}
	ca, err := os.ReadFile(l.s.SimulatorCA())
	if err != nil {
		return err
	}
	bundle.Write(ca)
	return files.Replace(l.s.CABundle(), bundle.Bytes(), 0o644)
}

// NewSecret returns a random password.
func NewSecret() string {
	raw := make([]byte, 24)
	// crypto/rand.Read never fails: it ends the program when the system has no randomness.
	_, _ = rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}
