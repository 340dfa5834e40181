package harness

import (
	"os"
	"os/exec"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// RunShell runs a command line with a kubectl that is configured for the stage's namespace, and returns its output.
func (s *Stage) RunShell(line string) string {
	s.T.Helper()
	name := filepath.Join(s.T.TempDir(), "kubeconfig")
	s.WriteKubeconfig(name)
	command := exec.CommandContext(s.T.Context(), "bash", "-c", line)
	command.Env = append(os.Environ(), "KUBECONFIG="+name, "PATH="+os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
	out, err := command.CombinedOutput()
	if err != nil {
		s.T.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

// WriteKubeconfig writes a kubeconfig of the API server's administrator with the stage's namespace.
func (s *Stage) WriteKubeconfig(name string) {
	s.T.Helper()
	config := s.Environment.Config
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{"c": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"u": {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*clientcmdapi.Context{"x": {Cluster: "c", AuthInfo: "u", Namespace: s.Namespace}},
		CurrentContext: "x",
	}, name)
	if err != nil {
		s.T.Fatal(err)
	}
}
