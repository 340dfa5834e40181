package harness

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// WriteKubeconfig writes the way to the API server into a file of the folder, for a manager that is a process of its own.
func (e *Environment) WriteKubeconfig(tb testing.TB, folder string) (path string) {
	tb.Helper()
	return e.writeKubeconfigFor(tb, folder, "")
}

// writeKubeconfigFor is Kubeconfig with the token, or for the administrator without one.
func (e *Environment) writeKubeconfigFor(tb testing.TB, folder, token string) (path string) {
	tb.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["envtest"] = &clientcmdapi.Cluster{Server: "https://" + strings.TrimPrefix(e.Config.Host, "https://"),
		CertificateAuthorityData: e.Config.CAData}
	config.AuthInfos["envtest"] = &clientcmdapi.AuthInfo{Token: token}
	if token == "" {
		config.AuthInfos["envtest"] = &clientcmdapi.AuthInfo{ClientCertificateData: e.Config.CertData, ClientKeyData: e.Config.KeyData}
	}
	config.Contexts["envtest"] = &clientcmdapi.Context{Cluster: "envtest", AuthInfo: "envtest"}
	config.CurrentContext = "envtest"
	path = filepath.Join(folder, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		tb.Fatal(err)
	}
	return path
}

// CertificateFolder has tls.crt and tls.key of the webhook server.
func (e *Environment) CertificateFolder() string {
	return e.envtest.WebhookInstallOptions.LocalServingCertDir
}

// ServiceAccountKey returns the file with the private key that signs tokens of ServiceAccounts.
func (e *Environment) ServiceAccountKey() string {
	return filepath.Join(e.envtest.ControlPlane.GetAPIServer().CertDir, "sa-signer.key")
}

// ClientWith returns a client that authenticates with a token.
func (e *Environment) ClientWith(tb testing.TB, token string) client.Client {
	tb.Helper()
	config := rest.AnonymousClientConfig(e.Config)
	config.BearerToken = token
	out, err := client.New(config, client.Options{Scheme: newScheme()})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}
