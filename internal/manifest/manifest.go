// Package manifest writes objects as the manifests that users apply. It is pure. Package preview/manifests reads manifests.
package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Content returns an object without the fields that the API server sets: the status and the time of creation.
func Content(object any) (map[string]any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	var content map[string]any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf("%T: %w", object, err)
	}
	delete(content, "status")
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return content, nil
}

// EncodeYAML returns the contents of objects as one file.
func EncodeYAML[T any](objects []T) ([]byte, error) {
	var documents [][]byte
	for _, object := range objects {
		content, err := Content(object)
		if err != nil {
			return nil, err
		}
		raw, err := yaml.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("%T: %w", object, err)
		}
		documents = append(documents, raw)
	}
	return bytes.Join(documents, []byte("---\n")), nil
}
