package estate

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/azurecli"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// manifestKinds are the kinds with documents.
var manifestKinds = []string{"AzureASOManagedCluster", "AzureASOManagedControlPlane", "AzureASOManagedMachinePool"}

// MigrateASO migrates a cluster of resource manifests that the established provider created from a template, by the steps of the page
// about adoption: its operator's objects are let go, and nothing is written to Azure, neither then nor when the Cluster is deleted.
func MigrateASO(t *testing.T, environment *harness.Environment, file string, variables map[string]string) {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	options := harness.ManagerOptions{SyncPeriod: harness.SyncPeriod}
	maker := stage.StartManager(options)
	stage.CreateOperatorSecret(variables["ASO_CREDENTIAL_SECRET_NAME"])
	manifest, err := flavors.DecodeManifest(flavors.RenderTemplate(t, file, variables))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range manifest {
		object.SetNamespace(stage.Namespace)
		stage.CreateObject(object)
	}
	made := stage.PlayManifests(cluster, cluster+"-pool0", cluster+"-pool1")
	stage.WaitManifestsReady(made)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	removeProviderTags(stage)
	leaveManifests(stage)
	createOperatorRemains(stage)
	expectPlanned(stage)

	mark := stage.Azure.MarkRequests()
	prepareUpgrade(stage)
	stage.StartManager(options)
	for _, kind := range manifestKinds {
		for _, item := range listObjects(stage, kind) {
			harness.WaitFor(stage, item, item.GetName(), "taken over", func(o *unstructured.Unstructured) bool {
				return strings.Contains(conditionStatus(o, infrav1.ReadyCondition), "True/"+infrav1.ReadyReason)
			})
		}
	}
	stage.WaitManifestsReady(made)
	expectNoWrites(stage, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)))

	mark = stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: cluster + "-pool1"}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
	harness.WaitFor(stage, &infrav1.AzureASOManagedMachinePool{}, cluster+"-pool1", "scaled",
		func(o *infrav1.AzureASOManagedMachinePool) bool {
			return o.Status.Ready && o.Status.Replicas == 3 && len(o.Spec.ProviderIDList) == 3
		})
	if diff := cmp.Diff([]string{"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"},
		harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("scaling is one write (-want +got):\n%s", diff)
	}
	before := stage.Azure.ListResources()
	mark = stage.Azure.MarkRequests()
	stage.DeleteManifests(made)
	expectNoWrites(stage, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)))
	if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
		t.Errorf("adopted resources are not kept (-before +after):\n%s", diff)
	}
}

func conditionStatus(o *unstructured.Unstructured, of string) string {
	conditions, _ := harness.FindValue(o.Object, "status.conditions").([]any)
	for _, c := range conditions {
		if c, ok := c.(object); ok && c["type"] == of {
			return c["status"].(string) + "/" + c["reason"].(string)
		}
	}
	return ""
}

// removeProviderTags leaves only the user's tags: neither the established provider nor its operator adds any.
func removeProviderTags(stage *harness.Stage) {
	stage.T.Helper()
	for _, resource := range stage.Azure.State() {
		tags, _ := resource["tags"].(map[string]any)
		kept := object{}
		for key, value := range tags {
			if !infrav1.Marks(key) {
				kept[key] = value
			}
		}
		if len(kept) < len(tags) {
			id := strings.TrimPrefix(resource["id"].(string), "/subscriptions/"+stage.Azure.SubscriptionID+"/")
			stage.Azure.PutResource(id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", object{"properties": object{"tags": kept}})
		}
	}
}

// leaveManifests stores the objects as the established provider leaves them: without our annotations, and with booleans in the status.
func leaveManifests(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range manifestKinds {
		for _, item := range listObjects(stage, kind) {
			stored := stage.ReadStored(item)
			annotations := object{}
			for key, value := range stored.GetAnnotations() {
				if !strings.HasPrefix(key, "sigs.k8s.io/cluster-api-provider-azure-") {
					annotations[key] = value
				}
			}
			annotations["clusterctl.cluster.x-k8s.io/block-move"] = "true"
			annotations["sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"] = "ManagedCluster.v1api20240901.containerservice.azure.com"
			setNested(stored.Object, annotations, "metadata", "annotations")
			status, _, _ := unstructured.NestedMap(stored.Object, "status")
			for _, field := range []string{"conditions", "initialization", "observedGeneration", "versions", "externalManagedControlPlane"} {
				delete(status, field)
			}
			setNested(stored.Object, status, "status")
			stage.WriteStored(stored)
		}
	}
}

const (
	finalizer = "serviceoperator.azure.com/finalizer"
	policy    = "serviceoperator.azure.com/reconcile-policy"
	secret    = "serviceoperator.azure.com/credential-from"
)

// others is the name of an object of the operator that belongs to no cluster.
const others = "others"

// createOperatorRemains creates the remains of the established provider's operator: its Deployment, its webhooks, one
// object of a user of its own, and an object for each of two documents, whose kinds are served in another version than
// they are stored in, by a webhook without a server.
func createOperatorRemains(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range []struct{ group, kind, plural string }{
		{"containerservice.azure.com", "ManagedCluster", "managedclusters"}, {"resources.azure.com", "ResourceGroup", "resourcegroups"},
	} {
		anything := object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
		crd := &unstructured.Unstructured{Object: object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": object{"name": kind.plural + "." + kind.group, "labels": object{"app.kubernetes.io/name": "azure-service-operator"}},
			"spec": object{
				"group": kind.group, "scope": "Namespaced",
				"names": object{"kind": kind.kind, "listKind": kind.kind + "List", "plural": kind.plural, "singular": strings.ToLower(kind.kind)},
				"versions": []any{
					object{"name": "v1api20240901", "served": true, "storage": false, "schema": anything},
					object{"name": "v1api20240901storage", "served": true, "storage": true, "schema": anything},
				},
				"conversion": object{"strategy": "Webhook", "webhook": object{
					"conversionReviewVersions": []any{"v1"}, "clientConfig": object{"url": "https://127.0.0.1:1/convert"},
				}},
			},
		}}
		stage.CreateObject(crd)
		stage.T.Cleanup(func() { deleteObject(stage, crd) })
		harness.WaitFor(stage, crd.DeepCopy(), crd.GetName(), "served", func(o *unstructured.Unstructured) bool {
			return strings.Contains(conditionStatus(o, "Established"), "True")
		})
	}
	controlPlane, infrastructure := &infrav1.AzureASOManagedControlPlane{}, &infrav1.AzureASOManagedCluster{}
	stage.ReadObject(controlPlane, cluster)
	stage.ReadObject(infrastructure, cluster)
	leaveObject(stage, "containerservice.azure.com", "ManagedCluster", "other-user", controlPlane,
		map[string]string{secret: harness.OperatorSecret, policy: "detach-on-delete"})
	// While a Cluster is paused, the established provider sets policy skip on its objects: that is no policy of the
	// document.
	leaveObject(stage, "resources.azure.com", "ResourceGroup", "capz-manager", infrastructure,
		map[string]string{secret: harness.OperatorSecret, policy: "skip"})
	leaveObject(stage, "resources.azure.com", "ResourceGroup", "another-user", nil, nil)
	// Its kind goes when the test ends, and waits for it.
	stage.T.Cleanup(func() {
		left := &unstructured.Unstructured{Object: object{"apiVersion": "resources.azure.com/v1api20240901storage", "kind": "ResourceGroup"}}
		left.SetNamespace(stage.Namespace)
		left.SetName(others)
		if err := stage.Client.Patch(context.Background(), left,
			client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))); err != nil {
			stage.T.Log(err)
		}
	})
	labels := object{"app": "operator"}
	stage.CreateObject(&unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": object{"namespace": stage.Namespace, "name": "azureserviceoperator-controller-manager"},
		"spec": object{
			"replicas": int64(1), "selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels},
				"spec": object{"containers": []any{object{"name": "manager", "image": "operator"}}}},
		},
	}})
	for _, kind := range []string{"Validating", "Mutating"} {
		configuration := &unstructured.Unstructured{Object: object{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration",
			"metadata": object{"name": "azureserviceoperator-" + strings.ToLower(kind) + "-webhook-configuration"},
			"webhooks": []any{object{
				"name": "operator.azure.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
				"clientConfig":      object{"url": "https://127.0.0.1:1/admit"},
				"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": stage.Namespace}},
				"rules": []any{object{"apiGroups": []any{"containerservice.azure.com", "resources.azure.com"}, "apiVersions": []any{"*"},
					"operations": []any{"UPDATE"}, "resources": []any{"*"}}},
			}},
		}}
		stage.CreateObject(configuration)
		stage.T.Cleanup(func() { deleteObject(stage, configuration) })
	}
}

// deleteObject deletes an object without waiting.
func deleteObject(stage *harness.Stage, object *unstructured.Unstructured) {
	// Not the test's own context, which has ended when it cleans up. What is gone already is as well.
	if err := client.IgnoreNotFound(stage.Client.Delete(context.Background(), object)); err != nil {
		stage.T.Log(err)
	}
}

// leaveObject makes an object of the operator for the document of holder that is called as the cluster, or for no cluster. by is who
// writes its annotations.
func leaveObject(stage *harness.Stage, group, kind, by string, holder client.Object, annotations map[string]string) {
	stage.T.Helper()
	left := &unstructured.Unstructured{Object: object{"apiVersion": group + "/v1api20240901storage", "kind": kind,
		"spec": object{"azureName": cluster}}}
	left.SetNamespace(stage.Namespace)
	left.SetName(cluster)
	left.SetFinalizers([]string{finalizer})
	left.SetAnnotations(annotations)
	if holder == nil {
		left.SetName(others)
	} else if err := controllerutil.SetControllerReference(holder, left, stage.Client.Scheme()); err != nil {
		stage.T.Fatal(err)
	}
	if err := stage.Client.Create(stage.T.Context(), left, client.FieldOwner(by)); err != nil {
		stage.T.Fatal(err)
	}
}

// prepareUpgrade makes the management cluster ready for the upgrade. The command ends at each of its writes first, as when its connection
// breaks, and is repeated.
func prepareUpgrade(stage *harness.Stage) {
	stage.T.Helper()
	command := func(writes int) (string, error) {
		printed, _, err := azurecli.RunInterrupted(stage, writes, "prepare-upgrade")
		return printed, err
	}
	const all = 1000
	if _, err := command(all); err == nil || !strings.Contains(err.Error(), "azureserviceoperator-controller-manager in namespace") {
		stage.T.Errorf("the operator would put its finalizer back: %v", err)
	}
	harness.ChangeObject(stage, &unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "azureserviceoperator-controller-manager"},
	}}, func(d *unstructured.Unstructured) { setNested(d.Object, int64(0), "spec", "replicas") })
	printed, err := command(all)
	if err == nil || !strings.Contains(printed, "lacks the annotation "+policy+": detach-on-delete of its object") ||
		strings.Contains(printed, "ResourceGroup") {
		stage.T.Errorf("settings that only the object has would be lost: %v\n%s", err, printed)
	}
	harness.ChangeObject(stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: cluster}},
		func(c *infrav1.AzureASOManagedControlPlane) {
			c.Spec.Resources[0].Raw = []byte(strings.Replace(string(c.Spec.Resources[0].Raw), `"`+secret+`"`,
				`"`+policy+`":"detach-on-delete","`+secret+`"`, 1))
		})
	ended := 0
	for ; ended < all; ended++ {
		if printed, err = command(ended); err == nil {
			break
		}
		if !errors.Is(err, azurecli.ErrInterrupted) {
			stage.T.Fatalf("after %d writes: %v\n%s", ended, err, printed)
		}
		expectReleasedInOrder(stage)
	}
	stage.T.Logf("the command was interrupted %d times", ended)
	printed, err = command(0)
	for _, want := range []string{"0 objects of clusters released", "0 kinds need no conversion",
		"left alone: ResourceGroup " + stage.Namespace + "/" + others} {
		if err != nil || !strings.Contains(printed, want) {
			stage.T.Errorf("when all is done the command does not print %q: %v\n%s", want, err, printed)
		}
	}
	expectReleased(stage)
}

// operatorObject reads one in the version that it is stored in.
func operatorObject(stage *harness.Stage, group, kind, name string) *unstructured.Unstructured {
	stage.T.Helper()
	left := &unstructured.Unstructured{Object: object{"apiVersion": group + "/v1api20240901storage", "kind": kind}}
	stage.ReadObject(left, name)
	return left
}

// operatorKinds are those of the clusters' objects, by group.
var operatorKinds = map[string]string{"containerservice.azure.com": "ManagedCluster", "resources.azure.com": "ResourceGroup"}

// expectReleasedInOrder expects that no object is without its finalizer while another one would be written by an operator that comes back.
func expectReleasedInOrder(stage *harness.Stage) {
	stage.T.Helper()
	skipped, released := 0, 0
	for group, kind := range operatorKinds {
		left := operatorObject(stage, group, kind, cluster)
		if left.GetAnnotations()[policy] == "skip" {
			skipped++
		}
		if len(left.GetFinalizers()) == 0 {
			released++
		}
	}
	if released > 0 && skipped < len(operatorKinds) {
		stage.T.Errorf("%d objects are released while %d of %d are skipped", released, skipped, len(operatorKinds))
	}
}

// expectReleased expects objects of clusters that nothing keeps, another one as it was, and kinds that are listed in every version.
func expectReleased(stage *harness.Stage) {
	stage.T.Helper()
	for group, kind := range operatorKinds {
		left := operatorObject(stage, group, kind, cluster)
		if left.GetAnnotations()[policy] != "skip" || len(left.GetFinalizers()) > 0 || len(left.GetOwnerReferences()) > 0 {
			stage.T.Errorf("%s is not released: %v", kind, left.Object["metadata"])
		}
	}
	if left := operatorObject(stage, "resources.azure.com", "ResourceGroup", others); len(left.GetAnnotations()) > 0 ||
		!slices.Equal(left.GetFinalizers(), []string{finalizer}) {
		stage.T.Errorf("an object that belongs to no cluster was changed: %v", left.Object["metadata"])
	}
	if status, _ := stage.Azure.GetResource("resourceGroups/c1", "2021-04-01"); status != http.StatusOK {
		stage.T.Errorf("the group is gone: %d", status)
	}
	for _, name := range []string{"managedclusters.containerservice.azure.com", "resourcegroups.resources.azure.com"} {
		definition := &unstructured.Unstructured{Object: object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}}
		stage.ReadObject(definition, name)
		served := []string{}
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for _, version := range versions {
			if version.(object)["served"] == true {
				served = append(served, version.(object)["name"].(string))
			}
		}
		if strategy := nestedString(definition.Object, "spec", "conversion", "strategy"); strategy != "None" ||
			!slices.Equal(served, []string{"v1api20240901storage"}) {
			stage.T.Errorf("%s converts by %s and serves %v", name, strategy, served)
		}
	}
}
