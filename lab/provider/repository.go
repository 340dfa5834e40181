package provider

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// CoreVersion is Cluster API's version, that of the modules in hack/tools.
const CoreVersion = "v1.14.2"

// Version is the version of a provider in the repository.
func Version(m settings.Manager) string {
	if m.Name == settings.Azure.Name {
		return settings.ProviderVersion
	}
	return CoreVersion
}

// ComponentsFile is where the repository has the components of a provider. clusterctl wants exactly
// {base}/{label}/{version}/{file}.
func ComponentsFile(s *settings.Settings, m settings.Manager) string {
	return filepath.Join(s.Repository(), m.Label, Version(m), m.Components)
}

// WriteRepository renders the components of all managers of the lab into its repository and points clusterctl's
// configuration at it. The variables are those of the templates.
func WriteRepository(ctx context.Context, s *settings.Settings, variables map[string]string) error {
	ca, err := os.ReadFile(s.Path("pki", pki.CACert))
	if err != nil {
		return err
	}
	configuration := map[string]any{}
	for name, value := range variables {
		configuration[name] = value
	}
	var providers []any
	for _, m := range s.InstalledManagers() {
		if err := writeProvider(ctx, s, m, ca); err != nil {
			return fmt.Errorf("components of %s: %w", m.Label, err)
		}
		providers = append(providers, map[string]any{"name": m.Provider, "type": m.Type, "url": ComponentsFile(s, m)})
	}
	configuration["providers"] = providers
	raw, err := yaml.Marshal(configuration)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.ClusterctlConfig()), 0o755); err != nil {
		return err
	}
	return os.WriteFile(s.ClusterctlConfig(), raw, 0o600)
}

func writeProvider(ctx context.Context, s *settings.Settings, m settings.Manager, ca []byte) error {
	file := ComponentsFile(s, m)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	raw, metadata, err := manifests(ctx, s, m)
	if err != nil {
		return err
	}
	objects, err := Decode(raw)
	if err != nil {
		return err
	}
	local, err := Localize(objects, Webhooks{Port: s.WebhookPort(m), CABundle: ca})
	if err != nil {
		return err
	}
	components, err := Encode(local)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, components, 0o644); err != nil {
		return err
	}
	if err := copyFile(metadata, filepath.Join(filepath.Dir(file), "metadata.yaml")); err != nil {
		return err
	}
	if m.Name != settings.Azure.Name {
		return nil
	}
	return copyTemplates(filepath.Join(s.Root, "templates"), filepath.Dir(file))
}

// manifests are a provider's as kustomize renders them, and the file with its metadata.
func manifests(ctx context.Context, s *settings.Settings, m settings.Manager) (raw []byte, metadata string, err error) {
	if m.Name != settings.Azure.Name {
		raw, err = os.ReadFile(filepath.Join(s.Binary("manifests"), m.Label+".yaml"))
		return raw, filepath.Join(s.Binary("manifests"), "cluster-api-metadata.yaml"), err
	}
	var out, errOut bytes.Buffer
	command := exec.CommandContext(ctx, s.Binary("kustomize"), "build", filepath.Join(s.Root, "config", "default"))
	command.Stdout, command.Stderr = &out, &errOut
	if err := command.Run(); err != nil {
		return nil, "", fmt.Errorf("kustomize build config/default: %w: %s", err, strings.TrimSpace(errOut.String()))
	}
	return out.Bytes(), filepath.Join(s.Root, "metadata.yaml"), nil
}

// copyTemplates copies the flavors, and the ClusterClasses that clusterctl adds to a Cluster that refers to them.
func copyTemplates(from, to string) error {
	for _, pattern := range []string{"cluster-template*.yaml", "clusterclass-*.yaml"} {
		templates, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
		}
		if len(templates) == 0 {
			return fmt.Errorf("%s has no %s", from, pattern)
		}
		for _, template := range templates {
			if err := copyFile(template, filepath.Join(to, filepath.Base(template))); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, raw, 0o644)
}
