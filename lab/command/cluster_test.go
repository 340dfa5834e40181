package command

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestShellHint checks that the first command that lab up proposes starts a shell of this lab, also of one in another folder. The variables of lab env
// would break the HTTPS requests of the user's own shell.
func TestShellHint(t *testing.T) {
	for dir, want := range map[string]string{".lab": "lab exec -- bash ", "other": "lab exec --dir other -- bash "} {
		path, err := filepath.Abs(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := shellHint(&settings.Settings{Dir: path}); !strings.Contains(got, want) {
			t.Errorf("lab in %s: hint %q, want %q", dir, got, want)
		}
	}
}
