package published_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/clusterinfra/published"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

const kind = "AzureManagedControlPlane"

func newOwner() *infrav1.AzureManagedControlPlane {
	object := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewMeta("c1")}
	object.UID = "control-plane"
	return object
}

func ownerReference(version string) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: infrav1.GroupVersion.Group + "/" + version, Kind: kind, Name: "c1", UID: "control-plane", Controller: new(true),
		BlockOwnerDeletion: new(true),
	}
}

// newFormerSecret returns a Secret as a release before this one has left it.
func newFormerSecret(change func(*corev1.Secret)) *corev1.Secret {
	secret := &corev1.Secret{ObjectMeta: storetest.NewMeta("c1-kubeconfig"), Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{"value": []byte("former")}}
	secret.UID, secret.Labels = "former", map[string]string{clusterv1.ClusterNameLabel: "c1"}
	secret.OwnerReferences = []metav1.OwnerReference{ownerReference("v1beta1")}
	change(secret)
	return secret
}

// TestPublishClusterSecret writes the Secret of a kubeconfig over an existing Secret.
func TestPublishClusterSecret(t *testing.T) {
	for name, test := range map[string]struct {
		reason   string
		before   *corev1.Secret
		wantType corev1.SecretType
		wantData map[string]string
		deletes  bool
	}{
		"none": {"the type is the one of the contract", nil, clusterv1.ClusterSecretType, map[string]string{"value": "new"}, false},
		"Opaque": {"no write changes the type of a Secret", newFormerSecret(func(*corev1.Secret) {}), clusterv1.ClusterSecretType,
			map[string]string{"value": "new"}, true},
		"current": {"it is patched", newFormerSecret(func(s *corev1.Secret) { s.Type = clusterv1.ClusterSecretType }),
			clusterv1.ClusterSecretType,
			map[string]string{"value": "new"}, false},
		"the Azure Service Operator's": {"it gets the keys, and its owner stays", newFormerSecret(func(s *corev1.Secret) {
			s.OwnerReferences, s.Labels, s.Data = []metav1.OwnerReference{{APIVersion: "containerservice.azure.com/v1", Kind: "ManagedCluster",
				Name: "c1", UID: "operator"}}, nil, map[string][]byte{"theirs": []byte("a")}
		}), corev1.SecretTypeOpaque, map[string]string{"theirs": "a", "value": "new"}, false},
		"restored": {"backups lose owners and keep labels", newFormerSecret(func(s *corev1.Secret) { s.OwnerReferences = nil }),
			clusterv1.ClusterSecretType, map[string]string{"value": "new"}, true},
		"held": {"its name is taken until the finalizer goes, and clusters need the kubeconfig",
			newFormerSecret(func(s *corev1.Secret) { s.Finalizers = []string{"example.com/held"} }),
			corev1.SecretTypeOpaque, map[string]string{"value": "new"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{newOwner()}
			if test.before != nil {
				test.before.Annotations = map[string]string{"example.com/note": "kept"}
				objects = append(objects, test.before)
			}
			store := storetest.NewClient(t, objects...)
			var deletes []client.DeleteOptions
			watched := interceptor.NewClient(store, interceptor.Funcs{
				Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
					deletes = append(deletes, *(&client.DeleteOptions{}).ApplyOptions(options))
					return c.Delete(ctx, object, options...)
				},
			})
			to := published.Publisher{Client: watched, Owner: newOwner(), Kind: kind, Cluster: "c1"}
			version := ""
			if test.before != nil {
				version = readSecret(t, store).ResourceVersion
			}
			if err := to.PublishClusterSecret(t.Context(), "c1-kubeconfig", map[string][]byte{"value": []byte("new")}); err != nil {
				t.Fatal(err)
			}
			got := readSecret(t, store)
			data := map[string]string{}
			for key, value := range got.Data {
				data[key] = string(value)
			}
			if diff := cmp.Diff(test.wantData, data); diff != "" || got.Type != test.wantType {
				t.Errorf("%s: type %s, data (-want +got):\n%s", test.reason, got.Type, diff)
			}
			if test.before != nil && got.Annotations["example.com/note"] != "kept" {
				t.Errorf("%s: the annotations of others are lost: %v", test.reason, got.Annotations)
			}
			if (len(deletes) > 0) != test.deletes {
				t.Fatalf("%s: %d deletions", test.reason, len(deletes))
			}
			if test.deletes {
				want := &metav1.Preconditions{UID: new(types.UID("former")), ResourceVersion: &version}
				if diff := cmp.Diff(want, deletes[0].Preconditions); diff != "" {
					t.Errorf("%s: preconditions (-want +got):\n%s", test.reason, diff)
				}
			}
			again := got.ResourceVersion
			if err := to.PublishClusterSecret(t.Context(), "c1-kubeconfig", map[string][]byte{"value": []byte("new")}); err != nil ||
				readSecret(t, store).ResourceVersion != again {
				t.Errorf("%s: the second time it is written again, %v", test.reason, err)
			}
		})
	}
}

// TestForeignObjects publishes to Secrets and ConfigMaps of other creators. It expects that those are refused and stay as they are, and
// that an object of the provider that lost its owner is not refused.
func TestForeignObjects(t *testing.T) {
	of := func(value string) map[string]string { return map[string]string{infrav1.PublishedByAnnotation: value} }
	label := map[string]string{clusterv1.ClusterNameLabel: "c1"}
	another := []metav1.OwnerReference{{APIVersion: infrav1.GroupVersion.String(), Kind: kind, Name: "c2", UID: "c2", Controller: new(true)}}
	tests := map[string]struct {
		reason string
		meta   metav1.ObjectMeta
		data   map[string][]byte
		// provider is true if a name of the provider may have it, spec if a name of the spec may.
		provider, spec bool
	}{
		"user's":                  {"nothing shows that the provider created it", metav1.ObjectMeta{}, nil, false, false},
		"labelled":                {"users label their Secrets for Cluster API", metav1.ObjectMeta{Labels: label}, nil, true, false},
		"labelled, a private key": {"the provider publishes none", metav1.ObjectMeta{Labels: label}, map[string][]byte{"tls.key": []byte("key")}, false, false},
		"labelled, no key":        {"the established provider publishes the same", metav1.ObjectMeta{Labels: label}, map[string][]byte{"tls.key": []byte("foo")}, true, false},
		"of another Cluster":      {"its label", metav1.ObjectMeta{Labels: map[string]string{clusterv1.ClusterNameLabel: "c2"}}, nil, false, false},
		"restored":                {"the annotation stays in backups", metav1.ObjectMeta{Labels: label, Annotations: of(kind + "/c1")}, nil, true, true},
		"restored, of another":    {"the annotation decides before the label", metav1.ObjectMeta{Labels: label, Annotations: of(kind + "/c2")}, nil, false, false},
		"another's":               {"the controller decides first", metav1.ObjectMeta{Labels: label, Annotations: of(kind + "/c1"), OwnerReferences: another}, nil, false, false},
		"own":                     {"as before", metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{ownerReference("v1beta1")}}, nil, true, true},
		"the operator's": {"it is from before the migration", metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "containerservice.azure.com/v1", Kind: "ManagedCluster", Name: "former", UID: "f"}}}, nil, true, true},
		"the operator's, another": {"it belongs to another resource", metav1.ObjectMeta{Labels: map[string]string{}, OwnerReferences: []metav1.OwnerReference{{
			APIVersion: "containerservice.azure.com/v1", Kind: "ManagedCluster", Name: "another", UID: "f"}}}, nil, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, bySpec := range []bool{false, true} {
				test.meta.Namespace, test.meta.Name = storetest.Namespace, "c1-kubeconfig"
				secret := &corev1.Secret{ObjectMeta: *test.meta.DeepCopy(), Data: test.data, Type: corev1.SecretTypeOpaque}
				configMap := &corev1.ConfigMap{ObjectMeta: *test.meta.DeepCopy(), Data: map[string]string{"a": "b"}}
				store := storetest.NewClient(t, newOwner(), secret, configMap)
				to := published.Publisher{Client: store, Owner: newOwner(), Kind: kind, Cluster: "c1", NamedBySpec: bySpec,
					FormerOwners: []published.ASOObject{{Group: "containerservice.azure.com", Kind: "ManagedCluster", Name: "former"}}}
				allowed := test.provider
				if bySpec {
					allowed = test.spec
				}
				before := readSecret(t, store)
				for what, publish := range map[string]func() error{
					"Secret": func() error {
						return to.PublishSecret(t.Context(), "c1-kubeconfig", map[string][]byte{"value": []byte("new")})
					},
					"cluster Secret": func() error {
						return to.PublishClusterSecret(t.Context(), "c1-kubeconfig", map[string][]byte{"value": []byte("new")})
					},
				} {
					err := publish()
					if foreign := (published.ForeignObjectError{}); errors.As(err, &foreign) == allowed || allowed && err != nil {
						t.Errorf("%s: %s, named by the spec: %t: %v", test.reason, what, bySpec, err)
					}
				}
				if diff := cmp.Diff(before, readSecret(t, store)); !allowed && diff != "" {
					t.Errorf("%s: it was changed (-before +after):\n%s", test.reason, diff)
				}
				err := to.PublishConfigMap(t.Context(), "c1-kubeconfig", map[string]string{"issuer": "new"})
				if allowed = allowed || test.data != nil && !bySpec; (err == nil) != allowed {
					t.Errorf("%s: ConfigMap, named by the spec: %t: %v", test.reason, bySpec, err)
				}
			}
		})
	}
}

// TestInterruptedPublicationLosesNothing ends the manager between the deletion of a Secret and the creation of its replacement. Then
// another client writes the Secret between the read and the deletion. It expects that nothing is lost.
func TestInterruptedPublicationLosesNothing(t *testing.T) {
	data := map[string][]byte{"value": []byte("new")}
	store := storetest.NewClient(t, newOwner(), newFormerSecret(func(*corev1.Secret) {}))
	killed := errors.New("the manager was killed")
	dying := interceptor.NewClient(store, interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return killed },
	})
	if err := (published.Publisher{Client: dying, Owner: newOwner(), Kind: kind, Cluster: "c1"}).PublishClusterSecret(t.Context(),
		"c1-kubeconfig", data); !errors.Is(err, killed) {
		t.Fatalf("got %v, want that it was killed", err)
	}
	if err := (published.Publisher{Client: store, Owner: newOwner(), Kind: kind, Cluster: "c1"}).PublishClusterSecret(t.Context(),
		"c1-kubeconfig", data); err != nil {
		t.Fatal(err)
	}
	if got := readSecret(t, store); got.Type != clusterv1.ClusterSecretType || string(got.Data["value"]) != "new" ||
		!metav1.IsControlledBy(got, newOwner()) {
		t.Errorf("the manager that starts next leaves %s %v", got.Type, got.OwnerReferences)
	}

	store = storetest.NewClient(t, newOwner(), newFormerSecret(func(*corev1.Secret) {}))
	raced := interceptor.NewClient(store, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			other := readSecret(t, store)
			other.Annotations = map[string]string{"example.com/note": "meanwhile"}
			if err := c.Update(ctx, other); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
	})
	err := (published.Publisher{Client: raced, Owner: newOwner(), Kind: kind, Cluster: "c1"}).PublishClusterSecret(t.Context(),
		"c1-kubeconfig",
		data)
	if got := readSecret(t, store); !apierrors.IsConflict(err) || got.Annotations["example.com/note"] != "meanwhile" {
		t.Errorf("a Secret that was written meanwhile is deleted: %v", err)
	}
}

// TestRenewOwnerReferences sets today's API version in owner references of published objects, and changes nothing else.
func TestRenewOwnerReferences(t *testing.T) {
	theirs := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Other", Name: "o", UID: "other"}
	old := newFormerSecret(func(s *corev1.Secret) {
		s.OwnerReferences = []metav1.OwnerReference{theirs, ownerReference("v1alpha1")}
	})
	of := &corev1.ConfigMap{ObjectMeta: *newFormerSecret(func(s *corev1.Secret) {
		s.Name, s.OwnerReferences = "c1-aso-oidc-issuer-profile", []metav1.OwnerReference{ownerReference("v1alpha4")}
	}).ObjectMeta.DeepCopy()}
	another := newFormerSecret(func(s *corev1.Secret) {
		s.Name, s.OwnerReferences = "another", []metav1.OwnerReference{ownerReference("v1alpha1")}
		s.OwnerReferences[0].UID = "another"
	})
	store := storetest.NewClient(t, newOwner(), old, of, another)
	to := published.Publisher{Client: store, Owner: newOwner(), Kind: kind, Cluster: "c1"}
	for range 2 {
		if err := to.RenewOwnerReferences(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	configMap := &corev1.ConfigMap{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(of), configMap); err != nil {
		t.Fatal(err)
	}
	kept := &corev1.Secret{}
	if err := store.Get(t.Context(), client.ObjectKeyFromObject(another), kept); err != nil {
		t.Fatal(err)
	}
	want := map[string][]metav1.OwnerReference{"Secret": {theirs, ownerReference("v1beta1")}, "ConfigMap": {ownerReference("v1beta1")},
		"another": another.OwnerReferences}
	got := map[string][]metav1.OwnerReference{"Secret": readSecret(t, store).OwnerReferences, "ConfigMap": configMap.OwnerReferences,
		"another": kept.OwnerReferences}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("owner references (-want +got):\n%s", diff)
	}
}

// readSecret returns the Secret with the kubeconfig.
func readSecret(t *testing.T, store client.Client) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{}
	if err := store.Get(t.Context(), client.ObjectKey{Namespace: storetest.Namespace, Name: "c1-kubeconfig"}, secret); err != nil {
		t.Fatal(err)
	}
	return secret
}
