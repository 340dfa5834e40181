package migrated_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// beside are documents beside those of a cluster.
var beside = []string{`
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetwork
metadata:
  name: beside
spec:
  location: eastus
  owner: {name: c1}
  addressSpace: {addressPrefixes: [10.0.0.0/8]}
`, `
apiVersion: network.azure.com/v1api20240301
kind: VirtualNetworksSubnet
metadata:
  name: nodes
spec:
  owner: {name: beside}
  addressPrefix: 10.1.0.0/16
`, `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: workload
spec:
  location: eastus
  owner: {name: c1}
`}

// extension is a document of the control plane below its cluster.
const extension = `
apiVersion: kubernetesconfiguration.azure.com/v1api20241101
kind: Extension
metadata:
  name: flux
spec:
  owner: {group: containerservice.azure.com, kind: ManagedCluster, name: c1}
  extensionType: microsoft.flux
`

// buildManifests returns the cluster c1 with documents of every sort. policy is that of its ManagedCluster, "" for none.
func buildManifests(w *virtual.Scenario, policy string) *harness.ASOCluster {
	c := w.BuildASOCluster("c1", "pool0", "pool1")
	for _, text := range beside {
		c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, w.ParseManifest(text))
	}
	if policy != "" {
		aks := string(c.ControlPlane.Spec.Resources[0].Raw)
		c.ControlPlane.Spec.Resources[0].Raw = []byte(strings.Replace(aks, `"annotations":{`,
			`"annotations":{"`+asoresource.PolicyAnnotation+`":"`+policy+`",`, 1))
	}
	c.ControlPlane.Spec.Resources = append(c.ControlPlane.Spec.Resources, w.ParseManifest(extension))
	return c
}

// objectManifests returns the objects of a cluster with their documents.
func objectManifests(c *harness.ASOCluster) map[harness.Conditioned][]runtime.RawExtension {
	out := map[harness.Conditioned][]runtime.RawExtension{c.Infrastructure: c.Infrastructure.Spec.Resources, c.ControlPlane: c.ControlPlane.Spec.Resources}
	for _, pool := range c.Pools {
		out[pool] = pool.Spec.Resources
	}
	return out
}

// storeAsCAPZ has the objects carry the annotation of the established provider about their documents, and nothing of this provider.
func storeAsCAPZ(w *virtual.Scenario, c *harness.ASOCluster) {
	w.T.Helper()
	for object, resources := range objectManifests(c) {
		var kinds []string
		read, errs := asoresource.ReadManifests("", resources)
		if len(errs) > 0 {
			w.T.Fatal(errs)
		}
		for _, d := range read {
			kinds = append(kinds, d.Kind+"."+d.Version+"."+d.Group)
		}
		harness.ChangeObject[client.Object](w.Stage, object, func(o client.Object) {
			o.SetAnnotations(map[string]string{infrav1.OwnedASOKindsAnnotation: strings.Join(kinds, ";")})
		})
	}
}

// removeProviderTags leaves only the tags of users in Azure: neither the established provider nor the Azure Service Operator adds others.
func removeProviderTags(w *virtual.Scenario) {
	w.T.Helper()
	for _, resource := range w.Azure.State() {
		tags, _ := resource["tags"].(map[string]any)
		kept := map[string]any{}
		for key, value := range tags {
			if !infrav1.Marks(key) {
				kept[key] = value
			}
		}
		if len(kept) < len(tags) {
			id := strings.TrimPrefix(resource["id"].(string), "/subscriptions/"+w.Azure.SubscriptionID+"/")
			w.PutAsUser(id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", map[string]any{"properties": map[string]any{"tags": kept}})
		}
	}
}

// waitFor lets time pass.
func waitFor(d time.Duration) { virtual.WaitForSignal(nil, d) }

// TestMigrated takes a cluster of documents over that the established provider has left, without a write to Azure, and deletes it.
func TestMigrated(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		policy string
		// anew has the objects created after the resources, in another management cluster.
		anew bool
		// by is the way in which a user hands over the resources that stay, nil if the user does not.
		by    func(w *virtual.Scenario, c *harness.ASOCluster)
		owned map[string]string
		want  []string
	}{
		"created": {
			reason: "Azure created everything after the objects, so it was created for them",
			owned: map[string]string{"AzureASOManagedCluster c1": "True", "AzureASOManagedControlPlane c1": "True",
				"AzureASOManagedMachinePool c1-pool0": "True", "AzureASOManagedMachinePool c1-pool1": "True"},
		},
		"detached": {
			reason: "the AKS cluster is to stay, and with it its pools, its extension and the group that it is in", policy: asoresource.PolicyDetach,
			owned: map[string]string{"AzureASOManagedCluster c1": "True", "AzureASOManagedControlPlane c1": "",
				"AzureASOManagedMachinePool c1-pool0": "", "AzureASOManagedMachinePool c1-pool1": ""},
			want: kept,
		},
		"forged": {
			reason: "a user writes the annotation on new objects that name a cluster that exists", anew: true,
			owned: map[string]string{"AzureASOManagedCluster c1": "False", "AzureASOManagedControlPlane c1": "False",
				"AzureASOManagedMachinePool c1-pool0": "False", "AzureASOManagedMachinePool c1-pool1": "False"},
			want: slices.Sorted(slices.Values(slices.Concat(kept, others))),
		},
		"handed over": {
			reason: "the commands of the conditions have everything deleted", anew: true, by: handOver,
			owned: map[string]string{"AzureASOManagedCluster c1": "False", "AzureASOManagedControlPlane c1": "False",
				"AzureASOManagedMachinePool c1-pool0": "False", "AzureASOManagedMachinePool c1-pool1": "False"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := virtual.New(t)
				c := buildManifests(w, test.policy)
				w.CreateManifests(c)
				waitFor(10 * time.Second) // Nothing is asked of Azure as soon as it is applied.
				manager := w.StartProvider()
				w.WaitUntil("the documents are in place", func() bool { return w.InPlace(c) })
				manager.StopManager()
				removeProviderTags(w)
				if test.anew {
					w = w.NewManagementCluster()
					c = buildManifests(w, test.policy)
					w.CreateManifests(c)
				}
				storeAsCAPZ(w, c)

				mark := w.Azure.MarkRequests()
				w.StartProvider()
				w.WaitUntil("the documents are taken over", func() bool { return w.InPlace(c) })
				waitFor(time.Hour)
				if writes := harness.DropKubeconfigReads(w.Azure.WritesSince(mark)); len(writes) > 0 {
					t.Errorf("taking over writes nothing, got %v", writes)
				}
				owned := map[string]string{}
				for object := range objectManifests(c) {
					w.ReadObject(object, object.GetName())
					gvk, err := w.Kubernetes.GroupVersionKindFor(object)
					if err != nil {
						t.Fatal(err)
					}
					condition := harness.FindCondition(object, infrav1.MigratedResourcesOwnedCondition)
					owned[gvk.Kind+" "+object.GetName()] = string(condition.Status)
				}
				if diff := cmp.Diff(test.owned, owned); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				if test.by != nil {
					test.by(w, c)
				}
				w.DeleteManifests(c)
				if diff := cmp.Diff(test.want, listLeftResources(w)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
			})
		})
	}
}

const aks = "resourcegroups/c1/microsoft.containerservice/managedclusters/c1"

// kept are the AKS cluster and what stays with it, and others the network and the identity beside it.
var (
	kept = []string{
		"resourcegroups/c1", aks, aks + "/agentpools/pool0", aks + "/agentpools/pool1",
		aks + "/providers/microsoft.kubernetesconfiguration/extensions/flux",
		"resourcegroups/mc_c1_c1_eastus",
	}
	others = []string{"resourcegroups/c1/microsoft.managedidentity/userassignedidentities/workload",
		"resourcegroups/c1/microsoft.network/virtualnetworks/beside"}
)

// listLeftResources returns the resources in Azure, in lower case and sorted, but for those that AKS keeps in its own group.
func listLeftResources(w *virtual.Scenario) []string {
	var out []string
	for _, id := range w.Azure.ListResources() {
		if id = strings.ToLower(id); !strings.HasPrefix(id, "resourcegroups/mc_c1_c1_eastus/") {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// annotate and tag are the commands of the condition.
var (
	annotate = regexp.MustCompile(`kubectl annotate -n (\S+) (\w+)/(\S+) ([\w./-]+)=(\w+)`)
	tag      = regexp.MustCompile(`az tag update --resource-id (\S+) --operation Merge --tags (\S+)=(\w+)`)
)

// handOver runs the commands of the conditions.
func handOver(w *virtual.Scenario, c *harness.ASOCluster) {
	w.T.Helper()
	for object := range objectManifests(c) {
		message := harness.FindCondition(object, infrav1.MigratedResourcesOwnedCondition).Message
		if found := annotate.FindStringSubmatch(message); found != nil {
			if found[1] != object.GetNamespace() || found[3] != object.GetName() {
				w.T.Errorf("the command of %s is about another object: %s", object.GetName(), found[0])
			}
			harness.ChangeObject[client.Object](w.Stage, object, func(o client.Object) {
				annotations := o.GetAnnotations()
				annotations[found[4]] = found[5]
				o.SetAnnotations(annotations)
			})
		}
		if found := tag.FindStringSubmatch(message); found != nil {
			id := strings.TrimPrefix(found[1], "/subscriptions/"+w.Azure.SubscriptionID+"/")
			body := map[string]any{"operation": "Merge", "properties": map[string]any{"tags": map[string]any{found[2]: found[3]}}}
			if status, answer := w.SendAsUser(http.MethodPatch, id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", body); status > 299 {
				w.T.Errorf("%s: %d %s", found[0], status, answer)
			}
		}
	}
}
