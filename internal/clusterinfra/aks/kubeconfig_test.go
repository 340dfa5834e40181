package aks

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// user is a kubeconfig as AKS answers it for a cluster with Entra integration.
const user = `apiVersion: v1
kind: Config
current-context: c1
clusters:
- name: c1
  cluster: {server: "https://c1.hcp.eastus.azmk8s.io:443", certificate-authority-data: Q0E=}
- name: other
  cluster: {server: "https://other:443", certificate-authority-data: T1RIRVI=}
contexts:
- name: c1
  context: {cluster: c1, user: clusterUser_rg_c1}
users:
- name: clusterUser_rg_c1
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: kubelogin, args: [get-token], provideClusterInfo: false}
- name: second
  user: {client-certificate-data: Q0VSVA==, client-key-data: S0VZ}
`

func TestWithToken(t *testing.T) {
	out, err := replaceCredentials([]byte(user), "t0ken")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, info := range config.AuthInfos {
		if info.Token != "t0ken" || info.Exec != nil || len(info.ClientKeyData) > 0 {
			t.Errorf("user %s has something else than the token", name)
		}
	}
	if len(config.AuthInfos) != 2 || config.CurrentContext != "c1" || config.Clusters["c1"].Server != "https://c1.hcp.eastus.azmk8s.io:443" {
		t.Errorf("the other fields have changed: %s", out)
	}
}

func TestAuthority(t *testing.T) {
	got, err := readCertificateAuthority([]byte(user))
	if diff := cmp.Diff("CA", string(got)); err != nil || diff != "" {
		t.Errorf("the authority is that of the current context: %v %s", err, diff)
	}
	if _, err := readCertificateAuthority([]byte(strings.ReplaceAll(user, ", certificate-authority-data: Q0E=", ""))); err == nil {
		t.Error("a cluster without an authority has none to give")
	}
}

func TestDiscovery(t *testing.T) {
	out, err := BuildDiscoveryKubeconfig([]byte(user))
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.Load(out)
	if err != nil {
		t.Fatal(err)
	}
	if len(config.Clusters) != 1 || config.Clusters[""] == nil || config.Clusters[""].Server != "https://c1.hcp.eastus.azmk8s.io:443" ||
		string(config.Clusters[""].CertificateAuthorityData) != "CA" {
		t.Errorf("discovery is one cluster without a name: %s", out)
	}
	if len(config.AuthInfos) > 0 {
		t.Errorf("the ConfigMap, which every account can read, must contain no credential: %s", out)
	}
}

func TestErrorsKeepSecrets(t *testing.T) {
	tests := map[string]struct{ reason, raw string }{
		"not YAML": {"the parser's error would quote the text", "s3cret: [s3cret"},
		"empty":    {"it has no user", "apiVersion: v1\nkind: Config\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, tokenErr := replaceCredentials([]byte(test.raw), "s3cret")
			_, authorityErr := readCertificateAuthority([]byte(test.raw))
			_, discoveryErr := BuildDiscoveryKubeconfig([]byte(test.raw))
			for _, err := range []error{tokenErr, authorityErr, discoveryErr} {
				if err == nil || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: got %v", test.reason, err)
				}
			}
		})
	}
}

// TestSelfContained reads answers of a hostile endpoint that name files and programs of the manager.
func TestSelfContained(t *testing.T) {
	ok := clientcmdapi.AuthInfo{Token: "t", ClientCertificateData: []byte("c"), ClientKeyData: []byte("k")}
	for name, test := range map[string]struct {
		change  func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)
		refused bool
	}{
		"data only":   {func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo) {}, false},
		"token file":  {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.TokenFile = "/var/run/secrets/token" }, true},
		"certificate": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientCertificate = "/tls.crt" }, true},
		"key":         {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) { u.ClientKey = "/tls.key" }, true},
		"program": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.Exec = &clientcmdapi.ExecConfig{Command: "sh", APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: clientcmdapi.NeverExecInteractiveMode}
		}, true},
		"plugin": {func(_ *clientcmdapi.Cluster, u *clientcmdapi.AuthInfo) {
			u.AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "azure"}
		}, true},
		"authority": {func(c *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { c.CertificateAuthority = "/ca.crt" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			config, user := clientcmdapi.NewConfig(), ok
			cluster := &clientcmdapi.Cluster{Server: "https://c.example"}
			test.change(cluster, &user)
			config.Clusters["c"], config.AuthInfos["u"] = cluster, &user
			raw, err := clientcmd.Write(*config)
			if err != nil {
				t.Fatal(err)
			}
			if err := checkSelfContained(raw); (err != nil) != test.refused {
				t.Errorf("the kubeconfig is refused: %v, want %t", err, test.refused)
			}
		})
	}
}
