package flavors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// RepositoryRoot returns the folder of this repository.
func RepositoryRoot(t *testing.T) string {
	t.Helper()
	root, err := harness.ModuleDir("")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

// RunProgram runs a program of bin/ without the environment of the caller, except for the variables, and returns its
// output.
func RunProgram(t *testing.T, variables map[string]string, program string, arguments ...string) []byte {
	t.Helper()
	out, err := TryRun(t, variables, program, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TryRun is Run that returns what went wrong, with the program's messages.
func TryRun(t *testing.T, variables map[string]string, program string, arguments ...string) ([]byte, error) {
	t.Helper()
	path := filepath.Join(RepositoryRoot(t), "bin", program)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("no %s in bin: run `make tools`", program)
	}
	command := exec.CommandContext(t.Context(), path, arguments...)
	command.Dir = RepositoryRoot(t)
	home := t.TempDir()
	command.Env = []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "CLUSTERCTL_DISABLE_VERSIONCHECK=true", "GOPROXY=off"}
	for name, value := range variables {
		command.Env = append(command.Env, name+"="+value)
	}
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("%s %q: %w\n%s", program, arguments, err, messages.String())
	}
	return out.Bytes(), nil
}

// RenderTemplate returns what clusterctl makes of a template of the folder templates with these variables and no others.
func RenderTemplate(t *testing.T, template string, variables map[string]string) []byte {
	t.Helper()
	return RunProgram(t, variables, "clusterctl", "generate", "yaml", "--from", filepath.Join("templates", template))
}

// DecodeManifest returns the objects of a manifest.
func DecodeManifest(manifest []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifest), 4096)
	var objects []*unstructured.Unstructured
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("object %d: %w", len(objects)+1, err)
		}
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		// This way numbers stay integers.
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("object %d: %w", len(objects)+1, err)
		}
		objects = append(objects, object)
	}
}
