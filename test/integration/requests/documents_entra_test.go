package requests_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestDocumentsWithoutLocalAccounts has documents ask for a cluster without local accounts, and for the kubeconfig of users in a Secret
// of their own. Cluster API reads that kubeconfig with a token, and only the end of the token causes its replacement.
func TestDocumentsWithoutLocalAccounts(t *testing.T) {
	playUnmanaged(t, func(w *world) {
		w.Resync = 1000 * time.Hour
		w.StartProvider()
		c := w.BuildASOCluster("c1", "pool0")
		c.ControlPlane.Spec.Resources[0] = withProperties(w.T, c.ControlPlane.Spec.Resources[0], `{
			"aadProfile": {"managed": true, "adminGroupObjectIDs": ["00000000-0000-0000-0000-0000000000aa"]}, "disableLocalAccounts": true,
			"operatorSpec": {"secrets": {"userCredentials": {"name": "people", "key": "config"}}}}`)
		w.CreateASOCluster(c)
		if user := w.readUser("people", "config"); user.Exec == nil || user.Exec.Command != "kubelogin" || user.Token != "" {
			w.T.Error("people do not sign in by kubelogin")
		}
		first := w.readUser("c1-kubeconfig", "value")
		if first.Exec != nil || len(first.ClientCertificateData) > 0 {
			w.T.Error("Cluster API has something else than a token")
		}
		ends := readTokenEnd(w.T, first.Token)
		if left := time.Until(ends); left < time.Hour {
			w.T.Fatalf("the token holds for %s", left)
		}
		// The events that made the last object Ready may still wake others.
		virtual.WaitForSignal(nil, time.Minute)
		mark := w.Azure.MarkRequests()
		virtual.WaitForSignal(nil, time.Until(ends)-10*time.Minute)
		if asked := w.Azure.RequestsSince(mark); len(asked) > 0 {
			w.T.Errorf("nobody asks for a token while there is a good one, but: %q", asked)
		}
		virtual.WaitForSignal(nil, 9*time.Minute)
		if next := readTokenEnd(w.T, w.readUser("c1-kubeconfig", "value").Token); !next.After(ends) {
			w.T.Errorf("a minute before its end at %s, the token is one that ends at %s", ends, next)
		}
		for _, write := range w.Azure.WritesSince(0) {
			if strings.Contains(write, "listClusterAdminCredential") {
				w.T.Errorf("%s: Azure refuses that for a cluster without local accounts", write)
			}
		}
	})
}

// readUser returns the only user of the kubeconfig in a Secret.
func (w *world) readUser(secret, key string) *clientcmdapi.AuthInfo {
	w.T.Helper()
	found := &corev1.Secret{}
	w.ReadObject(found, secret)
	config, err := clientcmd.Load(found.Data[key])
	if err != nil || len(config.AuthInfos) != 1 {
		w.T.Fatalf("Secret %s has no kubeconfig of one user: %v", secret, err)
	}
	for _, user := range config.AuthInfos {
		return user
	}
	return nil
}

// readTokenEnd is when a token ends.
func readTokenEnd(t testing.TB, token string) time.Time {
	t.Helper()
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		t.Fatal("the user has no token")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims struct {
		Expires int64 `json:"exp"`
	}
	if err := json.Unmarshal(raw, &claims); err != nil {
		t.Fatal(err)
	}
	return time.Unix(claims.Expires, 0)
}
