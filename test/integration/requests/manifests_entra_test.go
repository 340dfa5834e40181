package requests_test

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestManifestsWithoutLocalAccounts applies resource manifests of a cluster without local accounts, which export the kubeconfig of users to
// a Secret of their own. It expects that Cluster API reads that kubeconfig with a token, and that only the end of the token causes its
// replacement.
func TestManifestsWithoutLocalAccounts(t *testing.T) {
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
			w.T.Errorf("no token is requested while one is valid, but: %q", asked)
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

// TestUserCredentials lets clusters without Entra integration request both kubeconfigs in operatorSpec, in resource manifests and in a
// patch; it expects both of AKS's answers.
func TestUserCredentials(t *testing.T) {
	const secrets = `{"operatorSpec": {"secrets": {"adminCredentials": {"name": "keys", "key": "admin"}, "userCredentials": {"name": "keys", "key": "user"}}}}`
	for name, create := range map[string]func(w *world){
		"manifests": func(w *world) {
			c := w.BuildASOCluster("c1", "pool0")
			c.ControlPlane.Spec.Resources[0] = withProperties(w.T, c.ControlPlane.Spec.Resources[0], secrets)
			w.CreateASOCluster(c)
		},
		"typed": func(w *world) {
			controlPlane := w.ControlPlane("c1")
			controlPlane.Spec.ASOManagedClusterPatches = []string{`{"spec": ` + secrets + `}`}
			defaults.FillAzureManagedControlPlane(controlPlane)
			w.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1,
				Change: defaults.FillAzureManagedMachinePool})
			w.WaitReady(controlPlane, "c1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			playUnmanaged(t, func(w *world) {
				w.StartProvider()
				create(w)
				mark := w.Azure.MarkRequests()
				virtual.WaitForSignal(nil, 3*time.Hour)
				found := &corev1.Secret{}
				w.ReadObject(found, "keys")
				for key, user := range map[string]string{"admin": "clusterAdmin_", "user": "clusterUser_"} {
					config, err := clientcmd.Load(found.Data[key])
					if err != nil || len(config.AuthInfos) != 1 || !strings.HasPrefix(slices.Collect(maps.Keys(config.AuthInfos))[0], user) {
						w.T.Errorf("the kubeconfig for %s is none of the user %s…: %v", key, user, err)
					}
				}
				asked := 0
				for _, write := range w.Azure.WritesSince(mark) {
					if strings.Contains(write, "listClusterUserCredential") {
						asked++
					}
				}
				if asked > 3 {
					w.T.Errorf("AKS is asked %d times in three hours for a kubeconfig that is stored", asked)
				}
			})
		})
	}
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
