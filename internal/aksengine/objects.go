package aksengine

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/manifest"
)

// Groups of kinds that the manifests refer to.
const (
	bootstrapGroup    = "bootstrap.cluster.x-k8s.io"
	controlPlaneGroup = "controlplane.cluster.x-k8s.io"
	coreGroup         = "cluster.x-k8s.io"
	contractVersion   = "v1beta2"
)

func (c *conversion) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: c.Namespace, Name: name}
}

func newInfraType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: infrav1.GroupVersion.String(), Kind: kind}
}

func newType(group, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: group + "/" + contractVersion, Kind: kind}
}

// Manifests returns the objects as users apply them.
func (r Result) Manifests() ([]map[string]any, error) {
	var out []map[string]any
	for _, object := range r.Objects {
		content, err := manifest.Content(object)
		if err != nil {
			return nil, err
		}
		out = append(out, content)
	}
	return out, nil
}

// YAML returns the manifests as one file.
func (r Result) YAML() ([]byte, error) { return manifest.EncodeYAML(r.Objects) }
