package selfmanaged

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestBootstrapDataAreReadOncePerVersion lets a machine wait for minutes, and its Secret change meanwhile; it expects one read for each
// version.
func TestBootstrapDataAreReadOncePerVersion(t *testing.T) {
	for name, test := range map[string]struct {
		reason  string
		watched bool
		// reads are the reads of the Secret after each reconciliation: two, two more after a change, and one that comes later.
		reads [5]int
	}{
		"watched":     {"each version is read once", true, [5]int{1, 1, 2, 2, 3}},
		"not watched": {"its version is not known", false, [5]int{1, 2, 3, 4, 5}},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: storetest.NewMeta("bootstrap"), Data: map[string][]byte{"value": []byte("first")}}
			secret.UID = "1"
			store, reads := storetest.NewClient(t, secret), 0
			synctest.Test(t, func(t *testing.T) {
				live := interceptor.NewClient(store, interceptor.Funcs{
					Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
						if _, full := object.(*corev1.Secret); full {
							reads++
						}
						return c.Get(ctx, key, object, options...)
					},
				})
				var metadata client.Reader
				if test.watched {
					metadata = live
				}
				var b BootstrapSecrets
				read := func(want string, wantReads int) {
					t.Helper()
					got, err := b.Read(t.Context(), live, metadata, secret.Namespace, &secret.Name)
					if err != nil || string(got) != want || reads != wantReads {
						t.Errorf("%s: got %q after %d reads, %v; want %q after %d", test.reason, got, reads, err, want, wantReads)
					}
				}
				read("first", test.reads[0])
				<-time.After(50 * time.Second)
				read("first", test.reads[1])
				secret.Data["value"] = []byte("second")
				if err := live.Update(t.Context(), secret); err != nil {
					t.Fatal(err)
				}
				read("second", test.reads[2])
				<-time.After(50 * time.Second)
				read("second", test.reads[3])
				<-time.After(bootstrapTTL)
				synctest.Wait()
				if len(b.byKey) > 0 {
					t.Error("the data are in memory a minute after their last use")
				}
				read("second", test.reads[4])
				<-time.After(bootstrapTTL)
				if err := live.Delete(t.Context(), secret); err != nil {
					t.Fatal(err)
				}
				read("", test.reads[4]+1)
			})
		})
	}
}

// TestBootstrapDataInMemoryAreBounded lets more machines wait than data are kept of.
func TestBootstrapDataInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b BootstrapSecrets
		for i := range 2 * maxBootstraps {
			b.set(client.ObjectKey{Name: string(rune('a' + i))}, "1", nil)
		}
		if len(b.byKey) != maxBootstraps {
			t.Errorf("the data of %d Secrets are in memory", len(b.byKey))
		}
		<-time.After(bootstrapTTL)
		synctest.Wait()
		if len(b.byKey) != 0 {
			t.Errorf("the data of %d Secrets stay in memory", len(b.byKey))
		}
	})
}

// TestNoBootstrapData reads the data of a machine that names no Secret yet, and of one whose Secret has no data.
func TestNoBootstrapData(t *testing.T) {
	store := storetest.NewClient(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: storetest.Namespace, Name: "empty"}})
	var b BootstrapSecrets
	if data, err := b.Read(t.Context(), store, store, storetest.Namespace, nil); data != nil || err != nil {
		t.Errorf("got %q, %v", data, err)
	}
	if _, err := b.Read(t.Context(), store, store, storetest.Namespace, new("empty")); err == nil {
		t.Error("a Secret without data is no error")
	}
}
