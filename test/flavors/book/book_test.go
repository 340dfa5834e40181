package book_test

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// otherGates are pages whose manifests need gates that change every cluster; the package apiserverilb has them.
const otherGates = "internal-load-balancer.md"

// TestBook applies every manifest of every page about self-managed clusters.
func TestBook(t *testing.T) {
	t.Parallel()
	flavors.LogApplies(t)
	var made, accepted atomic.Int64
	t.Cleanup(func() { t.Logf("%d manifests reached their end state, %d were accepted", made.Load(), accepted.Load()) })
	for _, page := range flavors.PageNames(t, flavors.SelfManaged) {
		if page == otherGates {
			continue
		}
		manifests := 0
		for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, page) {
			switch block.Language {
			case "yaml":
				manifests++
				t.Run(block.Place, func(t *testing.T) {
					t.Parallel()
					look := func(stage *harness.Stage) { checkExpectations(stage, block.Text) }
					if flavors.TryManifest(t, environment, block.Text, look, gates) == flavors.Made {
						made.Add(1)
					} else {
						accepted.Add(1)
					}
				})
			case "sh": // TestCommands runs these.
			default:
				t.Errorf("%s: blocks of language %q are not checked; use yaml or sh", block.Place, block.Language)
			}
		}
		if manifests == 0 && page != "README.md" && page != "flavors.md" && page != "troubleshooting.md" {
			t.Errorf("%s has no manifest", page)
		}
	}
}

// TestCommandsOfNeighbours looks for commands on the pages about what goes with AKS clusters, whose manifests are made where AKS clusters
// are.
func TestCommandsOfNeighbours(t *testing.T) {
	t.Parallel()
	for _, page := range flavors.PageNames(t, flavors.Neighbours) {
		commands := 0
		for _, block := range flavors.PageBlocks(t, flavors.Neighbours, page) {
			switch block.Language {
			case "sh":
				commands++
			case "yaml":
			default:
				t.Errorf("%s: blocks of language %q are not checked; use yaml or sh", block.Place, block.Language)
			}
		}
		if commands == 0 {
			t.Errorf("%s has no command by which to see that it works", page)
		}
	}
}

// TestPagesAreListed compares the pages of each folder with the list on its first one.
func TestPagesAreListed(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{flavors.SelfManaged, flavors.Neighbours} {
		list, pages := flavors.ReadPage(t, folder, "README.md"), flavors.PageNames(t, folder)
		for _, page := range pages {
			if page != "README.md" && !strings.Contains(list, "("+page+")") {
				t.Errorf("docs/book/%s/README.md does not list %s", folder, page)
			}
		}
		for _, match := range regexp.MustCompile(`\(([a-z0-9-]+\.md)\)`).FindAllStringSubmatch(list, -1) {
			if !slices.Contains(pages, match[1]) {
				t.Errorf("docs/book/%s/README.md lists %s, which does not exist", folder, match[1])
			}
		}
	}
}
