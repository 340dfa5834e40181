package managed_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// notShown are the fields that no snippet has, with the reason.
var notShown = map[string]string{
	"AzureManagedControlPlane.identityRef":          "the flavor sets it; getting-started.md tells of identities",
	"AzureManagedControlPlane.machineTemplate":      "it has no effect",
	"AzureManagedControlPlane.controlPlaneEndpoint": "the provider sets it",
	"AzureManagedMachinePool.providerIDList":        "the provider sets it",
}

// TestBookShowsEveryField compares the snippets with the types: every field that users set is in one of them.
func TestBookShowsEveryField(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, s := range readSnippets(t) {
		for _, d := range s.documents {
			markPaths(shown, d.kind, d.spec)
		}
	}
	var fields []string
	for kind, spec := range map[string]any{
		"AzureManagedControlPlane": infrav1.AzureManagedControlPlaneSpec{},
		"AzureManagedMachinePool":  infrav1.AzureManagedMachinePoolSpec{},
	} {
		fields = append(fields, listLeaves(kind, reflect.TypeOf(spec))...)
	}
	slices.Sort(fields)
	for _, field := range fields {
		if !shown[field] {
			t.Errorf("no snippet shows %s", field)
		}
	}
	t.Logf("%d fields", len(fields))
}

// markPaths marks every path of a value, those of lists without an index.
func markPaths(shown map[string]bool, path string, value any) {
	shown[path] = true
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			markPaths(shown, path+"."+key, inner)
		}
	case []any:
		for _, inner := range v {
			markPaths(shown, path, inner)
		}
	}
}

// listLeaves returns the fields of a type that have no fields themselves, by path.
func listLeaves(path string, typ reflect.Type) []string {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if notShown[path] != "" {
		return nil
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[resource.Quantity]() {
		return []string{path}
	}
	var out []string
	for field := range typ.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		here := path
		if name != "" {
			here += "." + name
		}
		out = append(out, listLeaves(here, field.Type)...)
	}
	return out
}
