package crd_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// schemaOf returns the schema of the kind with the plural name at a path, where "[]" means the items of a list.
func schemaOf(t *testing.T, plural, path string) apiextensionsv1.JSONSchemaProps {
	t.Helper()
	crdClient, err := client.New(environment.Config, client.Options{Scheme: crdScheme()})
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := crdClient.Get(t.Context(), client.ObjectKey{Name: plural + "." + infrav1.GroupVersion.Group}, crd); err != nil {
		t.Fatal(err)
	}
	schema := *crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, name := range strings.Split(path, ".") {
		field, isList := strings.CutSuffix(name, "[]")
		below, ok := schema.Properties[field]
		if !ok {
			t.Fatalf("%s has no %s of %s", plural, name, path)
		}
		schema = below
		if isList {
			schema = *schema.Items.Schema
		}
	}
	return schema
}

// TestRequiredFields checks the required fields, which dry runs without the webhook and linters ask for. The webhook sets fields that
// have a default, and sets some of the others to empty values, which other rules cover.
func TestRequiredFields(t *testing.T) {
	const subnets = "spec.networkSpec.subnets[]"
	for _, tc := range []struct {
		plural, path string
		want         []string
	}{
		{"azureclusters", "spec", []string{"location"}},
		{"azureclusters", "spec.extendedLocation", []string{"name", "type"}},
		{"azureclusters", "spec.networkSpec.vnet.peerings[]", []string{"remoteVnetName"}},
		{"azureclusters", subnets, []string{"name", "role"}},
		{"azureclusters", subnets + ".securityGroup.securityRules[]", []string{"description", "name", "priority", "protocol"}},
		{"azureclusters", subnets + ".serviceEndpoints[]", []string{"locations", "service"}},
		{"azureclusters", subnets + ".privateEndpoints[]", []string{"name", "privateLinkServiceConnections"}},
		{"azureclusters", subnets + ".privateEndpoints[].privateLinkServiceConnections[]", []string{"privateLinkServiceID"}},
		{"azureclusters", "spec.networkSpec.apiServerLB.frontendIPs[]", []string{"name"}},
		{"azureclustertemplates", "spec.template.spec", []string{"location"}},
		{"azuremachines", "spec", []string{"osDisk", "vmSize"}},
		{"azuremachines", "spec.osDisk", []string{"osType"}},
		{"azuremachines", "spec.osDisk.diffDiskSettings", []string{"option"}},
		{"azuremachines", "spec.dataDisks[]", []string{"diskSizeGB", "nameSuffix"}},
		{"azuremachines", "spec.diagnostics.boot", []string{"storageAccountType"}},
		{"azuremachinetemplates", "spec.template.spec", []string{"osDisk", "vmSize"}},
		{"azuremachinepools", "spec", []string{"location", "template"}},
		{"azuremachinepools", "spec.template", []string{"osDisk", "vmSize"}},
		{"azuremachinepoolmachines", "spec", []string{"providerID"}},
	} {
		required := slices.Sorted(slices.Values(schemaOf(t, tc.plural, tc.path).Required))
		if diff := cmp.Diff(tc.want, required); diff != "" {
			t.Errorf("%s of %s: -want +got\n%s", tc.path, tc.plural, diff)
		}
	}
}

// TestListKeys checks how server-side apply merges lists: this must not change, because appliers own entries.
func TestListKeys(t *testing.T) {
	const subnets = "spec.networkSpec.subnets"
	for path, want := range map[string]string{
		subnets:                                           "map[name]",
		subnets + "[].privateEndpoints":                   "map[name]",
		subnets + "[].serviceEndpoints":                   "map[service]",
		subnets + "[].securityGroup.securityRules":        "map[name]",
		subnets + "[].cidrBlocks":                         "atomic[]",
		"spec.networkSpec.apiServerLB.availabilityZones":  "set[]",
		"spec.networkSpec.apiServerLB.frontendIPs":        "atomic[]",
		"spec.networkSpec.vnet.peerings":                  "atomic[]",
		"spec.bastionSpec.azureBastion.subnet.cidrBlocks": "atomic[]",
	} {
		schema := schemaOf(t, "azureclusters", path)
		kind := "atomic"
		if schema.XListType != nil {
			kind = *schema.XListType
		}
		if got := fmt.Sprint(kind, schema.XListMapKeys); got != want {
			t.Errorf("%s is merged as %s, want %s", path, got, want)
		}
	}
}

// TestStorageAccountTypes compares the types of disks with those that the SDK knows, which Azure adds to.
func TestStorageAccountTypes(t *testing.T) {
	var want []string
	for _, known := range armcompute.PossibleDiskStorageAccountTypesValues() {
		want = append(want, string(known))
	}
	for plural, spec := range map[string]string{"azuremachines": "spec", "azuremachinetemplates": "spec.template.spec",
		"azuremachinepools": "spec.template"} {
		for _, disk := range []string{".osDisk", ".dataDisks[]"} {
			var got []string
			for _, value := range schemaOf(t, plural, spec+disk+".managedDisk.storageAccountType").Enum {
				got = append(got, strings.Trim(string(value.Raw), `"`))
			}
			if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))); diff != "" {
				t.Errorf("%s of %s: -SDK +CRD\n%s", disk, plural, diff)
			}
		}
	}
}

// TestNodeInfo writes the node information that the cluster autoscaler reads.
func TestNodeInfo(t *testing.T) {
	for _, object := range []*unstructured.Unstructured{createObject(t, azureMachineTemplate.newObject(t)), createObject(t, azureMachinePool.newObject(t))} {
		for info, want := range map[string][]string{
			`{"architecture":"amd64","operatingSystem":"linux"}`:   nil,
			`{"architecture":"arm64","operatingSystem":"windows"}`: nil,
			`{"architecture":"x64","operatingSystem":"Linux"}`:     {"architecture: Unsupported value", "operatingSystem: Unsupported value"},
		} {
			err := environment.Client.Status().Patch(t.Context(), object.DeepCopy(),
				client.RawPatch(types.MergePatchType, []byte(`{"status":{"nodeInfo":`+info+`}}`)), client.DryRunAll)
			compareCauses(t, row{reason: "the autoscaler knows two of each, by the names of nodes", want: want}, "status.nodeInfo.", err)
		}
	}
}
