package webhook

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// creation is a row of the tables of creations: an object with its defaults, and the errors for it.
type creation struct {
	object   client.Object
	errs     field.ErrorList
	features plan.Features
}

// listCreations returns the rows of all kinds that have a template with webhooks.
func listCreations() map[string]map[string]creation {
	clusters, machines, controlPlanes, pools := map[string]creation{}, map[string]creation{}, map[string]creation{}, map[string]creation{}
	for name, row := range azureClusterRows() {
		c := newDefaulted(row.changes...)
		clusters[name] = creation{c, ValidateAzureCluster(c, row.features), row.features}
	}
	for name, row := range sshKeyRows() {
		m := newMachine(func(m *infrav1.AzureMachine) { m.Spec.SSHPublicKey = row.key })
		defaults.FillAzureMachine(m, "")
		machines[name] = creation{object: m, errs: ValidateAzureMachine(m)}
	}
	for name, row := range listControlPlaneRows() {
		c := defaultedControlPlane(row.change)
		controlPlanes[name] = creation{object: c, errs: ValidateAzureManagedControlPlane(c, row.cluster)}
	}
	for name, row := range poolRows() {
		p, errs := row.errors()
		pools[name] = creation{object: p, errs: errs}
	}
	return map[string]map[string]creation{"AzureCluster": clusters, "AzureMachine": machines, "AzureManagedControlPlane": controlPlanes,
		"AzureManagedMachinePool": pools}
}

// templateDifferences lists the errors of objects that their templates do not have, by the kind of the object.
var templateDifferences = map[string]map[string]string{
	"AzureCluster": {
		"spec.networkSpec.vnet.peerings[0].remoteVnetName: FieldValueInvalid": "the network of a template has no name, which is in the names of peerings",
		"spec.networkSpec.nodeOutboundLB: FieldValueRequired":                 "controlPlaneEnabled is not in templates, which get the default of clusters with a control plane",
	},
	"AzureManagedControlPlane": {
		"spec.identity.userAssignedIdentityResourceID: FieldValueRequired": "each cluster has an identity of its own: a patch of the ClusterClass adds its ID",
		"spec.dnsServiceIP: FieldValueForbidden":                           "the Cluster has the range of services",
		"spec.dnsServiceIP: FieldValueInvalid":                             "the Cluster has the range of services",
	},
	"AzureManagedMachinePool": {
		"spec.asoManagedClustersAgentPoolPatches[0]: FieldValueInvalid": "the cluster has the version of AKS's API: patches that are valid in any version pass",
	},
}

// templatesWithoutWebhooks lists the templates that no webhook validates.
var templatesWithoutWebhooks = map[string]string{
	"AzureASOManagedClusterTemplate":      "patches of a ClusterClass complete the resource manifests",
	"AzureASOManagedControlPlaneTemplate": "patches of a ClusterClass complete the resource manifests",
	"AzureASOManagedMachinePoolTemplate":  "patches of a ClusterClass complete the resource manifests",
	"AzureManagedClusterTemplate":         "the kind has no rules but those of its schema",
}

// TestTemplatesAreValidatedAsTheirObjects creates the template of each object of the tables. A ClusterClass whose template accepts what every
// object made from it is refused for can be applied, and none of its clusters is created.
func TestTemplatesAreValidatedAsTheirObjects(t *testing.T) {
	creations := listCreations()
	for _, name := range listTemplateKinds(t) {
		kind := strings.TrimSuffix(name, "Template")
		if (len(creations[kind]) == 0) == (templatesWithoutWebhooks[name] == "") {
			t.Errorf("%s needs either rows of %s in listCreations or a reason in templatesWithoutWebhooks", name, kind)
		}
	}
	for kind, rows := range creations {
		schema, used := objectSchema(t, kind+"Template"), map[string]bool{}
		for name, row := range rows {
			t.Run(kind+" "+name, func(t *testing.T) {
				var want []string
				for _, text := range errorPaths(row.errs) {
					inTemplate := strings.Replace(text, "spec.", "spec.template.spec.", 1)
					path, _, _ := strings.Cut(inTemplate, ": ")
					if hasField(schema, path) {
						want = append(want, inTemplate)
					}
				}
				got := templateErrors(t, kind, row)
				want = slices.DeleteFunc(want, func(text string) bool {
					ofObject := strings.Replace(text, "spec.template.", "", 1)
					different := templateDifferences[kind][ofObject] != "" && !slices.Contains(got, text)
					used[ofObject] = used[ofObject] || different
					return different
				})
				sorted := cmpopts.SortSlices(strings.Compare)
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), sorted); diff != "" {
					t.Errorf("the template is validated by other rules: put the rule where both kinds pass, or a reason into templateDifferences: -want +got\n%s",
						diff)
				}
			})
		}
		for text := range templateDifferences[kind] {
			if !used[text] {
				t.Errorf("%s: no row has the difference %s", kind, text)
			}
		}
	}
}

// listTemplateKinds returns the kinds of templates of the API.
func listTemplateKinds(t *testing.T) (out []string) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	for name := range scheme.KnownTypes(infrav1.GroupVersion) {
		if strings.HasSuffix(name, "Template") {
			out = append(out, name)
		}
	}
	if len(out) != len(templatesWithoutWebhooks)+len(listCreations()) {
		t.Fatalf("the API has the templates %v", out)
	}
	return out
}

// templateErrors returns the errors for a template with the fields of an object.
func templateErrors(t *testing.T, kind string, row creation) []string {
	t.Helper()
	spec := reflect.ValueOf(row.object).Elem().FieldByName("Spec").Interface()
	raw, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{"spec": spec}}})
	if err != nil {
		t.Fatal(err)
	}
	switch kind {
	case "AzureCluster":
		return createTemplate(t, clusterTemplates(row.features), raw)
	case "AzureMachine":
		return createTemplate(t, machineTemplates(fixed{}), raw)
	case "AzureManagedControlPlane":
		return createTemplate(t, controlPlaneTemplates, raw)
	case "AzureManagedMachinePool":
		return createTemplate(t, poolTemplates, raw)
	}
	t.Fatalf("%s has no template with webhooks", kind)
	return nil
}

// createTemplate returns the errors for an object of a kind that is created from JSON.
func createTemplate[T client.Object](t *testing.T, k kind[T], raw []byte) []string {
	t.Helper()
	object := empty[T]()
	if err := json.Unmarshal(raw, object); err != nil {
		t.Fatal(err)
	}
	k.defaults(object)
	errs, err := k.create(t.Context(), object)
	if err != nil {
		t.Fatal(err)
	}
	return errorPaths(errs)
}

var subscriptPattern = regexp.MustCompile(`\[[^\]]*\]`)

// hasField reports whether objects of a schema have the field of an error.
func hasField(schema *apiextensionsv1.JSONSchemaProps, path string) bool {
	at := *schema
	for _, step := range strings.Split(subscriptPattern.ReplaceAllString(path, "[]"), ".") {
		name, isSubscript := strings.CutSuffix(step, "[]")
		next, found := at.Properties[name]
		if !found {
			return false
		}
		at = next
		switch {
		case isSubscript && at.Items != nil:
			at = *at.Items.Schema
		case isSubscript && at.AdditionalProperties != nil:
			at = *at.AdditionalProperties.Schema
		}
	}
	return true
}
