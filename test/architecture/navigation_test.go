package architecture

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
)

// TestNavigation makes sure that docs/navigation.yaml has each page of docs. hack/site checks the rest when it builds the site.
func TestNavigation(t *testing.T) {
	root := os.DirFS("../..")
	navigation, err := fs.ReadFile(root, "docs/navigation.yaml")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(root, "docs", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && path.Ext(file) == ".md" && !strings.Contains(string(navigation), "- "+file+"\n") {
			t.Errorf("docs/navigation.yaml does not list %s. Add it to the section of the task that it helps with", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
