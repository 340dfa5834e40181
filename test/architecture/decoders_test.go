package architecture

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestCheckDecoders checks code that decodes documents of users by itself.
func TestCheckDecoders(t *testing.T) {
	for name, test := range map[string]struct {
		reason, path, imports, code string
		want                        int
	}{
		"YAML":          {"only people write YAML", "internal/a/a.go", `import "sigs.k8s.io/yaml"`, "var _ = yaml.UnmarshalStrict", 1},
		"YAML out":      {"writing decodes nothing", "internal/a/a.go", `import "sigs.k8s.io/yaml"`, "var _ = yaml.Marshal", 0},
		"model":         {"users write models", "internal/aksengine/a.go", `import "encoding/json"`, "var _ = json.Unmarshal", 1},
		"answer":        {"Azure sends JSON", "internal/facts/a.go", `import "encoding/json"`, "var _ = json.Unmarshal", 0},
		"lab":           {"users can change the settings of a lab", "lab/settings/a.go", `import "encoding/json"`, "var _ = json.NewDecoder", 1},
		"file that may": {"it has a reason", "internal/rights/needed.go", `import "sigs.k8s.io/yaml"`, "var _ = yaml.Unmarshal", 0},
	} {
		files, err := readSource(fstest.MapFS{test.path: {Data: []byte("// Package a promises.\npackage a\n" + test.imports + "\n" + test.code)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := checkDecoders(files); len(got) != test.want {
			t.Errorf("%s: %s: %s", name, test.reason, strings.Join(got, "\n"))
		}
	}
}

// TestOtherDecoders checks that each exception is still one.
func TestOtherDecoders(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	kept := otherDecoders
	otherDecoders = nil
	t.Cleanup(func() { otherDecoders = kept })
	found := strings.Join(checkDecoders(files), "\n")
	for path := range kept {
		if !strings.Contains(found, path+":") && !strings.HasPrefix(path, "internal/userinput/") {
			t.Errorf("%s decodes nothing. Delete its exception", path)
		}
	}
}
