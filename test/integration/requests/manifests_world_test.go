package requests_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// checkWrites compares the writes to Azure since a mark with the wanted ones, sorted.
func (w *world) checkWrites(what string, mark harness.Mark, want ...string) {
	w.T.Helper()
	if want == nil {
		want = []string{}
	}
	if diff := cmp.Diff(want, harness.DropKubeconfigReads(w.Azure.WritesSince(mark))); diff != "" {
		w.T.Errorf("%s: writes (-want +got):\n%s", what, diff)
	}
}

// checkLeft compares the resources in Azure with those that should be left.
func (w *world) checkLeft(want ...string) {
	w.T.Helper()
	if diff := cmp.Diff(want, w.Azure.ListResources()); diff != "" {
		w.T.Errorf("resources left (-want +got):\n%s", diff)
	}
}

// withProperties gives the spec of a document more properties, in JSON.
func withProperties(t testing.TB, document runtime.RawExtension, more string) runtime.RawExtension {
	t.Helper()
	var decoded, added map[string]any
	for raw, into := range map[string]*map[string]any{string(document.Raw): &decoded, more: &added} {
		if err := json.Unmarshal([]byte(raw), into); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range added {
		decoded["spec"].(map[string]any)[key] = value
	}
	raw, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}
