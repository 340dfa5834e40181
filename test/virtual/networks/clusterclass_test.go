package networks_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestExistingNetworkOfClass creates clusters of the flavor's ClusterClass with the patch that the book has for existing networks.
func TestExistingNetworkOfClass(t *testing.T) {
	const page, network = "clusterclass.md", "virtualNetworks/shared-vnet"
	var patched, example *unstructured.Unstructured
	for _, block := range flavors.PageBlocks(t, flavors.SelfManaged, page) {
		objects, err := flavors.DecodeManifest([]byte(block.Text))
		if block.Language != "yaml" || err != nil {
			continue
		}
		for _, o := range objects {
			switch {
			case o.GetKind() == "ClusterClass" && o.GetName() == "existing-network":
				patched = o
			case o.GetKind() == "Cluster":
				example = o
			}
		}
	}
	if patched == nil || example == nil {
		t.Fatalf("%s has no ClusterClass existing-network or no Cluster of it", page)
	}
	variables := flavors.TemplateVariables(map[string]string{"CLUSTER_IDENTITY_NAME": harness.IdentityName, "CLUSTER_CLASS_NAME": "existing-network"})
	read := func(flavor string) []*unstructured.Unstructured {
		objects, err := flavors.DecodeManifest(flavors.RenderTemplate(t, "cluster-template-"+flavor+".yaml", variables))
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}
	class, cluster := read("clusterclass"), read("topology")
	for _, o := range class {
		if o.GetKind() == "ClusterClass" {
			flavorPatches, _, _ := unstructured.NestedSlice(o.Object, "spec", "patches")
			patches, _, _ := unstructured.NestedSlice(patched.Object, "spec", "patches")
			declared, _, _ := unstructured.NestedSlice(patched.Object, "spec", "variables")
			setSlice(t, o, append(flavorPatches, patches...), "spec", "patches")
			setSlice(t, o, declared, "spec", "variables")
		}
	}
	values, _, _ := unstructured.NestedSlice(example.Object, "spec", "topology", "variables")
	for name, test := range map[string]struct {
		reason string
		values []any
		want   string
	}{
		"with the variable":    {"the patch is enabled", values, network},
		"without the variable": {"other clusters of the class have networks of their own", nil, "virtualNetworks/c1-vnet"},
	} {
		t.Run(name, func(t *testing.T) {
			var manifests bytes.Buffer
			for _, o := range cluster {
				if o = o.DeepCopy(); o.GetKind() == "Cluster" {
					setSlice(t, o, test.values, "spec", "topology", "variables")
				}
				writeTopology(t, &manifests, class, o)
			}
			virtual.PlayComplete(t, func(s *virtual.Scenario) {
				flavors.CreateIdentities(s.Stage)
				s.CreateObject(s.NewIdentity())
				flavors.CreateBroughtResources(s.Stage)
				var writes []string
				s.WrittenBody = func(request *http.Request, _ int, _ []byte) {
					if strings.Contains(request.URL.Path, "/virtualNetworks/") {
						writes = append(writes, request.Method+" "+request.URL.Path)
					}
				}
				s.StartProvider()
				s.ApplyManifests(virtual.ReadManifests(t, manifests.Bytes()))
				s.WaitReady(&infrav1.AzureCluster{}, "c1")
				machines := &infrav1.AzureMachineList{}
				s.WaitUntil("the control plane is created", func() bool {
					return s.Kubernetes.List(t.Context(), machines) == nil && len(machines.Items) > 0 && harness.IsReady(&machines.Items[0])
				})
				name := machines.Items[0].Name + "-nic"
				if got := fmt.Sprint(s.FindProperty("Microsoft.Network/networkInterfaces/"+name, "properties.ipConfigurations.0.properties.subnet.id")); !strings.Contains(got, test.want+"/subnets/") {
					t.Errorf("%s: the interface is in %s, want %s", test.reason, got, test.want)
				}
				if test.values != nil && len(writes) > 0 {
					t.Errorf("the existing network is written: %q", writes)
				}
			})
		})
	}
}

func setSlice(t *testing.T, object *unstructured.Unstructured, value []any, path ...string) {
	t.Helper()
	if err := unstructured.SetNestedSlice(object.Object, value, path...); err != nil {
		t.Fatal(err)
	}
}

// writeTopology writes the objects that Cluster API creates for a cluster of the class.
func writeTopology(t *testing.T, to *bytes.Buffer, class []*unstructured.Unstructured, cluster *unstructured.Unstructured) {
	t.Helper()
	objects, err := flavors.ApplyTopology(class, []*unstructured.Unstructured{cluster})
	if err != nil {
		t.Fatal(err)
	}
	flavors.ReferToControlPlane(objects)
	for _, o := range objects {
		if o.GetKind() == "AzureClusterIdentity" {
			continue // The stage has it.
		}
		raw, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(to, "---\n%s\n", raw)
	}
}
