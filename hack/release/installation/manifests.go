package installation

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// defaulted is a variable of clusterctl with its default, which may be in quotes.
var defaulted = regexp.MustCompile(`\$\{[A-Z0-9_]+:=([^}]*)\}`)

// WithDefaults returns components with the defaults of their variables, for kubectl apply.
func WithDefaults(components []byte) []byte { return defaulted.ReplaceAll(components, []byte("$1")) }

// imageLine is a line of a manifest with an image.
var imageLine = regexp.MustCompile(`(?m)^\s*(?:- )?image: (\S+)$`)

// ListImages returns the images of components, one in each line.
func ListImages(components []byte) []byte {
	var images []string
	for _, match := range imageLine.FindAllSubmatch(components, -1) {
		images = append(images, string(match[1]))
	}
	slices.Sort(images)
	return []byte(strings.Join(slices.Compact(images), "\n") + "\n")
}

// OperatorProvider returns the object by which the Cluster API operator installs a release from a ConfigMap.
// Source: https://kubernetes-sigs.github.io/cluster-api-operator/topics/configuration/air-gapped-environtment.html
func OperatorProvider(version string) ([]byte, error) {
	return yaml.Marshal(object{
		"apiVersion": "operator.cluster.x-k8s.io/v1alpha2", "kind": "InfrastructureProvider",
		"metadata": object{"name": "azure", "namespace": "capz-system"},
		"spec": object{"version": version, "fetchConfig": object{"selector": object{"matchLabels": object{
			"provider.cluster.x-k8s.io/name": "azure", "provider.cluster.x-k8s.io/type": "infrastructure"}}}},
	})
}
