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
	// directory is where the tables of properties go.
	directory = "internal/plan/managed/armschema"
)

// kinds are the tables to write: the file's name and the SDK's type of the body.
var kinds = map[string]string{"managedcluster.json": "ManagedCluster", "agentpool.json": "AgentPool"}

func main() {
	root := flag.String("root", ".", "directory of the repository")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "armschema:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	tables, err := generate(root)
	if err != nil {
		return err
	}
	for name, content := range tables {
		if err := os.WriteFile(filepath.Join(root, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate gives the tables by the path of their file.
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
	for name, kind := range kinds {
		var properties []property
		if properties, err = merge(stable.properties(kind), preview.properties(kind)); err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		if out[filepath.Join(directory, name)], err = render(stable.source, preview.source, properties); err != nil {
			return nil, err
		}
	}
	return out, nil
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
