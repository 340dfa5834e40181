package architecture

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestCheckWrites checks controllers that write past the runner.
func TestCheckWrites(t *testing.T) {
	for name, test := range map[string]struct {
		reason, code string
		want         int
	}{
		"opens":        {"its client can write", "func f() { r.Access.Open() }", 1},
		"opens, reads": {"its client cannot write", "func f() { r.Access.Open().Client.ReadOnly() }", 0},
		"acts":         {"the runner has a function for that", "func f() { k.Engine.RunAction() }", 1},
		"asks":         {"a question changes nothing", "func f() { k.Engine.IsCreating() }", 0},
	} {
		files, err := readSource(fstest.MapFS{"internal/controller/a/a.go": {Data: []byte("// Package a promises.\npackage a\n" + test.code)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := checkWrites(files); len(got) != test.want {
			t.Errorf("%s: %s: %s", name, test.reason, strings.Join(got, "\n"))
		}
	}
}
