package maxima_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

func TestQuantity(t *testing.T) {
	tests := map[string]struct{ reason, object, want string }{
		"price":          {"as users write it", `{"spec":{"spotVMOptions":{"maxPrice":"0.25"}}}`, ""},
		"no limit":       {"as Azure has it", `{"maxPrice":"-1"}`, ""},
		"number":         {"the API server has read it", `{"maxPrice":-1}`, ""},
		"suffix":         {"Kubernetes' own", `{"cloudProviderRateLimitQPS":"1500m"}`, ""},
		"exponent":       {"one that is read at once", `{"maxPrice":"1e3"}`, ""},
		"huge":           {"its zeros fill the memory", `{"maxPrice":"12345678901234567890123e999999999"}`, "maxPrice"},
		"tiny":           {"so do those of a fraction", `{"spotMaxPrice": "1.5E-99999999"}`, "spotMaxPrice"},
		"fraction in it": {"the schema's pattern allows it", `{"maxPrice":"1e9.9"}`, "maxPrice"},
		"escaped":        {"JSON has more ways to write a letter", `{"maxPrice":"1\u0065999999999"}`, "maxPrice"},
		"long":           {"digits take memory, too", `{"maxPrice":"` + strings.Repeat("1", 100) + `"}`, "maxPrice"},
		"second": {"the first one is fine", `{"a":{"maxPrice":"1"},"b":{"cloudProviderBackoffJitter":"1e12345"}}`,
			"cloudProviderBackoffJitter"},
		"name of a thing":  {"it is no quantity", `{"metadata":{"name":"1e999999999"}}`, ""},
		"value of a label": {"neither is this", `{"labels":{"price":"1e999999999"}}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := maxima.FindHugeQuantity([]byte(test.object)); got != test.want {
				t.Errorf("%s: names %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// TestEveryQuantityIsChecked finds quantities in the schemas that no check covers.
func TestEveryQuantityIsChecked(t *testing.T) {
	files, err := filepath.Glob("../../../config/crd/bases/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var missed, seen []string
	var walk func(name string, schema apiextensionsv1.JSONSchemaProps)
	walk = func(name string, schema apiextensionsv1.JSONSchemaProps) {
		// Numbers with a percent sign have no exponents.
		if schema.XIntOrString && strings.Contains(schema.Pattern, "[eE]") {
			seen = append(seen, name)
			if maxima.FindHugeQuantity([]byte(`{"`+name+`":"1e999999999"}`)) != name {
				missed = append(missed, name)
			}
		}
		for property, below := range schema.Properties {
			walk(property, below)
		}
		if schema.Items != nil && schema.Items.Schema != nil {
			walk(name, *schema.Items.Schema)
		}
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(raw, &crd); err != nil {
			t.Fatal(err)
		}
		walk("spec", crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"])
	}
	if len(seen) == 0 {
		t.Error("there are no quantities in any schema")
	}
	slices.Sort(missed)
	if missed = slices.Compact(missed); len(missed) > 0 {
		t.Errorf("quantities that may be of any size: %q", missed)
	}
}
