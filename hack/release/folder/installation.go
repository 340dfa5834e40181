package folder

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/hack/release/installation"
)

// installation returns the files for installations without clusterctl: with kubectl, Helm and the Cluster API operator, and the list of images.
func (r *Release) installation(ctx context.Context, components []byte) (map[string][]byte, error) {
	monitoring, err := r.build(ctx, func(relative func(string) (string, error)) (map[string]any, error) {
		path, err := relative(filepath.Join(r.Root, "config", "components", "monitoring"))
		return map[string]any{"components": []string{path}}, err
	})
	if err != nil {
		return nil, err
	}
	files, err := installation.ChartFiles(installation.Source{Version: r.Version, Components: components, Monitoring: monitoring})
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	archive, err := installation.ChartArchive(files)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	provider, err := installation.OperatorProvider(r.Version)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		"install.yaml": installation.WithDefaults(components),
		installation.ChartName + "-" + strings.TrimPrefix(r.Version, "v") + ".tgz": archive,
		"infrastructure-provider.yaml":                                             provider, "images.txt": installation.ListImages(components),
	}, nil
}
