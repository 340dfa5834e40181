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
		"theirs": {"a Secret of others gets the keys, and its owner stays", newFormerSecret(func(s *corev1.Secret) {
			s.OwnerReferences, s.Labels, s.Data = nil, nil, map[string][]byte{"theirs": []byte("a")}
		}), corev1.SecretTypeOpaque, map[string]string{"theirs": "a", "value": "new"}, false},
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
