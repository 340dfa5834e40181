package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ReadStored returns the custom resource as etcd has it: with fields that its definition does not know, and before any default.
func (s *Stage) ReadStored(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.T.Helper()
	var answer struct {
		Kvs []struct {
			Value []byte `json:"value"`
		} `json:"kvs"`
	}
	s.callEtcd("range", map[string]any{"key": []byte(s.storedKey(object))}, &answer)
	if len(answer.Kvs) != 1 {
		s.T.Fatalf("%s %s is not stored", object.GetKind(), object.GetName())
	}
	stored := &unstructured.Unstructured{}
	if err := json.Unmarshal(answer.Kvs[0].Value, &stored.Object); err != nil {
		s.T.Fatal(err)
	}
	return stored
}

// WriteStored puts a custom resource into etcd as it is, past the API server, its definition and webhooks: an object that a
// provider from before an upgrade has left.
func (s *Stage) WriteStored(object *unstructured.Unstructured) {
	s.T.Helper()
	object = object.DeepCopy()
	// The API server takes it from etcd.
	object.SetResourceVersion("")
	raw, err := json.Marshal(object.Object)
	if err != nil {
		s.T.Fatal(err)
	}
	s.callEtcd("put", map[string]any{"key": []byte(s.storedKey(object)), "value": raw}, &struct{}{})
}

func (s *Stage) storedKey(object *unstructured.Unstructured) string {
	s.T.Helper()
	gvk := object.GroupVersionKind()
	mapping, err := s.Client.RESTMapper().RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		s.T.Fatal(err)
	}
	return strings.Join([]string{"/registry", gvk.Group, mapping.Resource.Resource, object.GetNamespace(), object.GetName()}, "/")
}

// callEtcd speaks to etcd through its gateway for JSON: https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/
func (s *Stage) callEtcd(what string, question, answer any) {
	s.T.Helper()
	raw, err := json.Marshal(question)
	if err != nil {
		s.T.Fatal(err)
	}
	ctx, cancel := s.withPatience()
	defer cancel()
	url := s.Environment.envtest.ControlPlane.Etcd.URL.JoinPath("v3", "kv", what).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		s.T.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil {
		s.T.Fatalf("etcd: %s: %v", what, err)
	}
}
