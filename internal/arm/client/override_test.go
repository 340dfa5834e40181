package client_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/test/credential"
)

// TestWithAPIVersion: a preview api-version applies to a type and the types below it, and to no others.
func TestWithAPIVersion(t *testing.T) {
	var got string
	plain := serveClient(t, credential.Token("t"), nil, func(w http.ResponseWriter, r *http.Request) {
		got = r.URL.Query().Get("api-version")
		_, _ = w.Write([]byte("{}"))
	})
	preview := plain.WithAPIVersion("Microsoft.ContainerService/managedClusters", "preview")
	cluster := arm.NewID("s", "g", "Microsoft.ContainerService/managedClusters", "c")
	tests := map[string]struct {
		reason string
		client *client.Client
		path   arm.ID
		want   string
	}{
		"the type": {"the version is for this type", preview, cluster, "preview"},
		"other case": {"Azure ignores case", preview,
			arm.NewID("s", "g", "microsoft.containerservice/managedclusters", "c"), "preview"},
		"its children":             {"agent pools have the same properties", preview, cluster.Child("agentPools", "p"), "preview"},
		"a collection of children": {"a list must return the same as a single read", preview, cluster + "/agentPools", "preview"},
		"a collection": {"a list must return the same as a single read", preview,
			arm.ResourceGroupID("s", "g") + "/providers/Microsoft.ContainerService/managedClusters", "preview"},
		"an extension": {"it belongs to another provider", preview,
			cluster.Extension("Microsoft.KubernetesConfiguration/extensions", "e"), "own"},
		"another type":     {"it has versions of its own", preview, id, "own"},
		"without override": {"the original is not changed", plain, cluster, "own"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := test.client.Get(t.Context(), test.path, "own", nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
	if plain.CacheScope() == preview.CacheScope() {
		t.Error("reads of one version must not be shared with readers of another")
	}
}
