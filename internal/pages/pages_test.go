package pages

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// apiServer answers requests for ConfigMaps with two pages of one object each. Only the first object has a label.
type apiServer struct{ requests []string }

func (a *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	a.requests = append(a.requests, fmt.Sprintf("%s limit=%s continue=%s", r.URL.Path, query.Get("limit"), query.Get("continue")))
	metadata, item := map[string]any{}, map[string]any{"name": "second"}
	if query.Get("continue") == "" {
		metadata["continue"] = "more"
		item = map[string]any{"name": "first", "labels": map[string]any{"of": "first"}}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": "v1", "kind": "ConfigMapList", "metadata": metadata,
		"items": []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": item}}})
}

// TestForEach lists ConfigMaps with each type of list.
func TestForEach(t *testing.T) {
	list := corev1.SchemeGroupVersion.WithKind("ConfigMapList")
	untyped, metadata := &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}
	untyped.SetGroupVersionKind(list)
	metadata.SetGroupVersionKind(list)
	for name, test := range map[string]struct {
		reason string
		list   client.ObjectList
	}{
		"typed":    {"objects and tokens of a page have no fields of the page before", &corev1.ConfigMapList{}},
		"untyped":  {"objects have the kind of the answer", untyped},
		"metadata": {"objects of an answer with metadata have no kind of their own", metadata},
	} {
		t.Run(name, func(t *testing.T) {
			api := &apiServer{}
			server := httptest.NewServer(api)
			defer server.Close()
			mapper := meta.NewDefaultRESTMapper(nil)
			mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
			c, err := client.New(&rest.Config{Host: server.URL}, client.Options{Mapper: mapper})
			if err != nil {
				t.Fatal(err)
			}
			type object struct {
				Name   string
				Labels map[string]string
			}
			var got []object
			err = ForEach(t.Context(), c, test.list, func(o client.Object) error {
				if kind := o.GetObjectKind().GroupVersionKind().Kind; name != "typed" && kind != "ConfigMap" {
					t.Errorf("the kind is %q", kind)
				}
				if got = append(got, object{o.GetName(), o.GetLabels()}); len(got) > 2 {
					return errors.New("there are more than two objects")
				}
				return nil
			}, client.InNamespace("team"))
			if err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]object{{"first", map[string]string{"of": "first"}}, {Name: "second"}}, got); diff != "" {
				t.Errorf("%s: objects (-want +got):\n%s", test.reason, diff)
			}
			path := "/api/v1/namespaces/team/configmaps limit=500 continue="
			if diff := cmp.Diff([]string{path, path + "more"}, api.requests); diff != "" {
				t.Errorf("%s: requests (-want +got):\n%s", test.reason, diff)
			}
			failure := errors.New("no more")
			if err := ForEach(t.Context(), c, test.list, func(client.Object) error { return failure }); err != failure || len(api.requests) != 3 {
				t.Errorf("an error of the function leads to %v after %d requests", err, len(api.requests))
			}
		})
	}
}
