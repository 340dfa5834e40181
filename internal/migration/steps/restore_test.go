package steps

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/backup"
)

// TestRestoreDeletedKind checks that a migration back passes over the operator's objects whose definition was deleted since: their objects
// went with it.
func TestRestoreDeletedKind(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers := map[string]any{
			"/api":  metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}},
			"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}},
		}
		answer, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	c, err := client.New(&rest.Config{Host: server.URL}, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	move := &Move{Client: c, Out: out, backup: &backup.Backup{Operator: []backup.OperatorObject{{
		GroupVersionKind: schema.GroupVersionKind{Group: "resources.azure.com", Version: "v1api20200601storage", Kind: "ResourceGroup"},
		Namespace:        "default", Name: "one", UID: "1",
	}}}}
	if err := move.restoreOperatorObjects(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := "      not restored: ResourceGroup default/one\n"; out.String() != want {
		t.Errorf("output %q, want %q", out, want)
	}
}
