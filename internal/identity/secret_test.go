package identity

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestSecretsAreReadOncePerVersion counts reads of a Secret whose metadata is watched.
func TestSecretsAreReadOncePerVersion(t *testing.T) {
	secret := secretOf("elsewhere", map[string][]byte{"clientSecret": []byte("first"), "other": []byte("unrelated")})
	secret.UID = "1"
	secret.Annotations = map[string]string{infrav1.IdentityNamespacesAnnotation: "ids", "note": "unrelated"}
	reads := 0
	c := interceptor.NewClient(newKubernetes(t, secret,
		identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Namespace = "elsewhere" })), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if _, ok := object.(*corev1.Secret); ok {
				reads++
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	seen := &watched{}
	provider := New(c, Options{Secrets: seen})
	change := func(do func(s *corev1.Secret)) {
		t.Helper()
		do(secret)
		if err := c.Update(t.Context(), secret); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		reason string
		do     func()
		reads  int
		secret string
		code   Code
	}{
		{reason: "nothing is watched yet, so nothing that is kept can be relied upon", reads: 2, secret: "first"},
		{reason: "the second reconciliation uses the read of the first one", do: func() { seen.of = secret }, reads: 1, secret: "first"},
		{reason: "nothing has changed", secret: "first"},
		{reason: "a rotated Secret is read when the watch reports it", do: func() {
			change(func(s *corev1.Secret) { s.Data["clientSecret"] = []byte("second") })
			seen.of = secret
		}, reads: 1, secret: "second"},
		{reason: "a change that is undone counts, too", do: func() {
			change(func(s *corev1.Secret) { delete(s.Annotations, infrav1.IdentityNamespacesAnnotation) })
			seen.of = secret
		}, reads: 1, code: NotAllowedByTenancy},
		{reason: "another Secret of the same name has another version", do: func() {
			change(func(s *corev1.Secret) { s.Annotations[infrav1.IdentityNamespacesAnnotation] = "*" })
			other := secret.DeepCopy()
			other.UID = "2"
			seen.of = other
		}, reads: 1, secret: "second"},
		{reason: "one that is gone is asked for", do: func() {
			if err := c.Delete(t.Context(), secret); err != nil {
				t.Fatal(err)
			}
			seen.of = nil
		}, reads: 2, code: NotAllowedByTenancy},
	}
	for _, step := range steps {
		if step.do != nil {
			step.do()
		}
		reads = 0
		for range 2 {
			resolved, err := provider.Resolve(t.Context(), &corev1.ObjectReference{Name: "id", Namespace: "ids"}, "clusters", "")
			if CodeOf(err) != step.code || step.code == "" && err != nil {
				t.Fatalf("%s: %v", step.reason, err)
			}
			if err == nil && resolved.CloudConfigSecret().ClientSecret != step.secret {
				t.Errorf("%s: the secret is %q", step.reason, resolved.CloudConfigSecret().ClientSecret)
			}
		}
		if reads != step.reads {
			t.Errorf("%s: %d reads in two reconciliations, want %d", step.reason, reads, step.reads)
		}
	}
	kept, ok := provider.secrets.read.Get("elsewhere/secret")
	if !ok {
		t.Fatal("the Secret is not kept")
	}
	for key := range kept.secret.Data {
		if key != "clientSecret" {
			t.Errorf("%q of the Secret is kept, of which no credential is made", key)
		}
	}
	if _, noted := kept.secret.Annotations["note"]; noted {
		t.Error("annotations are kept that decide nothing")
	}
	if kept := provider.secrets.read.Len(); kept != 1 {
		t.Errorf("%d versions of a Secret are kept, want the last one alone", kept)
	}
}

// watched shows the metadata of one Secret.
type watched struct {
	client.Reader
	of *corev1.Secret
}

func (w *watched) Get(_ context.Context, _ client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	if w.of == nil {
		return errors.New("not watched")
	}
	object.(*metav1.PartialObjectMetadata).ObjectMeta = *w.of.ObjectMeta.DeepCopy()
	return nil
}
