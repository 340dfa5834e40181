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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestForEach lists the metadata of ConfigMaps from an API server with two pages.
func TestForEach(t *testing.T) {
	var requests []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		requests = append(requests, fmt.Sprintf("%s limit=%s continue=%s", r.URL.Path, query.Get("limit"), query.Get("continue")))
		list := metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "meta.k8s.io/v1", Kind: "PartialObjectMetadataList"}}
		name := "second"
		if query.Get("continue") == "" {
			name, list.Continue = "first", "more"
		}
		list.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: name}}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	}))
	defer server.Close()
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	c, err := client.New(&rest.Config{Host: server.URL}, client.Options{Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	newList := func() *metav1.PartialObjectMetadataList {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
		return list
	}
	var got []string
	err = ForEach(t.Context(), c, newList(), func(object client.Object) error {
		got = append(got, object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName())
		return nil
	}, client.InNamespace("team"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ConfigMap first", "ConfigMap second"}, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	path := "/api/v1/namespaces/team/configmaps limit=500 continue="
	if diff := cmp.Diff([]string{path, path + "more"}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	failure := errors.New("no more")
	if err := ForEach(t.Context(), c, newList(), func(client.Object) error { return failure }); err != failure || len(requests) != 3 {
		t.Errorf("an error of the function leads to %v after %d requests", err, len(requests))
	}
}
