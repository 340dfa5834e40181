package containerservice

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// ServerApplication is the Entra application of every AKS API server: the audience of its tokens.
// Source: https://learn.microsoft.com/azure/aks/kubelogin-authentication
const ServerApplication = "6dae42f8-4368-4678-94ff-3960e28e3630"

// Certificates live on the wall clock, as tokens do: clients judge them by their own clock.
const (
	caLifetime     = 30 * 365 * 24 * time.Hour
	clientLifetime = 2 * 365 * 24 * time.Hour
)

// createAuthority gives a new cluster its certificate authority.
func createAuthority(_ *provider.Call, d *provider.Draft) error { return makeCA(d.Secret) }

func makeCA(secret body.Object) error {
	if secret["ca"] != nil {
		return nil
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: newSerial(), Subject: pkix.Name{CommonName: "ca"}, NotBefore: now.Add(-10 * time.Minute),
		NotAfter: now.Add(caLifetime),
		IsCA:     true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	secret["ca"] = body.Object{"certificate": string(encodePEM("CERTIFICATE", der)), "key": string(encodePEM("EC PRIVATE KEY", raw))}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		return err
	}
	return makeClient(secret, parsed, key)
}

func newSerial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return big.NewInt(time.Now().UnixNano())
	}
	return n
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// makeClient signs the certificate of the group system:masters that AKS's static credentials have. It is the same in every
// answer until the certificates are rotated.
func makeClient(secret body.Object, ca *x509.Certificate, caKey *ecdsa.PrivateKey) error {
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: newSerial(),
		Subject: pkix.Name{CommonName: "masterclient", Organization: []string{"system:masters"}}, NotBefore: now.Add(-10 * time.Minute),
		NotAfter: now.Add(clientLifetime),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, own.Public(), caKey)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalECPrivateKey(own)
	if err != nil {
		return err
	}
	secret["client"] = body.Object{"certificate": string(encodePEM("CERTIFICATE", der)), "key": string(encodePEM("EC PRIVATE KEY", raw))}
	return nil
}

func adminCredential(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.Bool(r.Body, "properties.disableLocalAccounts") {
		return nil, badRequest("Getting static credential is not allowed because this cluster is set to disable local accounts.")
	}
	return certificateKubeconfig(c, r, "clusterAdmin")
}

func userCredential(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.Child(r.Body, "properties.aadProfile") == nil {
		return certificateKubeconfig(c, r, "clusterUser")
	}
	if err := checkReachable(r); err != nil {
		return nil, err
	}
	user := `  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      command: kubelogin
      args:
      - get-token
      - --environment
      - AzurePublicCloud
      - --server-id
      - ` + ServerApplication + `
      - --client-id
      - 80faf920-1908-4b52-b5ef-a8e7bedfc67a
      - --tenant-id
      - ` + body.String(r.Body, "properties.aadProfile.tenantID") + `
      - --login
      - devicecode
      provideClusterInfo: false
      installHint: see https://azure.github.io/kubelogin/install.html
      env: null
`
	return answerKubeconfigs(c, r, "clusterUser", user), nil
}

func monitoringCredential(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.Bool(r.Body, "properties.disableLocalAccounts") {
		return nil, badRequest("Getting static credential is not allowed because this cluster is set to disable local accounts.")
	}
	return certificateKubeconfig(c, r, "clusterMonitoringUser")
}

// checkReachable answers while there is no API server yet.
func checkReachable(r *store.Resource) error {
	if body.Bool(r.Secret, "up") {
		return nil
	}
	return newRefusal(409, "OperationNotAllowed", "Credentials of managed cluster %s are not available while it is being created.", r.Name())
}

// certificateKubeconfig answers a kubeconfig with a client certificate.
func certificateKubeconfig(c *provider.Call, r *store.Resource, role string) (*provider.Reply, error) {
	if err := checkReachable(r); err != nil {
		return nil, err
	}
	encoded := func(part string) string {
		return base64.StdEncoding.EncodeToString([]byte(body.String(r.Secret, "client."+part)))
	}
	user := "  user:\n    client-certificate-data: " + encoded("certificate") + "\n    client-key-data: " + encoded("key") + "\n"
	return answerKubeconfigs(c, r, role, user), nil
}

// serverName returns the name a kubeconfig leads to: the private one of a private cluster unless the public one is asked for.
func serverName(c *provider.Call, r *store.Resource) string {
	public, private := body.String(r.Body, "properties.fqdn"), body.String(r.Body, "properties.privateFQDN")
	if want := c.Query.Get("server-fqdn"); want != "" {
		return want
	}
	if private != "" && body.Bool(r.Body, "properties.apiServerAccessProfile.enablePrivateCluster") || public == "" {
		return private
	}
	return public
}

func answerKubeconfigs(c *provider.Call, r *store.Resource, role, user string) *provider.Reply {
	id, _ := store.ParseID(r.ID)
	name, login := r.Name(), role+"_"+id.ResourceGroup+"_"+r.Name()
	text := strings.Join([]string{
		"apiVersion: v1", "clusters:", "- cluster:",
		"    certificate-authority-data: " + base64.StdEncoding.EncodeToString([]byte(body.String(r.Secret, "ca.certificate"))),
		"    server: https://" + serverName(c, r) + ":443", "  name: " + name,
		"contexts:", "- context:", "    cluster: " + name, "    user: " + login, "  name: " + name,
		"current-context: " + name, "kind: Config", "preferences: {}", "users:", "- name: " + login, "",
	}, "\n") + user
	return provider.OK(body.Object{"kubeconfigs": []any{body.Object{"name": role, "value": base64.StdEncoding.EncodeToString([]byte(text))}}})
}
