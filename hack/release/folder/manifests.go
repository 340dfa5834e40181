package folder

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/image"
)

// placeholder is the image that config/manager names, without a tag. Its host is of the domain that is reserved for
// examples (RFC 2606), so that no node pulls an image from there by accident.
const placeholder = "registry.example/" + image.Repository

// manifests returns the files that clusterctl and az read, by name.
func (r *Release) manifests(ctx context.Context, digest string) (map[string][]byte, error) {
	components, err := r.components(ctx, digest)
	if err != nil {
		return nil, err
	}
	files, err := r.installation(ctx, components)
	if err != nil {
		return nil, err
	}
	files["infrastructure-components.yaml"] = components
	// A release is one folder, so files of subfolders get the name of their folder as a prefix.
	for pattern, prefix := range map[string]string{
		"metadata.yaml": "", "templates/cluster-template*.yaml": "", "templates/clusterclass-*.yaml": "",
		"templates/azure-roles/*.json": "azure-role-", "config/gitops/*.yaml": "",
		"config/components/monitoring/[^k]*.*": "monitoring-", "config/components/monitoring/kube-state-metrics.yaml": "monitoring-",
	} {
		found, err := filepath.Glob(filepath.Join(r.Root, pattern))
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no %s", r.Root, pattern)
		}
		for _, path := range found {
			if files[prefix+filepath.Base(path)], err = os.ReadFile(path); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// components are config/default with the image of the release.
func (r *Release) components(ctx context.Context, digest string) ([]byte, error) {
	out, err := r.build(ctx, func(relative func(string) (string, error)) (map[string]any, error) {
		base, err := relative(filepath.Join(r.Root, "config", "default"))
		released := map[string]any{"name": placeholder, "newName": r.Registry + "/" + image.Repository, "newTag": r.Version, "digest": digest}
		return map[string]any{"resources": []string{base}, "images": []any{released}}, err
	})
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(out, []byte("@"+digest)); n != 1 {
		return nil, fmt.Errorf("config/default names the image %s %d times, want once", placeholder, n)
	}
	return out, nil
}

// build returns the objects of a kustomization. describe gets a function that returns the path of a folder as the kustomization has to name it.
func (r *Release) build(ctx context.Context, describe func(relative func(string) (string, error)) (map[string]any, error)) ([]byte, error) {
	// kustomize reads a kustomization from a folder, and its resources by relative paths.
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp(r.Out, ".components-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	kustomization, err := describe(func(path string) (string, error) { return relative(folder, path) })
	if err != nil {
		return nil, err
	}
	raw, err := yaml.Marshal(kustomization)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, "kustomization.yaml"), raw, 0o644); err != nil {
		return nil, err
	}
	var messages bytes.Buffer
	command := exec.CommandContext(ctx, r.Kustomize, "build", folder)
	command.Stderr = &messages
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("kustomize build: %w: %s", err, strings.TrimSpace(messages.String()))
	}
	return out, nil
}

// relative returns the path from one folder to another, both with symbolic links resolved, as kustomize does.
func relative(from, to string) (string, error) {
	from, err := filepath.EvalSymlinks(from)
	if err != nil {
		return "", err
	}
	if to, err = filepath.EvalSymlinks(to); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// rootsModule returns the module that has the root certificates, in the version that this module pins.
func rootsModule(ctx context.Context, root string) (module debug.Module, err error) {
	command := exec.CommandContext(ctx, "go", "list", "-m", "-json", "golang.org/x/crypto/x509roots/fallback")
	command.Dir = filepath.Join(root, "hack", "release")
	command.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	raw, err := command.Output()
	if err != nil {
		return debug.Module{}, fmt.Errorf("version of the root certificates: %w", err)
	}
	return module, json.Unmarshal(raw, &module)
}

// sums returns the files' checksums in the form that `sha256sum -c` reads.
func sums(files map[string][]byte) []byte {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&out, "%x  %s\n", sha256.Sum256(files[name]), name)
	}
	return out.Bytes()
}
