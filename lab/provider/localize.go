// Package provider keeps the releases of Cluster API providers in a local clusterctl repository, with webhooks that lead to
// managers which run as processes on this machine. Nothing else of a release is changed.
package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Webhooks say where the API server reaches the manager's webhook server.
type Webhooks struct {
	// Port on 127.0.0.1.
	Port int
	// CABundle verifies the serving certificate, PEM.
	CABundle []byte
}

// LocalizeWebhooks leads webhooks and conversions to the manager.
func LocalizeWebhooks(objects []*unstructured.Unstructured, w Webhooks) ([]*unstructured.Unstructured, error) {
	var local []*unstructured.Unstructured
	for _, object := range objects {
		object = object.DeepCopy()
		var err error
		switch object.GetKind() {
		case "CustomResourceDefinition":
			err = localizeConversion(object, w)
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			err = localizeWebhooks(object, w)
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
		local = append(local, object)
	}
	return local, nil
}

func localizeConversion(crd *unstructured.Unstructured, w Webhooks) error {
	fields := []string{"spec", "conversion", "webhook", "clientConfig"}
	if _, ok, _ := unstructured.NestedMap(crd.Object, fields...); !ok {
		return nil
	}
	return unstructured.SetNestedMap(crd.Object, w.clientConfig("/convert"), fields...)
}

func localizeWebhooks(configuration *unstructured.Unstructured, w Webhooks) error {
	webhooks, ok, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || !ok {
		return err
	}
	for i := range webhooks {
		webhook, ok := webhooks[i].(map[string]any)
		if !ok {
			return fmt.Errorf("webhooks[%d]: is a %T, want an object", i, webhooks[i])
		}
		path, ok, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil || !ok {
			return fmt.Errorf("webhooks[%d].clientConfig.service.path: is missing", i)
		}
		webhook["clientConfig"] = w.clientConfig(path)
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}

func (w Webhooks) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      fmt.Sprintf("https://127.0.0.1:%d/%s", w.Port, strings.TrimPrefix(path, "/")),
		"caBundle": base64.StdEncoding.EncodeToString(w.CABundle),
	}
}

// DecodeDocuments reads a stream of YAML documents.
func DecodeDocuments(raw []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(raw), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

// EncodeDocuments writes a stream of YAML documents.
func EncodeDocuments(objects []*unstructured.Unstructured) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range objects {
		raw, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		out.WriteString("---\n")
		out.Write(raw)
	}
	return out.Bytes(), nil
}
