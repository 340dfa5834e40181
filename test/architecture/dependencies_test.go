package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependencies makes sure that docs/design/dependencies.md gives a reason for every direct dependency, and for
// nothing that go.mod does not have.
func TestDependencies(t *testing.T) {
	goMod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	direct := map[string]bool{}
	for line := range strings.Lines(string(goMod)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.Contains(fields[0], ".") && strings.HasPrefix(fields[1], "v") {
			direct[fields[0]] = len(fields) == 2
		}
	}
	page, err := os.ReadFile("../../docs/design/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	described := map[string]bool{}
	for _, match := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		described[match[1]] = true
		if _, ok := direct[match[1]]; !ok {
			t.Errorf("docs/design/dependencies.md describes %s, which go.mod does not have", match[1])
		}
	}
	for name, isDirect := range direct {
		if isDirect && !described[name] {
			t.Errorf("docs/design/dependencies.md: add the purpose of %s and the packages that may import it", name)
		}
	}
}

// differingVersions are the libraries of which a module has another version than the provider and the tools, by module and with the reason. They
// are small, and little is built on them.
var differingVersions = map[string]map[string]string{
	"test/installation": {
		"github.com/BurntSushi/toml":       "helm needs a newer one",
		"github.com/Masterminds/semver/v3": "helm needs a newer one",
		"sigs.k8s.io/cluster-api":          "the operator is written for an older one",
		"k8s.io/kubectl":                   "the tools have the same by a replace directive",
	},
	"test/signals": {
		"github.com/felixge/httpsnoop":                                  "Prometheus needs a newer one",
		"github.com/go-openapi/jsonpointer":                             "Prometheus needs a newer one",
		"github.com/go-openapi/swag/jsonname":                           "Prometheus needs a newer one",
		"github.com/go-viper/mapstructure/v2":                           "Prometheus needs a newer one",
		"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp": "Prometheus needs a newer one",
		"golang.org/x/exp":                                              "Prometheus needs a newer one",
		"google.golang.org/genproto/googleapis/rpc":                     "Prometheus needs a newer one",
	},
}

// rarelyBuilt are the modules that make test does not build, so that their libraries may differ.
var rarelyBuilt = []string{"hack/tools/azapi", "hack/tools/azuredisk", "hack/tools/lint", "hack/tools/vuln"}

// TestModulesShareLibraries makes sure that the modules agree on the versions of their libraries. Two versions of a library are compiled twice, and
// with them all packages that use it: that was a fifth of all packages.
func TestModulesShareLibraries(t *testing.T) {
	requirement := regexp.MustCompile(`(?m)^(?:\t|require )(\S+\.\S+/\S+) (v\S+)`)
	type use struct{ module, version string }
	first, differing := map[string]use{}, map[string]map[string]bool{}
	for _, module := range listModules(t) {
		raw, err := os.ReadFile(filepath.Join("..", "..", module, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range requirement.FindAllStringSubmatch(string(raw), -1) {
			library, version := match[1], match[2]
			known, ok := first[library]
			switch {
			case !ok:
				first[library] = use{module, version}
			case known.version == version || strings.HasPrefix(library, "sigs.k8s.io/cluster-api-provider-azure"): // ours are folders
			case differingVersions[module][library] == "":
				t.Errorf("%s/go.mod has %s %s, %s/go.mod has %s: use one version, or add the reason to differingVersions", module, library, version,
					known.module, known.version)
			default:
				if differing[module] == nil {
					differing[module] = map[string]bool{}
				}
				differing[module][library] = true
			}
		}
	}
	for module, libraries := range differingVersions {
		for library := range libraries {
			if !differing[module][library] {
				t.Errorf("%s has the same version of %s as the others: remove it from differingVersions", module, library)
			}
		}
	}
}

// listModules returns the folders of all modules but the rarely built ones, those of the provider and the tools first.
func listModules(t *testing.T) []string {
	t.Helper()
	out := []string{".", "hack/tools"}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), ".") || entry.IsDir() && entry.Name() == "bin" {
			return fs.SkipDir
		}
		if entry.Name() != "go.mod" {
			return nil
		}
		module, err := filepath.Rel(root, filepath.Dir(path))
		if module = filepath.ToSlash(module); !slices.Contains(out, module) && !slices.Contains(rarelyBuilt, module) {
			out = append(out, module)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
