package established_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestMigrateStopsPods holds that the step stop waits for the pods of the established provider that still run, names them, and ignores an
// evicted one, which nobody deletes.
func TestMigrateStopsPods(t *testing.T) {
	installCluster(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	create := func(name string, phase corev1.PodPhase) {
		t.Helper()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: name, Labels: map[string]string{
			"cluster.x-k8s.io/provider": "infrastructure-azure", "control-plane": "capz-controller-manager"}},
			Spec: corev1.PodSpec{ServiceAccountName: "capz-manager", Containers: []corev1.Container{{Name: "manager", Image: "registry.example/former:v1.26.0"}}}}
		if err := api.client.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			err := api.client.Delete(context.WithoutCancel(t.Context()), pod, client.GracePeriodSeconds(0))
			if client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		})
		pod.Status.Phase = phase
		if err := api.client.Status().Update(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
	}
	create("evicted", corev1.PodFailed)
	create("completed", corev1.PodSucceeded)
	create("running", corev1.PodRunning)
	stopping, cancel := context.WithCancel(t.Context())
	defer cancel()
	lists := 0
	waiting := newWatchedMove(t, c, 1000, func(r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/api/v1/namespaces/capz-system/pods" {
			// The second look comes after the first one found a pod.
			if lists++; lists == 2 {
				cancel()
			}
		}
	})
	_, err := waiting.Forward(stopping)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "have stopped: running: ") {
		t.Errorf("a migration while a pod runs ends with %v", err)
	}
	running := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "capz-system", Name: "running"}}
	if err := api.client.Delete(t.Context(), running, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Error(err)
	}
}
