package access_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

const prefix = "cluster"

func identityOf(name string, finalizers ...string) *infrav1.AzureClusterIdentity {
	object := &infrav1.AzureClusterIdentity{ObjectMeta: storetest.NewMeta(name)}
	object.Finalizers = finalizers
	return object
}

func clusterOf(namespace, name string, ref *corev1.ObjectReference) *infrav1.AzureCluster {
	object := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	object.Spec.IdentityRef = ref
	return object
}

func readFinalizers(t *testing.T, store client.Reader, name string) []string {
	t.Helper()
	stored := &infrav1.AzureClusterIdentity{}
	if err := store.Get(t.Context(), client.ObjectKey{Namespace: storetest.Namespace, Name: name}, stored); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(stored.Finalizers))
}

func TestFinalizers(t *testing.T) {
	owner := clusterOf(storetest.Namespace, "c1", nil)
	ours := identity.FinalizerKey(prefix, storetest.Namespace, "c1")
	legacy := identity.LegacyFinalizerKey(prefix, storetest.Namespace, "c1")
	other := identity.FinalizerKey(prefix, storetest.Namespace, "c2")
	tests := map[string]struct {
		reason  string
		before  map[string][]string
		release bool
		want    map[string][]string
	}{
		"held": {"the identity must outlive the resources that it deletes", map[string][]string{"id": nil}, false,
			map[string][]string{"id": {ours}}},
		"held by others, too": {"each holds it for itself", map[string][]string{"id": {other}}, false, map[string][]string{"id": {ours, other}}},
		"held already":        {"once is enough", map[string][]string{"id": {ours}}, false, map[string][]string{"id": {ours}}},
		"held in the old form": {"the established provider's finalizer is replaced by ours", map[string][]string{"id": {legacy}}, false,
			map[string][]string{"id": {ours}}},
		"another identity": {"a changed identityRef releases the previous identity", map[string][]string{"id": nil, "before": {ours, other}},
			false, map[string][]string{"id": {ours}, "before": {other}}},
		"released": {"finalizers of other users stay", map[string][]string{"id": {ours, other}}, true, map[string][]string{"id": {other}}},
		"released everywhere": {"also the identity that was named before, and the old form of the finalizer",
			map[string][]string{"id": {legacy}, "before": {ours, legacy}},
			true, map[string][]string{"id": {}, "before": {}}},
		"never held": {"there is nothing to do", map[string][]string{"id": {other}}, true, map[string][]string{"id": {other}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var objects []client.Object
			for id, before := range test.before {
				objects = append(objects, identityOf(id, before...))
			}
			store := storetest.NewClient(t, objects...)
			gate := &access.Opener{Client: store, APIReader: store}
			if test.release {
				if err := gate.RemoveFinalizers(t.Context(), prefix, client.ObjectKeyFromObject(owner)); err != nil {
					t.Fatal(err)
				}
			} else if err := gate.AddFinalizer(t.Context(),
				&access.Access{Resolved: &identity.Resolved{Identity: identityOf("id", test.before["id"]...)}}, prefix, owner); err != nil {
				t.Fatal(err)
			}
			for id, want := range test.want {
				if diff := cmp.Diff(slices.Sorted(slices.Values(want)), readFinalizers(t, store, id)); diff != "" {
					t.Errorf("%s: %s (-want +got):\n%s", test.reason, id, diff)
				}
			}
		})
	}
}

// TestNamesakesShareFinalizer lets two objects of each kind, whose namespaces and names read the same in a finalizer, use an identity of
// their own each; it expects that neither removes the finalizer of the other one.
func TestNamesakesShareFinalizer(t *testing.T) {
	ref := func(name string) *corev1.ObjectReference {
		return &corev1.ObjectReference{Namespace: storetest.Namespace, Name: name}
	}
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	for kind, newUser := range map[string]func(namespace, name, identity string) client.Object{
		"AzureCluster": func(namespace, name, identity string) client.Object { return clusterOf(namespace, name, ref(identity)) },
		"AzureManagedControlPlane": func(namespace, name, identity string) client.Object {
			out := &infrav1.AzureManagedControlPlane{ObjectMeta: meta(namespace, name)}
			out.Spec.IdentityRef = ref(identity)
			return out
		},
		"AzureASOManagedCluster": func(namespace, name, identity string) client.Object {
			out := &infrav1.AzureASOManagedCluster{ObjectMeta: meta(namespace, name)}
			out.Spec.IdentityRef = ref(identity)
			return out
		},
	} {
		t.Run(kind, func(t *testing.T) {
			first, second := newUser("team", "a-prod", "one"), newUser("team-a", "prod", "two")
			store := storetest.NewClient(t, identityOf("one"), identityOf("two"), first, second)
			gate := &access.Opener{Client: store, APIReader: store}
			of := slices.IndexFunc(access.UsersOfAllKinds(store), func(u access.IdentityUsers) bool { return u.Kind == kind })
			prefix := access.UsersOfAllKinds(store)[of].Finalizer
			shared := identity.FinalizerKey(prefix, "team", "a-prod")
			if !identity.IsUser(shared) {
				t.Errorf("%s is not known as the finalizer of a user", shared)
			}
			for range 2 {
				for name, user := range map[string]client.Object{"one": first, "two": second} {
					stored := &infrav1.AzureClusterIdentity{}
					if err := store.Get(t.Context(), client.ObjectKey{Namespace: storetest.Namespace, Name: name}, stored); err != nil {
						t.Fatal(err)
					}
					if err := gate.AddFinalizer(t.Context(), &access.Access{Resolved: &identity.Resolved{Identity: stored}}, prefix, user); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, name := range []string{"one", "two"} {
				if got := readFinalizers(t, store, name); !slices.Equal(got, []string{shared}) {
					t.Errorf("identity %s has the finalizers %q, want %q", name, got, shared)
				}
			}
			if err := store.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			if err := gate.RemoveFinalizers(t.Context(), prefix, client.ObjectKeyFromObject(first)); err != nil {
				t.Fatal(err)
			}
			if got := readFinalizers(t, store, "one"); len(got) > 0 {
				t.Errorf("identity one is free, but has the finalizers %q", got)
			}
			if got := readFinalizers(t, store, "two"); !slices.Equal(got, []string{shared}) {
				t.Errorf("identity two has the finalizers %q, want %q", got, shared)
			}
		})
	}
}

// TestConcurrentUsersKeepAllFinalizers lets many clusters begin at the same time, all with the identity as it was before any of them; it
// expects the finalizers of all.
func TestConcurrentUsersKeepAllFinalizers(t *testing.T) {
	store := storetest.NewClient(t, identityOf("id"))
	gate := &access.Opener{Client: store, APIReader: store}
	before := &infrav1.AzureClusterIdentity{}
	if err := store.Get(t.Context(), client.ObjectKey{Namespace: storetest.Namespace, Name: "id"}, before); err != nil {
		t.Fatal(err)
	}
	var clusters sync.WaitGroup
	var want []string
	for i := range 20 {
		owner := clusterOf(storetest.Namespace, fmt.Sprintf("c%d", i), nil)
		want = append(want, identity.FinalizerKey(prefix, storetest.Namespace, owner.Name))
		clusters.Go(func() {
			if err := gate.AddFinalizer(context.Background(), &access.Access{Resolved: &identity.Resolved{Identity: before.DeepCopy()}}, prefix,
				owner); err != nil {
				t.Error(err)
			}
		})
	}
	clusters.Wait()
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), readFinalizers(t, store, "id")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestIdentityBeingDeleted uses an identity that is being deleted; it expects that the objects with a finalizer on it continue, and that no
// other object can use it.
func TestIdentityBeingDeleted(t *testing.T) {
	ours, legacy := identity.FinalizerKey(prefix, storetest.Namespace, "c1"), identity.LegacyFinalizerKey(prefix, storetest.Namespace, "c1")
	for name, test := range map[string]struct {
		reason string
		has    []string
		want   identity.Code
	}{
		"new":                  {"the API server takes no new finalizers", []string{"example.com/other"}, identity.IdentityBeingDeleted},
		"held":                 {"the cluster needs it until it is gone itself", []string{ours}, ""},
		"held in the old form": {"the established provider's finalizer holds as well", []string{legacy}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			leaving := storetest.MarkDeleting(identityOf("id", test.has...))
			// The cache may still show the identity as it was before.
			cached := identityOf("id", test.has...)
			store := storetest.NewClient(t, leaving)
			gate := &access.Opener{Client: store, APIReader: store}
			err := gate.AddFinalizer(t.Context(), &access.Access{Resolved: &identity.Resolved{Identity: cached}}, prefix,
				clusterOf(storetest.Namespace, "c1", nil))
			if identity.CodeOf(err) != test.want || test.want == "" && err != nil {
				t.Errorf("%s: %v, want %q", test.reason, err, test.want)
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(leaving.Finalizers)), readFinalizers(t, store, "id")); diff != "" {
				t.Errorf("%s: finalizers (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestDeletedIdentity(t *testing.T) {
	store := storetest.NewClient(t)
	gate := &access.Opener{Client: store, APIReader: store}
	if err := gate.AddFinalizer(t.Context(), &access.Access{Resolved: &identity.Resolved{Identity: identityOf("id")}}, prefix,
		clusterOf(storetest.Namespace, "c1", nil)); err != nil {
		t.Errorf("an identity that was deleted meanwhile is reported by the next reconciliation: %v", err)
	}
}

func TestListUsersOfSecretsAndIdentities(t *testing.T) {
	ref := func(namespace, name string) *corev1.ObjectReference {
		return &corev1.ObjectReference{Namespace: namespace, Name: name}
	}
	withSecret := func(name, namespace, secret string) *infrav1.AzureClusterIdentity {
		object := identityOf(name)
		object.Spec.Type = infrav1.ServicePrincipal
		object.Spec.ClientSecret = corev1.SecretReference{Namespace: namespace, Name: secret}
		return object
	}
	store := storetest.NewClient(t,
		withSecret("a", "", "s"), withSecret("b", "secrets", "s"), withSecret("c", "", "other"),
		clusterOf(storetest.Namespace, "near", ref("", "a")), clusterOf(storetest.Namespace, "named", ref(storetest.Namespace, "a")),
		clusterOf("far", "far", ref(storetest.Namespace, "a")), clusterOf("far", "same-name", ref("", "a")),
		clusterOf(storetest.Namespace, "of-b", ref("", "b")), clusterOf(storetest.Namespace, "of-c", ref("", "c")),
		clusterOf(storetest.Namespace, "of-nothing", nil))
	users := access.AzureClusterUsers(store)
	secret := func(namespace, name string) client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	tests := map[string]struct {
		reason string
		of     client.Object
		want   []string
	}{
		"identity": {"a reference without a namespace means the object's own", identityOf("a"),
			[]string{"far/far", "ns/named", "ns/near"}},
		"unused identity": {"no object is woken", identityOf("unused"), nil},
		"Secret": {"a reference without a namespace means the identity's own", secret(storetest.Namespace, "s"),
			[]string{"far/far", "ns/named", "ns/near"}},
		"Secret in another namespace": {"an identity may name one", secret("secrets", "s"), []string{"ns/of-b"}},
		"other Secret":                {"Secrets are many", secret("far", "s"), nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found := users.MapIdentity
			if _, ok := test.of.(*corev1.Secret); ok {
				found = users.MapSecret
			}
			var got []string
			for _, request := range found(t.Context(), test.of) {
				got = append(got, request.String())
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
