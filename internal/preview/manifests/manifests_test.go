package manifests_test

import (
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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

// TestRepeatedObjects reads files that share an object: the last one counts.
func TestRepeatedObjects(t *testing.T) {
	const object = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  from: file-%s\n"
	file := func(documents ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Join(documents, "---\n"))}
	}
	files := manifests.Files{Folder: func(string) (fs.FS, bool) {
		return fstest.MapFS{"1.yaml": file(fmt.Sprintf(object, "shared", "1"), fmt.Sprintf(object, "a", "1")),
			"2.yaml": file(fmt.Sprintf(object, "shared", "2"), fmt.Sprintf(object, "b", "2"))}, true
	}}
	documents, err := files.Read([]string{"folder"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range documents {
		from, _, _ := unstructured.NestedString(d.Object, "data", "from")
		got = append(got, d.GetName()+" of "+from)
	}
	if diff := cmp.Diff([]string{"shared of file-2", "a of file-1", "b of file-2"}, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// TestBounds checks that input without an end is refused, from a file as from a folder.
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
