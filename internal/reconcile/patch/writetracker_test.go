package patch

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestIsStale(t *testing.T) {
	at := func(uid types.UID, version string) *infrav1.AzureMachine {
		return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{UID: uid, ResourceVersion: version,
			Finalizers: []string{infrav1.MachineFinalizer}}}
	}
	ended := at("a", "120")
	ended.Finalizers, ended.DeletionTimestamp = nil, &metav1.Time{Time: time.Unix(0, 0)}

	written := NewWriteTracker(time.Now)
	for _, step := range []struct {
		reason string
		wrote  *infrav1.AzureMachine
		// stored is the object that the API server returns. nil if it must not be asked.
		stored *infrav1.AzureMachine
		read   *infrav1.AzureMachine
		want   bool
	}{
		{reason: "nothing was written yet", read: at("a", "90")},
		{reason: "the cache lags behind", wrote: at("a", "100"), stored: at("a", "100"), read: at("a", "99"), want: true},
		{reason: "versions are numbers, not words", stored: at("a", "100"), read: at("a", "9"), want: true},
		{reason: "another object", read: at("b", "99")},
		{reason: "the last write has arrived", read: at("a", "100")},
		{reason: "it is asked for once", read: at("a", "99")},
		{reason: "another client wrote after the manager", wrote: at("a", "110"), read: at("a", "111")},
		{reason: "an object that the write deleted is not reconciled again", wrote: ended, stored: at("c", "7"), read: at("a", "120"),
			want: true},
		{reason: "the store was restored to a state before the write, so the write never arrives", wrote: at("a", "5000"), stored: at("a", "120"),
			read: at("a", "120")},
		{reason: "a lost write is forgotten", read: at("a", "121")},
		{reason: "the store was restored, and the cache lags behind later writes", wrote: at("a", "5000"), stored: at("a", "130"),
			read: at("a", "125"), want: true},
		{reason: "that has arrived", stored: at("a", "130"), read: at("a", "130")},
		{reason: "the object was deleted meanwhile", wrote: at("a", "5000"), stored: at("c", "7"), read: at("a", "140"), want: true},
	} {
		if step.wrote != nil {
			written.recordWrite(step.wrote)
		}
		c := fake.NewClientBuilder().WithScheme(testScheme(t)).WithInterceptorFuncs(interceptor.Funcs{
			Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
				if _, uncached := obj.(*unstructured.Unstructured); !uncached || step.stored == nil {
					t.Errorf("%s: read %T, stored is %v", step.reason, obj, step.stored)
					return nil
				}
				obj.SetUID(step.stored.UID)
				obj.SetResourceVersion(step.stored.ResourceVersion)
				return nil
			},
		}).Build()
		got, err := written.IsStale(t.Context(), c, step.read)
		if err != nil || got != step.want {
			t.Errorf("%s: outdated %t, %v", step.reason, got, err)
		}
	}
}

// TestWritesOfDeletedObjectsAreForgotten has objects that others deleted after the last write of the manager.
func TestWritesOfDeletedObjectsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := NewWriteTracker(time.Now)
		for i := range 100 {
			written.recordWrite(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint(i), UID: types.UID(fmt.Sprint(i)),
				ResourceVersion: "1"}})
		}
		<-time.After(2 * retention)
		written.recordWrite(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "another", UID: "another", ResourceVersion: "2"}})
		if len(written.lastWrites) != 1 {
			t.Errorf("%d objects are remembered that are not read any more", len(written.lastWrites)-1)
		}
	})
}
