package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongSettings holds that a file that somebody edited is reported with the field and its type.
func TestWrongSettings(t *testing.T) {
	for name, test := range map[string]struct{ reason, content, want string }{
		"type":   {"a port is a number", `{"basePort": "high"}`, `basePort: Invalid value: "string": must be of type integer`},
		"syntax": {"half a file", `{"basePort": `, "unexpected end of JSON input"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, file), []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(dir); err == nil || !strings.HasSuffix(err.Error(), file+": "+test.want) {
			t.Errorf("%s: %s: got %v, want %s", name, test.reason, err, test.want)
		}
	}
}
