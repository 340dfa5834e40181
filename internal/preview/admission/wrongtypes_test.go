package admission_test

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// namesOfGo matches names of types in errors of Go's decoders.
var namesOfGo = regexp.MustCompile(`Go (struct|value)|json: |unmarshal|v1beta\d\.|metav1|map\[|\[\]|runtime\.|reflect|interface`)

// wrongType is a field with a value of a wrong type.
type wrongType struct {
	path string
	// want is the type of the field, "" if the schema has several.
	want string
	spec any
}

// listWrongTypes returns one wrong value for each field of a schema, however deep. place returns a spec with a value at the field.
func listWrongTypes(path string, schema apiextensionsv1.JSONSchemaProps, place func(any) any) (out []wrongType) {
	wrong := map[string]any{"string": int64(5), "integer": "five", "number": "five", "boolean": "yes", "array": "one", "object": "one"}
	switch {
	case schema.XIntOrString:
		out = append(out, wrongType{path, "", place([]any{})})
	case schema.Type != "":
		out = append(out, wrongType{path, schema.Type, place(wrong[schema.Type])})
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		out = append(out, listWrongTypes(path+"."+name, schema.Properties[name], func(value any) any { return place(map[string]any{name: value}) })...)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		items := *schema.Items.Schema
		first := map[string]any{"string": "a", "integer": int64(1), "object": map[string]any{}}[items.Type]
		out = append(out, listWrongTypes(path+"[1]", items, func(value any) any { return place([]any{first, value}) })...)
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		out = append(out, listWrongTypes(path+"[key]", *schema.AdditionalProperties.Schema,
			func(value any) any { return place(map[string]any{"key": value}) })...)
	}
	return out
}

// TestWrongTypesOfAllFields gives each field of each kind a value of a wrong type. The refusal has the path with the index, the expected type
// and no name of a Go type. None of these fields counts as unknown.
func TestWrongTypesOfAllFields(t *testing.T) {
	stored, err := kubernetes.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*admission.Schema{}
	server, err := admission.New(stored, stored.Scheme(), plan.Features{}, schemas)
	if err != nil {
		t.Fatal(err)
	}
	kinds, fields := 0, 0
	for name, of := range stored.Scheme().KnownTypes(infrav1.GroupVersion) {
		if _, hasSpec := of.FieldByName("Spec"); !hasSpec {
			continue
		}
		kind := infrav1.GroupVersion.WithKind(name)
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		if schemas[name], err = admission.LoadSchema(plural.Resource); err != nil {
			t.Fatal(err)
		}
		kinds++
		for _, wrong := range listWrongTypes("spec", schemas[name].Spec, func(value any) any { return value }) {
			fields++
			object := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(map[string]any{"spec": wrong.spec})}
			object.SetGroupVersionKind(kind)
			object.SetName("m")
			_, err := server.AdmitManifest(t.Context(), nil, object)
			if found := wrongMessage(err, wrong); found != "" {
				t.Errorf("%s %s: %s: %v", name, wrong.path, found, err)
			}
			if unknown := userinput.FindUnknownFields(object.Object, reflect.New(of).Interface()); len(unknown) > 0 {
				t.Errorf("%s %s: the schema has it, but it counts as unknown", name, wrong.path)
			}
		}
	}
	if kinds != 19 || fields < 1000 {
		t.Errorf("%d kinds and %d fields were checked, want 19 and more than 1000", kinds, fields)
	}
	t.Logf("%d fields of %d kinds", fields, kinds)
}

// wrongMessage returns what a refusal lacks.
func wrongMessage(err error, wrong wrongType) string {
	if err == nil {
		return "it is admitted"
	}
	message := err.Error()
	// API servers write keys of maps as fields.
	asField := strings.ReplaceAll(wrong.path, "[key]", ".key")
	if !strings.Contains(message, wrong.path+": ") && !strings.Contains(message, asField+": ") {
		return "the path is missing"
	}
	if wrong.want != "" && !strings.Contains(message, "must be of type "+wrong.want) &&
		!regexp.MustCompile(`must be (a quantity|a duration|a time|a string in base64)`).MatchString(message) {
		return fmt.Sprintf("the expected type %s is missing", wrong.want)
	}
	if found := namesOfGo.FindString(message); found != "" {
		return fmt.Sprintf("it has %q, which is a name of Go", found)
	}
	return ""
}
