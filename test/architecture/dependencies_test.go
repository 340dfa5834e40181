package architecture

import (
	"os"
	"path/filepath"
	"regexp"
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
			t.Errorf("docs/design/dependencies.md: say what %s is for and where it may be imported", name)
		}
	}
}

// others are the libraries of which a module has another version than the provider and the tools, and why. They are few and small.
var others = map[string]map[string]string{
	"test/installation": {
		"github.com/BurntSushi/toml":       "helm needs a newer one",
		"github.com/Masterminds/semver/v3": "helm needs a newer one",
		"github.com/clipperhouse/uax29/v2": "the newer one needs a newer runewidth",
		"sigs.k8s.io/cluster-api":          "the operator does not compile with a newer one",
		"k8s.io/kubectl":                   "the tools replace theirs by this one",
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

// TestModulesShareLibraries makes sure that the modules, which have their own lists of libraries, agree on the versions: two versions of one
// library, and all that use it, are compiled twice, which took a fifth of the time of a first build. The programs of `make programs` and the
// linter are left out, because `make test` does not build them.
func TestModulesShareLibraries(t *testing.T) {
	root := filepath.Join("..", "..")
	modules := []string{".", "hack/tools", "hack/tools/ccm", "sim", "lab", "hack/release", "hack/site", "test/e2e", "test/recordings", "test/signals",
		"test/installation", "sim/conformance"}
	requirement := regexp.MustCompile(`(?m)^\s+(\S+\.\S+/\S+) (v\S+)`)
	type use struct{ module, version string }
	first, differing := map[string]use{}, map[string]map[string]bool{}
	for _, module := range modules {
		raw, err := os.ReadFile(filepath.Join(root, module, "go.mod"))
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
			case others[module][library] == "":
				t.Errorf("%s/go.mod has %s %s, %s/go.mod has %s: use one, or say in others why not", module, library, version, known.module, known.version)
			default:
				if differing[module] == nil {
					differing[module] = map[string]bool{}
				}
				differing[module][library] = true
			}
		}
	}
	for module, libraries := range others {
		for library := range libraries {
			if !differing[module][library] {
				t.Errorf("%s has no other version of %s: remove it from others", module, library)
			}
		}
	}
}
