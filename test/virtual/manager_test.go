package virtual_test

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestManagerHearsOfWhatIsThere checks that a manager that starts lists the existing objects of the kinds that it watches, Secrets too.
func TestManagerHearsOfWhatIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		here := metav1.ObjectMeta{Name: "here", Namespace: w.Namespace}
		for _, object := range []client.Object{&corev1.Secret{ObjectMeta: here}, &corev1.ConfigMap{ObjectMeta: here},
			&infrav1.AzureCluster{ObjectMeta: here}, newMetadata("Secret", here)} {
			if _, exists := object.(*metav1.PartialObjectMetadata); !exists {
				w.CreateObject(object)
			}
			var mu sync.Mutex
			var heard []string
			manager := w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
				informer, err := m.GetCache().GetInformer(ctx, object)
				if err != nil {
					return err
				}
				_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(added any) {
					mu.Lock()
					defer mu.Unlock()
					if reflect.TypeOf(added) != reflect.TypeOf(object) {
						t.Errorf("a manager that watches %T hears of a %T", object, added)
					}
					heard = append(heard, added.(client.Object).GetName())
				}})
				return err
			})
			manager.StopManager()
			if mu.Lock(); !slices.Contains(heard, "here") {
				t.Errorf("a manager that watches %T hears at its start of %v", object, heard)
			}
			mu.Unlock()
		}
	})
}

// newMetadata returns what a watch of metadata asks for.
func newMetadata(kind string, of metav1.ObjectMeta) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{ObjectMeta: of}
	out.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return out
}
