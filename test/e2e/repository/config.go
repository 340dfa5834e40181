// Package repository describes the providers of the checkout to the framework of Cluster API: their components, and the templates of the
// specs. BuildTemplates writes files; the rest only reads them.
package repository

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
)

// Versions of the providers: of Cluster API that of the lab, of ours that of `make release`.
const (
	coreVersion     = "v1.14.2"
	ProviderVersion = "v2.0.0"
)

// LoadConfig returns the configuration of the specs in a source tree that has bin/ and out/.
func LoadConfig(root string) (*clusterctl.E2EConfig, error) {
	raw, err := os.ReadFile(filepath.Join(root, "test", "e2e", "config", "e2e.yaml"))
	if err != nil {
		return nil, err
	}
	config := &clusterctl.E2EConfig{ManagementClusterName: "e2e"}
	if err := yaml.UnmarshalStrict(raw, config); err != nil {
		return nil, fmt.Errorf("test/e2e/config/e2e.yaml: %w", err)
	}
	// Cluster API's specs demand that the configuration has them.
	for name := range dataFiles {
		if file := os.Getenv(name); file != "" {
			config.Variables[name] = file
		}
	}
	manifests := filepath.Join(root, "bin", "manifests")
	for _, p := range []struct{ name, kind, file string }{
		{"cluster-api", "CoreProvider", "cluster-api.yaml"},
		{"kubeadm", "BootstrapProvider", "bootstrap-kubeadm.yaml"},
		{"kubeadm", "ControlPlaneProvider", "control-plane-kubeadm.yaml"},
	} {
		config.Providers = append(config.Providers, clusterctl.ProviderConfig{Name: p.name, Type: p.kind, Versions: []clusterctl.ProviderVersionSource{{
			Name: coreVersion, Type: clusterctl.URLSource, Value: filepath.Join(manifests, p.file), Contract: "v1beta2",
			Files: []clusterctl.Files{{SourcePath: filepath.Join(manifests, "cluster-api-metadata.yaml"), TargetName: "metadata.yaml"}},
		}}})
	}
	ours, err := azureProvider(root)
	if err != nil {
		return nil, err
	}
	config.Providers = append(config.Providers, ours)
	config.Defaults()
	return config, config.Validate()
}

func azureProvider(root string) (clusterctl.ProviderConfig, error) {
	release := filepath.Join(root, "out", "infrastructure-azure", ProviderVersion)
	provider := clusterctl.ProviderConfig{Name: "azure", Type: "InfrastructureProvider", Versions: []clusterctl.ProviderVersionSource{{
		Name: ProviderVersion, Type: clusterctl.URLSource, Value: filepath.Join(release, "infrastructure-components.yaml"), Contract: "v1beta2",
		Files: []clusterctl.Files{{SourcePath: filepath.Join(release, "metadata.yaml")}},
	}}}
	for _, pattern := range []string{"cluster-template*.yaml", "clusterclass-*.yaml"} {
		for _, folder := range []string{release, TemplatesDir(root)} {
			files, err := filepath.Glob(filepath.Join(folder, pattern))
			if err != nil {
				return provider, err
			}
			for _, file := range files {
				provider.Files = append(provider.Files, clusterctl.Files{SourcePath: file})
			}
		}
	}
	return provider, nil
}
