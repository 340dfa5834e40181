package apiserverilb_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

// TestBook applies the manifests of the page about internal load balancers beside public ones.
func TestBook(t *testing.T) {
	t.Parallel()
	manifests := 0
	for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, "internal-load-balancer.md") {
		manifests++
		t.Run(block.Place, func(t *testing.T) {
			t.Parallel()
			if block.Language != "yaml" {
				t.Fatalf("blocks of language %q are not checked", block.Language)
			}
			if got := flavors.TryManifest(t, environment, block.Text, nil, gates); got != flavors.Made {
				t.Errorf("the cluster was %s, want %s", got, flavors.Made)
			}
		})
	}
	if manifests == 0 {
		t.Error("the page has no manifest")
	}
}
