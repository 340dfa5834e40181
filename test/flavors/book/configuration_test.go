package book_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/bookshell"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
)

var (
	// repositoryCommand matches commands of clusterctl that look for a release of this provider.
	repositoryCommand = regexp.MustCompile(`(?m)^.*clusterctl (?:init|upgrade|generate (?:cluster|provider)) .*$`)
	// ownConfiguration are the pages of the lab, whose environment has a configuration of clusterctl.
	ownConfiguration = map[string]bool{"docs/book/lab.md": true, "docs/book/reference/lab.md": true}
)

// TestConfigurationOfClusterctl holds that pages whose commands look for a release tell their readers where clusterctl finds it: they have the
// configuration, or link to it. Without it, clusterctl takes the provider azure for the established one.
func TestConfigurationOfClusterctl(t *testing.T) {
	t.Parallel()
	root := flavors.RepositoryRoot(t)
	blocks, err := bookshell.ReadBlocks(root)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, block := range blocks {
		if block.Language != "sh" && block.Language != bookshell.Inline || ownConfiguration[block.Page] ||
			strings.HasPrefix(block.Page, "docs/design/") {
			continue
		}
		for _, command := range repositoryCommand.FindAllString(block.Text, -1) {
			found++
			if strings.Contains(command, "--config ") {
				continue
			}
			page := string(readFile(t, filepath.Join(root, block.Page)))
			if !strings.Contains(page, "# ~/.cluster-api/clusterctl.yaml\n") && !strings.Contains(page, "release.md#install-it-with-clusterctl)") {
				t.Errorf("%s: link release.md#install-it-with-clusterctl before the command, because clusterctl does not find this release without it: %s",
					block.Place(), command)
			}
		}
	}
	if found < 15 {
		t.Errorf("the pages have %d commands of clusterctl that look for a release, want at least 15", found)
	}
}
