// Command formerversions has CRDs serve the deprecated versions in which objects of their kinds were stored: an API server
// refuses a CRD without a version that it may have stored. The schema of such a version is that of the one which is stored.
//
//	go run ./hack/formerversions CRDS
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// former are the versions by the beginning of the kind.
var former = map[string]string{"AzureASOManaged": "v1alpha1"}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./hack/formerversions CRDS")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(directory string) error {
	files, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return err
	}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return err
		}
		with, err := add(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if with == nil {
			continue
		}
		if err := os.WriteFile(name, with, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// add returns a CRD with the former version of its kind, nil for one that has none. The CRD has one version.
func add(raw []byte) ([]byte, error) {
	var crd map[string]any
	if err := yaml.Unmarshal(raw, &crd); err != nil {
		return nil, err
	}
	spec, _ := crd["spec"].(map[string]any)
	names, _ := spec["names"].(map[string]any)
	kind, _ := names["kind"].(string)
	for begin, version := range former {
		if !strings.HasPrefix(kind, begin) {
			continue
		}
		versions, _ := spec["versions"].([]any)
		if len(versions) != 1 {
			return nil, fmt.Errorf("%s has %d versions, want the one that is stored", kind, len(versions))
		}
		stored, _ := versions[0].(map[string]any)
		other := map[string]any{}
		for key, value := range stored {
			other[key] = value
		}
		other["name"], other["storage"] = version, false
		other["deprecated"] = true
		other["deprecationWarning"] = fmt.Sprintf("%s/%s %s is deprecated; use %[1]s/%[4]s %[3]s", spec["group"], version, kind, stored["name"])
		spec["versions"] = append(versions, other)
		out, err := yaml.Marshal(crd)
		return append([]byte("---\n"), out...), err
	}
	return nil, nil
}
