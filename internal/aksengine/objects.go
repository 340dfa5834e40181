package aksengine

import (
	"bytes"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
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
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		var content map[string]any
		if err := utiljson.Unmarshal(raw, &content); err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		delete(content, "status")
		out = append(out, content)
	}
	return out, nil
}

// YAML returns the manifests as one file.
func (r Result) YAML() ([]byte, error) {
	manifests, err := r.Manifests()
	if err != nil {
		return nil, err
	}
	var documents [][]byte
	for _, manifest := range manifests {
		raw, err := yaml.Marshal(manifest)
		if err != nil {
			return nil, err
		}
		documents = append(documents, raw)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
