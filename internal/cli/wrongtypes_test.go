package cli_test

import (
	"bytes"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// namesOfGo matches names of types in errors of Go's decoders.
var namesOfGo = regexp.MustCompile(`Go (struct|value)|json: |unmarshal|v1beta\d\.|metav1\.|map\[string|runtime\.|reflect|interface|unrecognized type|cannot restore`)

const meta = "\nmetadata: {name: c1, namespace: default}\n"

// TestWrongTypes gives each verb that reads documents a value of a wrong type. The message has the path with the index, the expected type and no
// name of a Go type.
func TestWrongTypes(t *testing.T) {
	infra, core := "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: ", "apiVersion: cluster.x-k8s.io/"
	manifests := map[string]struct{ reason, document, want string }{
		"document":    {"a list is no object", "[a]", `document: Invalid value: "array": must be of type object`},
		"list":        {"its items are objects", "apiVersion: v1\nkind: List\nitems: [5]", `items[0]: Invalid value: "integer": must be of type object`},
		"labels":      {"of any kind", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {a: 5}}", `metadata.labels[a]: Invalid value: "integer": must be of type string`},
		"Secret":      {"its value is not repeated", "apiVersion: v1\nkind: Secret" + meta + "data: {clientSecret: hunter2!}", `data[clientSecret]: Invalid value: "string": must be a string in base64`},
		"Cluster":     {"Cluster API's version", core + "v1beta2\nkind: Cluster" + meta + "spec: {clusterNetwork: {pods: {cidrBlocks: 10.0.0.0/8}}}", `spec.clusterNetwork.pods.cidrBlocks: Invalid value: "string": must be of type array`},
		"old Cluster": {"its former version", core + "v1beta1\nkind: Cluster" + meta + "spec: {paused: \"no\"}", `spec.paused: Invalid value: "string": must be of type boolean`},
		"MachinePool": {"a number in quotes", core + "v1beta2\nkind: MachinePool" + meta + "spec: {replicas: \"3\"}", `spec.replicas: Invalid value: "string": must be of type integer`},
		"KubeadmControlPlane": {"the plan reads some fields", "apiVersion: controlplane.cluster.x-k8s.io/v1beta2\nkind: KubeadmControlPlane" + meta + "spec: {replicas: three}",
			`spec.replicas: Invalid value: "string": must be of type integer`},
		"former KubeadmControlPlane": {"likewise", "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane" + meta + "spec: {machineTemplate: {infrastructureRef: a}}",
			`spec.machineTemplate.infrastructureRef: Invalid value: "string": must be of type object`},
		"AzureCluster": {"with the index", infra + "AzureCluster" + meta + "spec: {networkSpec: {subnets: [{name: a}, {name: [b]}]}}",
			`spec.networkSpec.subnets[1].name: Invalid value: "array": must be of type string`},
		"identity": {"it is read first", infra + "AzureClusterIdentity" + meta + "spec: {tenantID: [a]}", `spec.tenantID in body must be of type string: "array"`},
		"ASO manifest": {"a manifest within a manifest", infra + "AzureASOManagedControlPlane" + meta +
			"spec: {version: v1.33.2, resources: [{apiVersion: containerservice.azure.com/v1api20250801, kind: ManagedCluster, metadata: {name: c1}, spec: {location: eastus, agentPoolProfiles: {}, dnsPrefix: 5}}]}",
			`spec.resources[0].spec.dnsPrefix`},
		"name of an ASO manifest": {"its header", infra + "AzureASOManagedControlPlane" + meta +
			"spec: {version: v1.33.2, resources: [{apiVersion: containerservice.azure.com/v1api20250801, kind: ManagedCluster, metadata: {name: 5}, spec: {}}]}",
			`spec.resources[0].metadata.name: Invalid value: "integer": must be of type string`},
		"patch": {"a patch in ASO's spelling", infra + "AzureManagedControlPlane" + meta + "spec: {location: eastus, version: v1.33.2, subscriptionID: s, identityRef: {kind: AzureClusterIdentity, name: i}," +
			` asoManagedClusterPatches: ['{"spec": {"dnsPrefix": ["a"]}}']}`, `spec.asoManagedClusterPatches[0]`},
	}
	for name, test := range manifests {
		for _, verb := range []string{"plan", "doctor"} {
			t.Run(verb+" "+name, func(t *testing.T) { expectWrongType(t, test.reason, test.document, test.want, verb, "-f", "-") })
		}
	}
	models := map[string]struct{ reason, document, want string }{
		"model":   {"a list is no model", "[1]", "the model must be of type object"},
		"masters": {"they would seem to be missing", `{"apiVersion": "vlabs", "properties": {"masterProfile": "x"}}`, `properties.masterProfile: Invalid value: "string": must be of type object`},
		"pools":   {"an object is no list", `{"apiVersion": "vlabs", "properties": {"agentPoolProfiles": {}}}`, `properties.agentPoolProfiles: Invalid value: "object": must be of type array`},
		"size": {"with the index, and whatever case the name has", `{"apiVersion": "vlabs", "properties": {"agentPoolProfiles": [{"name": "a"}, {"VMSize": 5}]}}`,
			`properties.agentPoolProfiles[1].VMSize: Invalid value: "integer": must be of type string`},
	}
	for name, test := range models {
		t.Run("convert aksengine "+name, func(t *testing.T) {
			expectWrongType(t, test.reason, test.document, test.want, "convert", "aksengine", "--kubernetes-version", "v1.34.2", "-")
		})
	}
}

// expectWrongType runs a verb with a document on its standard input.
func expectWrongType(t *testing.T, reason, document, want string, arguments ...string) {
	t.Helper()
	t.Setenv("KUBECONFIG", os.DevNull)
	root := cli.NewCommand(&environment.Environment{OpenFolder: func(string) (fs.FS, bool) { return nil, false }})
	out := &bytes.Buffer{}
	root.SetIn(strings.NewReader(document))
	root.SetOut(out)
	root.SetErr(out)
	root.SetArgs(arguments)
	err := root.ExecuteContext(t.Context())
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q", reason, err, want)
		return
	}
	if !strings.Contains(err.Error(), "must be") {
		t.Errorf("%s: the expected type is missing: %v", reason, err)
	}
	if found := namesOfGo.FindString(err.Error() + out.String()); found != "" {
		t.Errorf("%s: the message has %q, which is a name of Go: %v", reason, found, err)
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: the message has the value: %v", reason, err)
	}
}
