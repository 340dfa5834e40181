package repository

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// TemplatesDir has the templates of specs that no flavor of the release fits.
func TemplatesDir(root string) string { return filepath.Join(root, "out", "e2e", "templates") }

// BuildTemplates builds the templates of test/e2e/templates with kustomize. A folder with folders in it becomes one template of all of them.
func BuildTemplates(ctx context.Context, root string) error {
	folders, err := filepath.Glob(filepath.Join(root, "test", "e2e", "templates", "*"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(TemplatesDir(root), 0o755); err != nil {
		return err
	}
	for _, folder := range folders {
		parts, err := filepath.Glob(filepath.Join(folder, "*", "kustomization.yaml"))
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			parts = []string{filepath.Join(folder, "kustomization.yaml")}
		}
		var documents []string
		for _, part := range parts {
			out, err := buildKustomization(ctx, root, filepath.Dir(part))
			if err != nil {
				return err
			}
			documents = append(documents, out)
		}
		file := filepath.Join(TemplatesDir(root), "cluster-template-"+filepath.Base(folder)+".yaml")
		if err := os.WriteFile(file, []byte(strings.Join(documents, "---\n")), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func buildKustomization(ctx context.Context, root, folder string) (string, error) {
	// The flavors are outside of the folder.
	command := exec.CommandContext(ctx, filepath.Join(root, "bin", "kustomize"), "build", "--load-restrictor", "LoadRestrictionsNone", folder)
	var messages bytes.Buffer
	command.Stderr = &messages
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("kustomize build %s: %w: %s", folder, err, messages.String())
	}
	return string(out), nil
}
