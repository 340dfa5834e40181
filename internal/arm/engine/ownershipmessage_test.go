package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestBookHasTheCommandsForLostTags compares the commands of the page on deletion with those that the error of a lost tag gives.
func TestBookHasTheCommandsForLostTags(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "book", "deleting.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n## Missing ownership tags\n")
	section, _, _ = strings.Cut(section, "\n## ")
	const id = arm.ID(
		"/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/c1-pool")
	message := ownershipTagMessage(situation{id: id, row: types.Type{Taggable: true},
		owner: Owner{TagKey: "sigs.k8s.io_cluster-api-provider-azure_cluster_c1", TagValue: "owned"}})
	commands := 0
	for line := range strings.Lines(section) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "az ") {
			commands++
			if !strings.Contains(message, line) {
				t.Errorf("the book has the command\n%s\nand the error has\n%s", line, message)
			}
		}
	}
	if want := strings.Count(message, "az tag update"); commands != want {
		t.Errorf("the book has %d commands, the error has %d", commands, want)
	}
}
