package provider

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/pki"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// CoreVersion is Cluster API's version, that of the modules in hack/tools.
const CoreVersion = "v1.14.2"

// InstalledVersion returns the version of a provider that a new lab gets.
func InstalledVersion(s *settings.Settings, m settings.Manager) string {
	if m.Name == settings.Azure.Name {
		return filepath.Base(s.ReleaseDir())
	}
	return CoreVersion
}

// ComponentsFile is where the repository has the components of a provider's version. clusterctl wants exactly
// {base}/{label}/{version}/{file}.
func ComponentsFile(s *settings.Settings, m settings.Manager, version string) string {
	return filepath.Join(s.RepositoryPath(), m.Label, version, m.Components)
}

// WriteRepository puts the releases of all managers of the lab into its repository and points clusterctl's configuration at
// it. The variables are those of templates and of releases; the lab's feature gates are added.
func WriteRepository(s *settings.Settings, variables map[string]string) error {
	ca, err := os.ReadFile(s.JoinPath("pki", pki.CACert))
	if err != nil {
		return err
	}
	configuration := map[string]any{}
	for name, value := range variables {
		configuration[name] = value
	}
	var providers []any
	for _, m := range s.InstalledManagers() {
		releases, err := releasesOf(s, m)
		if err != nil {
			return err
		}
		for _, r := range releases {
			if err := r.writeTo(s, m, ca); err != nil {
				return fmt.Errorf("release %s of %s: %w", r.version, m.Label, err)
			}
		}
		gates, err := gatesOf(s, m, releases)
		if err != nil {
			return err
		}
		for name, value := range gates {
			configuration[name] = value
		}
		providers = append(providers, map[string]any{"name": m.Provider, "type": m.Type, "url": ComponentsFile(s, m, releases[0].version)})
	}
	configuration["providers"] = providers
	raw, err := yaml.Marshal(configuration)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.ClusterctlConfig()), 0o755); err != nil {
		return err
	}
	return files.Replace(s.ClusterctlConfig(), raw, 0o600)
}

// release is one version of a provider.
type release struct {
	version string
	// components as they are published.
	components []byte
	// metadata and templates are files.
	metadata, templates string
}

// releasesOf returns the releases of a provider that the repository has, the newest first: of ours that of `make release`, and the
// one that the lab begins with if it is another.
func releasesOf(s *settings.Settings, m settings.Manager) ([]release, error) {
	if m.Name != settings.Azure.Name {
		raw, err := os.ReadFile(filepath.Join(s.BinaryPath("manifests"), m.Label+".yaml"))
		return []release{{version: CoreVersion, components: raw, metadata: filepath.Join(s.BinaryPath("manifests"), "cluster-api-metadata.yaml")}},
			err
	}
	folders := []string{s.MadeRelease()}
	if s.ReleaseDir() != s.MadeRelease() {
		folders = append(folders, s.ReleaseDir())
	}
	var out []release
	for _, folder := range folders {
		raw, err := os.ReadFile(filepath.Join(folder, m.Components))
		switch {
		case err != nil && folder == s.MadeRelease():
			return nil, fmt.Errorf("%w (make it with `make release`)", err)
		case err != nil:
			return nil, fmt.Errorf("--release %s: %w. Name the folder of a release; `lab up --release=` uses that of `make release`", folder, err)
		}
		out = append(out, release{version: filepath.Base(folder), components: raw, metadata: filepath.Join(folder, "metadata.yaml"),
			templates: folder})
	}
	return out, nil
}

func (r release) writeTo(s *settings.Settings, m settings.Manager, ca []byte) error {
	file := ComponentsFile(s, m, r.version)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	objects, err := DecodeDocuments(r.components)
	if err != nil {
		return err
	}
	local, err := LocalizeWebhooks(objects, Webhooks{Port: s.WebhookPort(m), CABundle: ca})
	if err != nil {
		return err
	}
	components, err := EncodeDocuments(local)
	if err != nil {
		return err
	}
	if err := files.Replace(file, components, 0o644); err != nil {
		return err
	}
	if err := copyFile(r.metadata, filepath.Join(filepath.Dir(file), "metadata.yaml")); err != nil {
		return err
	}
	if r.templates == "" {
		return nil
	}
	return copyTemplates(r.templates, filepath.Dir(file))
}

// copyTemplates copies the flavors, and the ClusterClasses that clusterctl adds to a Cluster that refers to them.
func copyTemplates(from, to string) error {
	for _, pattern := range []string{"cluster-template*.yaml", "clusterclass-*.yaml"} {
		templates, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil {
			return err
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
	return files.Replace(to, raw, 0o644)
}
