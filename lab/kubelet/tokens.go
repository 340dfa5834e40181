package kubelet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// written is a token that is in its file.
type written struct {
	// account is the ServiceAccount it is for: another one of the same name makes it worthless.
	account types.UID
	renew   time.Time
}

// projectFiles writes the files that the process reads: a kubeconfig, the token it names, and those of the pod's volumes.
// Tokens are renewed after four fifths of their life, as kubelets do.
func (w *worker) projectFiles(ctx context.Context, p place) error {
	account := &corev1.ServiceAccount{}
	if err := w.kube.Get(ctx, client.ObjectKey{Namespace: p.deployment.Namespace, Name: p.podSpec().ServiceAccountName}, account); err != nil {
		return fmt.Errorf("ServiceAccount %s: %w", p.podSpec().ServiceAccountName, err)
	}
	fresh := false
	for _, wanted := range append(p.projectedTokens(), token{file: p.filePath(tokenFile), seconds: apiTokenSeconds}) {
		if have, ok := w.tokens[wanted.file]; ok && have.account == account.UID && time.Now().Before(have.renew) {
			continue
		}
		request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &wanted.seconds}}
		if wanted.audience != "" {
			request.Spec.Audiences = []string{wanted.audience}
		}
		if err := w.kube.SubResource("token").Create(ctx, account, request); err != nil {
			return fmt.Errorf("token of ServiceAccount %s: %w", account.Name, err)
		}
		if err := writeSecret(wanted.file, []byte(request.Status.Token)); err != nil {
			return err
		}
		w.tokens[wanted.file] = written{account: account.UID, renew: renewalTime(time.Now(), request.Status.ExpirationTimestamp.Time)}
		fresh = true
	}
	if !fresh {
		return nil
	}
	return p.writeKubeconfig()
}

// renewalTime returns when to renew a token that was made now. It is a time of the wall clock, as that of the API server: the monotonic
// clock stands still while the machine sleeps.
func renewalTime(now, expiration time.Time) time.Time {
	return now.Add(expiration.Sub(now) * 4 / 5).Round(0)
}

func (p place) writeKubeconfig() error {
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: p.APIServerURL(), CertificateAuthority: p.JoinPath("pki", pki.CACert)}
	config.AuthInfos["lab"] = &clientcmdapi.AuthInfo{TokenFile: p.filePath(tokenFile)}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "lab", Namespace: metav1.NamespaceDefault}
	config.CurrentContext = "lab"
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return writeSecret(p.filePath(kubeconfigFile), raw)
}

// writeSecret writes a file that managers read at any time.
func writeSecret(file string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return files.Replace(file, content, 0o600)
}
