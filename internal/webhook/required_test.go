package webhook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

// required are the fields that have a default and that the schema requires all the same, with the reason.
var required = map[string]string{
	"AzureCluster.spec.networkSpec.subnets[].name":                                 "it is the key of the list for server-side apply",
	"AzureCluster.spec.bastionSpec.azureBastion.subnet.name":                       "the subnet has the schema of those in the list",
	"AzureCluster.spec.bastionSpec.azureBastion.subnet.role":                       "the subnet has the schema of those in the list",
	"AzureClusterTemplate.spec.template.spec.bastionSpec.azureBastion.subnet.role": "the subnet has the schema of those in the list",
	"AzureCluster.spec.networkSpec.nodeOutboundLB.frontendIPs[].name": "the frontends are replaced by as many as " +
		"frontendIPsCount has",
	"AzureCluster.spec.networkSpec.controlPlaneOutboundLB.frontendIPs[].name": "the frontends are replaced by as many as " +
		"frontendIPsCount has",
}

// TestDefaultedFieldsAreOptional compares the schemas with what defaulting fills in. An installation without webhooks has the
// schemas, and the manager fills in the same before it plans.
func TestDefaultedFieldsAreOptional(t *testing.T) {
	found := map[string]bool{}
	for _, defaulted := range []struct {
		object   client.Object
		defaults func(client.Object)
	}{
		{&infrav1.AzureCluster{}, func(o client.Object) { defaults.FillAzureCluster(o.(*infrav1.AzureCluster)) }},
		{&infrav1.AzureClusterTemplate{}, func(o client.Object) { defaults.FillAzureClusterTemplate(o.(*infrav1.AzureClusterTemplate)) }},
		{&infrav1.AzureMachine{}, func(o client.Object) { defaults.FillAzureMachine(o.(*infrav1.AzureMachine), "s") }},
		{&infrav1.AzureMachineTemplate{}, func(o client.Object) { defaults.FillAzureMachineTemplate(o.(*infrav1.AzureMachineTemplate)) }},
		{&infrav1.AzureMachinePool{}, func(o client.Object) { defaults.FillAzureMachinePool(o.(*infrav1.AzureMachinePool), "") }},
		{&infrav1.AzureManagedControlPlane{},
			func(o client.Object) { defaults.FillAzureManagedControlPlane(o.(*infrav1.AzureManagedControlPlane)) }},
		{&infrav1.AzureManagedControlPlaneTemplate{}, func(o client.Object) {
			defaults.FillAzureManagedControlPlaneTemplate(o.(*infrav1.AzureManagedControlPlaneTemplate))
		}},
		{&infrav1.AzureManagedMachinePool{},
			func(o client.Object) { defaults.FillAzureManagedMachinePool(o.(*infrav1.AzureManagedMachinePool)) }},
		{&infrav1.AzureManagedMachinePoolTemplate{}, func(o client.Object) {
			defaults.FillAzureManagedMachinePoolTemplate(o.(*infrav1.AzureManagedMachinePoolTemplate))
		}},
	} {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", defaulted.object), "*v1beta1.")
		schema := specSchema(t, kind)
		// Each variant has another value of every enum, or none, because roles and types decide about defaults.
		for variant := range 5 {
			before := sparseValue(schema, variant).(map[string]any)
			raw, err := json.Marshal(map[string]any{"spec": before})
			if err != nil {
				t.Fatal(err)
			}
			obj := defaulted.object.DeepCopyObject().(client.Object)
			if err := json.Unmarshal(raw, obj); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			obj.SetName("c1")
			obj.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1"})
			defaulted.defaults(obj)
			after := map[string]any{}
			if err := json.Unmarshal([]byte(mustJSON(t, obj)), &after); err != nil {
				t.Fatal(err)
			}
			reportFilled(schema, before, after["spec"], kind+".spec", func(path string) { found[path] = true })
		}
	}
	for path := range found {
		if required[path] == "" {
			t.Errorf("%s has a default and is required by the schema: mark it +optional", path)
		}
	}
	for path, reason := range required {
		if !found[path] {
			t.Errorf("%s is no longer required or has no default (%s): remove it from the list", path, reason)
		}
	}
}

func specSchema(t *testing.T, kind string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	return objectSchema(t, kind).Properties["spec"]
}

func objectSchema(t *testing.T, kind string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "config", "crd", "bases",
		"infrastructure.cluster.x-k8s.io_"+strings.ToLower(kind)+"s.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(raw, crd); err != nil {
		t.Fatal(err)
	}
	return crd.Spec.Versions[0].Schema.OpenAPIV3Schema
}

// sparseValue returns a value with every object and list, and with those fields only that have a default or an enumeration
// in the schema.
func sparseValue(schema apiextensionsv1.JSONSchemaProps, variant int) any {
	switch {
	case schema.Default != nil:
		var value any
		if json.Unmarshal(schema.Default.Raw, &value) == nil {
			return value
		}
	case len(schema.Enum) > 0:
		i := variant % (len(schema.Enum) + 1) // The last variant has none.
		var value any
		if i < len(schema.Enum) && json.Unmarshal(schema.Enum[i].Raw, &value) == nil {
			return value
		}
	case schema.Type == "object" && len(schema.Properties) > 0:
		out := map[string]any{}
		for name, below := range schema.Properties {
			if value := sparseValue(below, variant); value != nil {
				out[name] = value
			}
		}
		return out
	case schema.Type == "array" && schema.Items != nil && schema.Items.Schema.Type == "object":
		return []any{sparseValue(*schema.Items.Schema, variant)}
	}
	return nil
}

// reportFilled calls report for each required field that is absent before defaulting and has a value after it.
func reportFilled(schema apiextensionsv1.JSONSchemaProps, before, after any, path string, report func(path string)) {
	switch after := after.(type) {
	case map[string]any:
		before, _ := before.(map[string]any)
		for name, value := range after {
			below, here := schema.Properties[name], path+"."+name
			if slices.Contains(schema.Required, name) && before != nil && before[name] == nil && isScalar(value) && value != "" && value != false &&
				value != 0.0 {
				report(here)
			}
			reportFilled(below, before[name], value, here, report)
		}
	case []any:
		before, _ := before.([]any)
		if schema.Items == nil || len(before) == 0 || len(after) == 0 {
			return
		}
		reportFilled(*schema.Items.Schema, before[0], after[0], path+"[]", report)
	}
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, bool, float64:
		return true
	}
	return false
}
