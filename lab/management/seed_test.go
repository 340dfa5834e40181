package management

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeed compares the resources that a new lab has in Azure with the commands of Getting started: users create the same.
func TestSeed(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "book", "getting-started.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"az group create --name " + identityGroup + " ",
		"az identity create --resource-group " + identityGroup + " --name " + machineIdentity + "\n"} {
		if !strings.Contains(string(page), command) {
			t.Errorf("the lab has a resource that no command of getting-started.md creates: %s", command)
		}
	}
}
