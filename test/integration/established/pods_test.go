package established_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// TestMigrateStopsPods checks that the step stop waits for the pods of the established provider that still run, names them, and ignores an
// evicted one, which stays.
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

// TestMigrateOtherOperator holds that neither direction changes anything while a user's operator runs in another namespace, and that the check
// of a return names it.
func TestMigrateOtherOperator(t *testing.T) {
	installCluster(t)
	createNamespace(t, "azureserviceoperator-system")
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	pod := map[string]string{"app": "operator"}
	scale := func(replicas int32) {
		t.Helper()
		operator := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "azureserviceoperator-system", Name: "azureserviceoperator-controller-manager"}}
		if err := client.IgnoreNotFound(api.client.Delete(context.WithoutCancel(t.Context()), operator)); err != nil {
			t.Fatal(err)
		}
		operator.Spec = appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: pod}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: pod},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "registry.example/operator:v2"}}}}}
		if err := api.client.Create(t.Context(), operator); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := client.IgnoreNotFound(api.client.Delete(context.WithoutCancel(t.Context()), operator)); err != nil {
				t.Error(err)
			}
		})
	}
	const want = "the Deployment azureserviceoperator-controller-manager in namespace azureserviceoperator-system runs"
	scale(1)
	before := takeSnapshot(t)
	_, err := newMove(t, c, 1000).Forward(t.Context())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a migration ends with %v", err)
	}
	after := takeSnapshot(t)
	for _, own := range []string{"ConfigMap capz-system/capz-migration", "Secret capz-system/capz-migration-backup", "Secret capz-system/capz-migration-backup-0"} {
		delete(after, own)
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("a migration that was refused has changed objects:\n%s", diff)
	}
	scale(0)
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Fatal(err)
	}
	scale(1)
	moved := takeSnapshot(t)
	if err := newMove(t, c, 1000).Back(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("a return ends with %v", err)
	}
	delete(moved, "ConfigMap capz-system/capz-migration")
	after = takeSnapshot(t)
	delete(after, "ConfigMap capz-system/capz-migration")
	if diff := cmp.Diff(moved, after); diff != "" {
		t.Errorf("a return that was refused has changed objects:\n%s", diff)
	}
	out, err := runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--back")
	if !errors.As(err, new(environment.FoundError)) || !strings.Contains(out, "Deployment azureserviceoperator-system/azureserviceoperator-controller-manager") {
		t.Errorf("the check of a return ends with %v:\n%s", err, out)
	}
}
