package reconcile

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func newRequest(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: name}}
}

// TestWokenObjectsGoFirst wakes objects, one of them before the controller has started, while others are in the queue because they
// changed.
func TestWokenObjectsGoFirst(t *testing.T) {
	tests := map[string]struct {
		reason string
		queue  workqueue.TypedRateLimitingInterface[reconcile.Request]
		want   []string
	}{
		"with priorities": {
			reason: "woken objects go first, each once",
			queue:  priorityqueue.New[reconcile.Request]("test"),
			want:   []string{"early", "late", "changed", "other"},
		},
		"without priorities": {
			reason: "controller-runtime's other queue works, too",
			queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]()),
			want:   []string{"changed", "other", "early", "late"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			defer test.queue.ShutDown()
			var source wakeSource
			source.wakeFunc(newRequest("early").NamespacedName)()
			test.queue.Add(newRequest("changed"))
			test.queue.Add(newRequest("other"))
			if err := source.eventSource().Start(context.Background(), test.queue); err != nil {
				t.Fatal(err)
			}
			late := source.wakeFunc(newRequest("late").NamespacedName)
			late()
			late()
			var got []string
			for range test.want {
				item, _ := test.queue.Get()
				got = append(got, item.Name)
				test.queue.Done(item)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if left := test.queue.Len(); left > 0 {
				t.Errorf("%d are left in the queue", left)
			}
		})
	}
}
