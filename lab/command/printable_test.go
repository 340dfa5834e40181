package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// TestPrintable shows objects whose texts have control characters: none of them reaches the terminal, in a picture that is redrawn and in lines
// that follow each other.
func TestPrintable(t *testing.T) {
	root := &workload.Object{Kind: "Cluster", Name: "c1", Status: "boot: \x1b[2J\x1b]0;title\a\r\u009b1m\u202eend\nforged"}
	var out bytes.Buffer
	screen := &plainScreen{out: &out, seen: map[string]string{}}
	screen.Show(root, time.Second)
	for _, shown := range append(treeLines(root), strings.TrimSuffix(out.String(), "\n"), PrintableLines("a\x1b[2Jb")) {
		if strings.ContainsAny(shown, "\x1b\a\r\n\u009b\u202e") || !strings.Contains(shown, `\x1b[2J`) {
			t.Errorf("shown as %q", shown)
		}
	}
	if got := PrintableLines("a\nb"); got != "a\nb" {
		t.Errorf("lines of our own are shown as %q", got)
	}
}
