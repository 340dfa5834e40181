package recordings

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	yaml "go.yaml.in/yaml/v3"
)

// operator is the module with the recordings. Its version is pinned: the known differences are those of these files.
const operator = "github.com/Azure/azure-service-operator/v2@v2.18.0"

// exchange is one recorded request with its answer.
type exchange struct {
	Recording string
	Method    string
	Path      string
	Body      string
	Status    int
	Answer    string
}

// operatorSource returns the directory of the operator's module in the module cache.
func operatorSource(t *testing.T) string {
	t.Helper()
	raw, err := exec.Command("go", "mod", "download", "-json", operator).Output()
	if err != nil {
		t.Fatalf("go mod download %s: %v\n%s", operator, err, raw)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(raw, &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

// recordings returns all exchanges by file, in the order they were recorded.
func recordings(t *testing.T) map[string][]exchange {
	t.Helper()
	dir := operatorSource(t)
	files, err := filepath.Glob(filepath.Join(dir, "internal", "controllers", "recordings", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	out := map[string][]exchange{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var recording struct {
			Interactions []struct {
				Request struct {
					Body   string `yaml:"body"`
					URL    string `yaml:"url"`
					Method string `yaml:"method"`
				} `yaml:"request"`
				Response struct {
					Body string `yaml:"body"`
					Code int    `yaml:"code"`
				} `yaml:"response"`
			} `yaml:"interactions"`
		}
		if err := yaml.Unmarshal(raw, &recording); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		for _, interaction := range recording.Interactions {
			target, err := url.Parse(interaction.Request.URL)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			out[name] = append(out[name], exchange{Recording: name, Method: interaction.Request.Method, Path: target.Path,
				Body: interaction.Request.Body, Status: interaction.Response.Code, Answer: interaction.Response.Body})
		}
	}
	return out
}
