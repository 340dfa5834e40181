package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
)

const (
	resourceManager = "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/"
	aksModule       = resourceManager + "containerservice/armcontainerservice/v8"
	// beta is the release whose clients speak the preview api-version.
	beta = "v8.3.0-beta.1"
	// notesPath is where the notes on properties go.
	notesPath = "internal/plan/aks/armschema/notes.json"
)

// kinds are the SDK's types of the bodies that have notes.
var kinds = []string{"AgentPool", "ManagedCluster"}

func main() {
	root := flag.String("root", ".", "directory of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "armschema:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate gives the files by the path of their file.
func generate(root string) (map[string][]byte, error) {
	required, err := requiredVersion(filepath.Join(root, "go.mod"), aksModule)
	if err != nil {
		return nil, err
	}
	stable, err := readSDK(aksModule, required)
	if err != nil {
		return nil, err
	}
	preview, err := readSDK(aksModule, beta)
	if err != nil {
		return nil, err
	}
	out, err := generateSpellings(root)
	if err != nil {
		return nil, err
	}
	notes := map[string][]note{}
	for _, kind := range kinds {
		if notes[kind], err = merge(stable.properties(kind), preview.properties(kind)); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
	}
	out[notesPath], err = render(stable.source, preview.source, notes)
	return out, err
}

func requiredVersion(path, module string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	match := regexp.MustCompile(regexp.QuoteMeta(module) + ` (v\S+)`).FindSubmatch(content)
	if match == nil {
		return "", fmt.Errorf("%s does not require %s", path, module)
	}
	return string(match[1]), nil
}

// download gives the directory of a module version in the module cache.
func download(module, version string) (string, error) {
	command := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	// Outside of the repository, so that no go.mod or go.sum changes.
	command.Dir = os.TempDir()
	out, err := command.Output()
	var answer struct{ Dir, Error string }
	if parse := json.Unmarshal(out, &answer); parse == nil && answer.Dir != "" {
		return answer.Dir, nil
	}
	return "", fmt.Errorf("go mod download %s@%s: %w", module, version, errors.Join(err, errors.New(answer.Error)))
}
