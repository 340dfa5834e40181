package architecture

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that would make the manager a half larger, which is memory for each replica: the features that
// they bring, and the replacement in use.
var heavy = map[string]string{
	"k8s.io/apiserver/pkg/server/routes":                            "an API server with gRPC and tracing comes with cluster-api/util/flags; use internal/diagnostics",
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters":            "an API server's authorizers with CEL; use internal/diagnostics",
	"sigs.k8s.io/cluster-api/util/paused":                           "it patches with cluster-api/util/patch, whose differences call methods by reflection, so that the linker keeps every method of every type; use lifecycle.Enter",
	"sigs.k8s.io/cluster-api/util/patch":                            "it calls methods by reflection, so that the linker keeps every method of every type; use internal/reconcile/patch",
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel":       "a compiler of CEL; the API server has one",
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset": "a client for kinds that nothing here writes",
}

// TestManagerIsSmall looks at everything that is linked into the manager.
func TestManagerIsSmall(t *testing.T) {
	command := exec.Command("go", "list", "-deps", "./cmd/manager")
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, "sigs.k8s.io/controller-runtime/pkg/manager") {
		t.Fatalf("these are no packages of a manager: %.200s", out)
	}
	for path, why := range heavy {
		if slices.Contains(linked, path) {
			t.Errorf("the manager has %s: %s", path, why)
		}
	}
}
