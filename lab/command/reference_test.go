package command

import (
	"flag"
	"os"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/reference/commands"
)

var update = flag.Bool("update", false, "rewrite the page of the reference")

// TestReference compares the page of the reference with the commands and flags.
func TestReference(t *testing.T) {
	const page = "../../docs/book/reference/lab.md"
	want, entries := commands.Render(New("dev"), "lab", "All commands and flags of the lab. [The lab](../lab.md) describes how to use it.")
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want {
		t.Errorf("docs/book/reference/lab.md is out of date. Run: cd lab && go test ./command -run TestReference -update. %v", err)
	}
	t.Logf("%d entries", entries)
}
