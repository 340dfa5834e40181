package managed_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var updateDrift = flag.Bool("update", false, "rewrite the part about AKS of the page of the book about drift")

const (
	driftPage = "../../../docs/book/drift.md"
	// driftPart begins the part of the page that TestDriftBook compares.
	driftPart         = "\n## Changes to AKS clusters\n"
	driftIntroduction = driftPart + `
The rows apply to AzureManaged and AzureASOManaged kinds. A property that a resource manifest does not have is kept, also if the typed kind has a default, as for the tier, the mode and the autoscaler.
Extensions, fleet members, private endpoints and networks of AzureASOManaged kinds are resources of manifests.

| Resource | Change | Outcome | Note |
|---|---|---|---|
`
)

// TestDriftOfManifests changes a cluster of resource manifests in Azure, past the provider.
func TestDriftOfManifests(t *testing.T) {
	t.Parallel()
	virtual.PlayRows(t, play, func(s *virtual.Scenario, played *virtual.Rows) {
		s.StartProvider()
		c := s.BuildASOCluster("c1", "pool0", "pool1")
		c.ControlPlane.Spec.Resources[0] = editManifest(s.T, c.ControlPlane.Spec.Resources[0], func(spec body) {
			spec["autoUpgradeProfile"] = body{"upgradeChannel": "patch"}
		})
		c.ControlPlane.Spec.Resources = append(c.ControlPlane.Spec.Resources, s.ParseManifest(windowManifest))
		c.Pools[1].Spec.Resources[0] = editManifest(s.T, c.Pools[1].Spec.Resources[0], func(spec body) {
			spec["enableAutoScaling"], spec["minCount"], spec["maxCount"] = true, 1, 5
		})
		s.CreateASOCluster(c)
		playDriftRows(s, played, listManifestDriftRows(s.EditResource))
	})
}

// TestDriftBook compares the page of the book with the rows of both tests.
func TestDriftBook(t *testing.T) {
	var want strings.Builder
	want.WriteString(driftIntroduction)
	seen := map[string]bool{}
	for _, r := range append(listDriftRows(), listManifestDriftRows(nil)...) {
		if key := r.resource + ": " + r.change; seen[key] {
			t.Errorf("%s is in the table twice", key)
		} else {
			seen[key] = true
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s |\n", r.resource, r.change, r.reaction, r.note)
	}
	raw, err := os.ReadFile(driftPage)
	if err != nil {
		t.Fatal(err)
	}
	others, have, _ := strings.Cut(string(raw), driftPart)
	if have != "" {
		have = driftPart + have
	}
	if *updateDrift {
		if err := os.WriteFile(driftPage, []byte(others+want.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(have, want.String()); diff != "" {
		t.Errorf("run go test ./test/integration/managed -run TestDriftBook -update (-have +want):\n%s", diff)
	}
}
