package manifests_test

import (
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
)

// endless repeats a text.
type endless struct{ text string }

// Read implements io.Reader.
func (e endless) Read(into []byte) (n int, err error) {
	for n+len(e.text) <= len(into) {
		n += copy(into[n:], e.text)
	}
	return n, nil
}

// TestBounds holds that input without an end is refused, from a file as from a folder.
func TestBounds(t *testing.T) {
	const object = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n---\n"
	many := &fstest.MapFile{Data: []byte(strings.Repeat(object, 6000))}
	files := manifests.Files{
		Folder: func(name string) (fs.FS, bool) {
			return fstest.MapFS{"a.yaml": many, "b.yaml": many, "c.yaml": many, "d.yaml": many}, name == "folder"
		},
	}
	tests := map[string]struct {
		reason string
		names  []string
		input  io.Reader
		want   string
	}{
		"one document":       {"a document is held in memory as a whole", []string{"-"}, endless{"#"}, "more than 67108864 bytes"},
		"many documents":     {"each object costs a multiple of its text", []string{"-"}, endless{object}, "more than 20000 objects"},
		"objects of folders": {"the objects of all files count", []string{"folder"}, nil, "more than 20000 objects"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files.Input = test.input
			_, err := files.Read(test.names)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
		})
	}
}
