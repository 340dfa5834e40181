package folder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckVersion(t *testing.T) {
	for name, test := range map[string]struct {
		reason, version string
		// refused are words of the message, none if the version is taken.
		refused []string
	}{
		"release":        {reason: "the usual", version: "v2.0.0"},
		"candidate":      {reason: "clusterctl installs those when they are named", version: "v2.0.1-rc.1"},
		"without v":      {"clusterctl looks for folders whose names begin with it", "2.0.0", []string{"VERSION=2.0.0", "v2.1.0"}},
		"empty":          {"a variable that is not set", "", []string{"VERSION=:", "v2.1.0"}},
		"two numbers":    {"clusterctl wants three", "v2.0", []string{"VERSION=v2.0:", "v2.1.0"}},
		"leading zero":   {"it is no semantic version", "v2.0.01", []string{"VERSION=v2.0.01:"}},
		"build metadata": {"tags of images have no +", "v2.0.0+dirty", []string{"VERSION=v2.0.0+dirty:"}},
		"path":           {"it becomes the name of a folder that is replaced", "v2.0.0/../..", []string{"VERSION=v2.0.0/../..:"}},
		"line":           {"text after a line's end counts, too", "v2.0.0\nv", []string{"VERSION="}},
		"unknown series": {"without the check only users would see clusterctl's error", "v2.1.0",
			[]string{"VERSION=v2.1.0", "metadata.yaml", "{major: 2, minor: 1, contract"}},
	} {
		t.Run(name, func(t *testing.T) {
			err := CheckVersion(checkout(t), test.version)
			if (err != nil) != (len(test.refused) > 0) {
				t.Fatalf("%s: %v", test.reason, err)
			}
			for _, words := range test.refused {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%s: %q lacks %q", test.reason, err, words)
				}
			}
		})
	}
}

// checkout returns the root of the repository.
func checkout(t *testing.T) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(here, "..", "..", "..")
}
