package contract_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// contracted are the Secrets whose type the contract names.
var contracted = []string{"aks1-kubeconfig", "aks1-ca"}

// TestSecretTypes starts managers over Secrets of type Opaque, and kills each at another of its acts, before or after it. The next
// manager gives both Secrets the type of the contract and keeps their data.
func TestSecretTypes(t *testing.T) {
	playEachShape(t, func(t *testing.T, w *virtual.Scenario, s shape, manager *virtual.Manager) {
		data := map[string]map[string][]byte{}
		w.ReadObject(s.control, "aks1")
		for _, name := range contracted {
			secret := &corev1.Secret{}
			w.ReadObject(secret, name)
			if secret.Type != clusterv1.ClusterSecretType {
				t.Errorf("Secret %s has type %s", name, secret.Type)
			}
			if secret.Labels[clusterv1.ClusterNameLabel] != "aks1" || !metav1.IsControlledBy(secret, s.control) {
				t.Errorf("Secret %s has the labels %v and the owners %v", name, secret.Labels, secret.OwnerReferences)
			}
			data[name] = secret.Data
		}
		if _, err := clientcmd.RESTConfigFromKubeConfig(data["aks1-kubeconfig"]["value"]); err != nil {
			t.Errorf("the field value has no kubeconfig: %v", err)
		}
		if authority := data["aks1-ca"][corev1.TLSCertKey]; len(authority) == 0 {
			t.Error("the Secret of the certificate authority has none")
		}
		manager.StopManager()
		acts, between := 1, 0
		for n := 0; n <= acts; n++ {
			for _, before := range []bool{true, false} {
				makeSecretsOpaque(w)
				killed := w.StartProvider()
				killed.KillIn(n, before)
				virtual.WaitForSignal(nil, 10*time.Second)
				acts = max(acts, killed.CountCalls())
				killed.StopManager()
				for _, name := range contracted {
					if err := w.Client.Get(t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, &corev1.Secret{}); err != nil {
						between++
					}
				}
				next := w.StartProvider()
				w.WaitUntil("the Secrets have the type of the contract", func() bool { return hasTypedSecrets(w) })
				next.StopManager()
				for _, name := range contracted {
					secret := &corev1.Secret{}
					w.ReadObject(secret, name)
					if !slices.Equal(secret.Data["value"], data[name]["value"]) || len(secret.Data) != len(data[name]) {
						t.Errorf("Secret %s has other data after a manager died at act %d", name, n)
					}
				}
			}
		}
		if between == 0 {
			t.Errorf("no manager of %d died between the deletion of a Secret and the creation of the next", 2*acts)
		}
		t.Logf("%d acts of a manager, %d times a Secret was gone when it died", acts, between)
	})
}

// makeSecretsOpaque creates the Secrets anew as a release before this one made them.
func makeSecretsOpaque(w *virtual.Scenario) {
	w.T.Helper()
	for _, name := range contracted {
		secret := &corev1.Secret{}
		w.ReadObject(secret, name)
		if err := w.Client.Delete(w.T.Context(), secret); err != nil {
			w.T.Fatal(err)
		}
		secret.ResourceVersion, secret.UID, secret.Type = "", "", corev1.SecretTypeOpaque
		if err := w.Client.Create(w.T.Context(), secret); err != nil {
			w.T.Fatal(err)
		}
	}
}

func hasTypedSecrets(w *virtual.Scenario) bool {
	for _, name := range contracted {
		secret := &corev1.Secret{}
		if w.Client.Get(w.T.Context(), client.ObjectKey{Namespace: w.Namespace, Name: name}, secret) != nil ||
			secret.Type != clusterv1.ClusterSecretType {
			return false
		}
	}
	return true
}

// TestOwnerVersions gives all owner references on Secrets and ConfigMaps another API version while the Cluster is paused, as the tests of Cluster
// API do. They have that of today soon after.
func TestOwnerVersions(t *testing.T) {
	playEachShape(t, func(t *testing.T, w *virtual.Scenario, _ shape, _ *virtual.Manager) {
		virtual.WaitForSignal(nil, 2*time.Hour)
		pause := func(paused bool) {
			harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "aks1"}},
				func(c *clusterv1.Cluster) { c.Spec.Paused = &paused })
			virtual.WaitForSignal(nil, 10*time.Second)
		}
		pause(true)
		changed := 0
		for _, object := range listPublished(w) {
			owners := object.GetOwnerReferences()
			for i := range owners {
				if group, _, _ := strings.Cut(owners[i].APIVersion, "/"); group == infrav1.GroupVersion.Group {
					owners[i].APIVersion = group + "/v1alpha1"
					changed++
				}
			}
			object.SetOwnerReferences(owners)
			if err := w.Client.Update(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
		if changed < 2 {
			t.Fatalf("only %d owner references of ours", changed)
		}
		pause(false)
		for _, object := range listPublished(w) {
			for _, owner := range object.GetOwnerReferences() {
				if strings.HasSuffix(owner.APIVersion, "/v1alpha1") {
					t.Errorf("%T %s keeps the owner %s %s", object, object.GetName(), owner.APIVersion, owner.Kind)
				}
			}
		}
	})
}

// listPublished returns all Secrets and ConfigMaps.
func listPublished(w *virtual.Scenario) []client.Object {
	w.T.Helper()
	secrets, configMaps := &corev1.SecretList{}, &corev1.ConfigMapList{}
	for _, list := range []client.ObjectList{secrets, configMaps} {
		if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
			w.T.Fatal(err)
		}
	}
	var out []client.Object
	for i := range secrets.Items {
		out = append(out, &secrets.Items[i])
	}
	for i := range configMaps.Items {
		out = append(out, &configMaps.Items[i])
	}
	return out
}
