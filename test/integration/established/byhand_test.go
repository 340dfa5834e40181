package established_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestPauseByHand runs the commands of the upgrade by hand that pause and unpause a Cluster with a topology. The Cluster is paused while
// clusterctl replaces the manager, and afterwards it is as before.
func TestPauseByHand(t *testing.T) {
	createNamespace(t, "capz-system")
	installCluster(t)
	cluster := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "cluster.x-k8s.io/v1beta2", "kind": "Cluster",
		"metadata": map[string]any{"namespace": "default", "name": "my-cluster"},
		"spec":     map[string]any{"topology": map[string]any{"classRef": map[string]any{"name": "azure"}, "version": "v1.35.2"}}}}
	if err := api.client.Create(t.Context(), cluster); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { deleteAll(t, []*unstructured.Unstructured{cluster}) })
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, api.kubeconfig, 0o600); err != nil {
		t.Fatal(err)
	}
	isPaused := func() bool {
		t.Helper()
		if err := api.client.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster); err != nil {
			t.Fatal(err)
		}
		paused, _, _ := unstructured.NestedBool(cluster.Object, "spec", "paused")
		return paused
	}
	var paused []string
	for _, command := range listCommands(t, "## Upgrade from the established provider") {
		if strings.HasPrefix(command, "kubectl patch ") {
			run := exec.CommandContext(t.Context(), "bash", "-c", command)
			run.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
			if out, err := run.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
		} else if isPaused() {
			paused = append(paused, strings.Join(strings.Fields(command)[:3], " "))
		}
	}
	if want := []string{"kubectl capz adopt", "clusterctl upgrade apply", "kubectl delete clusterroles,clusterrolebindings"}; !slices.Equal(want, paused) {
		t.Errorf("commands while the Cluster is paused: %q, want %q", paused, want)
	}
	if isPaused() {
		t.Error("the Cluster stays paused")
	}
}
