package bridge

import (
	"crypto/subtle"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// identity is who sends a request.
type identity struct {
	name      string
	anonymous bool
	bootstrap bool
}

var (
	// anonymousPaths are open to everyone in a kubeadm cluster.
	anonymousPaths = []string{"/healthz", "/livez", "/readyz", "/version", clusterInfoPath}
	// bootstrapPaths are what kubeadm's roles grant a bootstrap token besides.
	bootstrapPaths = regexp.MustCompile(`^/api/v1/(namespaces/kube-system/configmaps/(kubeadm-config|kubelet-config|kube-proxy)|nodes/[^/]+)$`)
)

const clusterInfoPath = "/api/v1/namespaces/kube-public/configmaps/cluster-info"

// isAllowed reports whether the identity may send the request. Client certificates of the cluster CA may do everything:
// the in-memory server knows no roles.
func (i identity) isAllowed(r *http.Request) bool {
	if !i.anonymous && !i.bootstrap {
		return true
	}
	if r.Method != http.MethodGet {
		return false
	}
	return slices.Contains(anonymousPaths, r.URL.Path) || (i.bootstrap && bootstrapPaths.MatchString(r.URL.Path))
}

// authenticateRequest recognises client certificates of the cluster CA, bootstrap tokens and, in a managed
// cluster with Microsoft Entra ID, its tokens. Credentials
// that are presented and do not hold are an error; none at all is anonymous.
func (w *workload) authenticateRequest(r *http.Request) (identity, error) {
	w.mu.Lock()
	pki := w.pki
	w.mu.Unlock()
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		if pki == nil {
			return identity{}, errors.New("the cluster has no CA yet")
		}
		cert := verifyClient(r, pki.cluster)
		if cert == nil {
			return identity{}, fmt.Errorf("client certificate %q is not signed by the cluster CA for client authentication",
				r.TLS.PeerCertificates[0].Subject.CommonName)
		}
		return identity{name: cert.Subject.CommonName}, nil
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return identity{name: "system:anonymous", anonymous: true}, nil
	}
	token, ok := strings.CutPrefix(header, "Bearer ")
	if !ok {
		return identity{}, errors.New("only client certificates and bearer tokens are known")
	}
	if w.entra != nil && !bootstraputil.BootstrapTokenRegexp.MatchString(token) {
		return w.authenticateEntra(r.Context(), token)
	}
	if err := w.checkToken(r, token); err != nil {
		return identity{}, err
	}
	id, _, _ := strings.Cut(token, ".")
	return identity{name: bootstrapapi.BootstrapUserPrefix + id, bootstrap: true}, nil
}

func verifyClient(r *http.Request, ca *authority) *x509.Certificate {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil
	}
	cert := r.TLS.PeerCertificates[0]
	intermediates := x509.NewCertPool()
	for _, c := range r.TLS.PeerCertificates[1:] {
		intermediates.AddCert(c)
	}
	_, err := cert.Verify(x509.VerifyOptions{Roots: ca.pool, Intermediates: intermediates, KeyUsages: []x509.ExtKeyUsage{clientAuth}})
	if err != nil {
		return nil
	}
	return cert
}

// checkToken compares a bootstrap token with its Secret in kube-system, as kube-apiserver's
// bootstrap token authenticator does. Errors name the token's ID, never its secret half.
func (w *workload) checkToken(r *http.Request, token string) error {
	m := bootstraputil.BootstrapTokenRegexp.FindStringSubmatch(token)
	if len(m) != 3 {
		return errors.New("bearer token is not a bootstrap token")
	}
	id := m[1]
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: bootstraputil.BootstrapTokenSecretName(id)}
	if err := w.client.Get(r.Context(), key, secret); err != nil {
		return fmt.Errorf("bootstrap token %s has no Secret kube-system/%s in the workload cluster", id, key.Name)
	}
	data := func(k string) string { return string(secret.Data[k]) }
	if expiry := data(bootstrapapi.BootstrapTokenExpirationKey); expiry != "" {
		t, err := time.Parse(time.RFC3339, expiry)
		if err != nil || time.Now().After(t) {
			return fmt.Errorf("bootstrap token %s expired at %s", id, expiry)
		}
	}
	switch {
	case secret.Type != bootstrapapi.SecretTypeBootstrapToken:
		return fmt.Errorf("bootstrap token Secret %s is of type %q, not %q", key.Name, secret.Type, bootstrapapi.SecretTypeBootstrapToken)
	case subtle.ConstantTimeCompare([]byte(data(bootstrapapi.BootstrapTokenSecretKey)), []byte(m[2])) != 1:
		return fmt.Errorf("bootstrap token %s has another secret in the workload cluster", id)
	case data(bootstrapapi.BootstrapTokenUsageAuthentication) != "true":
		return fmt.Errorf("bootstrap token %s is not for authentication (%s)", id, bootstrapapi.BootstrapTokenUsageAuthentication)
	}
	return nil
}
