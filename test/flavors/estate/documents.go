package estate

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/azurecli"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// documentKinds are the kinds with documents.
var documentKinds = []string{"AzureASOManagedCluster", "AzureASOManagedControlPlane", "AzureASOManagedMachinePool"}

// TakeOverDocuments takes a cluster of documents over that the established provider made from a template, by the steps of the page
// about adoption: its operator's objects are let go, and nothing is written to Azure, neither then nor when the Cluster is deleted.
func TakeOverDocuments(t *testing.T, environment *harness.Environment, file string, variables map[string]string) {
	t.Helper()
	stage := flavors.NewStage(t, environment)
	options := harness.ManagerOptions{SyncPeriod: flavors.SyncPeriod}
	maker := stage.StartManager(options)
	stage.CreateOperatorSecret(variables["ASO_CREDENTIAL_SECRET_NAME"])
	manifest, err := flavors.Decode(flavors.Render(t, file, variables))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range manifest {
		object.SetNamespace(stage.Namespace)
		stage.Create(object)
	}
	made := stage.PlayDocuments(cluster, cluster+"-pool0", cluster+"-pool1")
	stage.WaitDocumentsReady(made)
	if err := maker.Stop(); err != nil {
		t.Fatal(err)
	}
	untag(stage)
	leaveDocuments(stage)
	operator(stage)

	mark := stage.Azure.Mark()
	letGo(stage)
	stage.StartManager(options)
	for _, kind := range documentKinds {
		for _, item := range objects(stage, kind) {
			harness.WaitFor(stage, item, item.GetName(), "taken over", func(o *unstructured.Unstructured) bool {
				return strings.Contains(condition(o, infrav1.ReadyCondition), "True/"+infrav1.ReadyReason)
			})
		}
	}
	stage.WaitDocumentsReady(made)
	expectNoWrites(stage, harness.Changes(stage.Azure.Writes(mark)))

	mark = stage.Azure.Mark()
	harness.Change(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: cluster + "-pool1"}}, func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(3)) })
	harness.WaitFor(stage, &infrav1.AzureASOManagedMachinePool{}, cluster+"-pool1", "scaled", func(o *infrav1.AzureASOManagedMachinePool) bool {
		return o.Status.Ready && o.Status.Replicas == 3 && len(o.Spec.ProviderIDList) == 3
	})
	if diff := cmp.Diff([]string{"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/agentPools/pool1"}, harness.Changes(stage.Azure.Writes(mark))); diff != "" {
		t.Errorf("scaling is one write (-want +got):\n%s", diff)
	}
	before := stage.Azure.Resources()
	mark = stage.Azure.Mark()
	stage.DeleteDocuments(made)
	expectNoWrites(stage, harness.Changes(stage.Azure.Writes(mark)))
	if diff := cmp.Diff(before, stage.Azure.Resources()); diff != "" {
		t.Errorf("what was adopted is let go (-before +after):\n%s", diff)
	}
}

func condition(o *unstructured.Unstructured, of string) string {
	conditions, _ := harness.Value(o.Object, "status.conditions").([]any)
	for _, c := range conditions {
		if c, ok := c.(object); ok && c["type"] == of {
			return c["status"].(string) + "/" + c["reason"].(string)
		}
	}
	return ""
}

// untag leaves only the user's tags: neither the established provider nor its operator adds any.
func untag(stage *harness.Stage) {
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
			stage.Azure.Put(id+"/providers/Microsoft.Resources/tags/default", "2021-04-01", object{"properties": object{"tags": kept}})
		}
	}
}

// leaveDocuments stores the objects as the established provider leaves them: nothing of ours, and a status of booleans.
func leaveDocuments(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range documentKinds {
		for _, item := range objects(stage, kind) {
			stored := stage.Stored(item)
			annotations := object{}
			for key, value := range stored.GetAnnotations() {
				if !strings.HasPrefix(key, "sigs.k8s.io/cluster-api-provider-azure-") {
					annotations[key] = value
				}
			}
			annotations["clusterctl.cluster.x-k8s.io/block-move"] = "true"
			annotations["sigs.k8s.io/cluster-api-provider-azure-owned-aso-kinds"] = "ManagedCluster.v1api20240901.containerservice.azure.com"
			set(stored.Object, annotations, "metadata", "annotations")
			status, _, _ := unstructured.NestedMap(stored.Object, "status")
			for _, field := range []string{"conditions", "initialization", "observedGeneration", "versions", "externalManagedControlPlane"} {
				delete(status, field)
			}
			set(stored.Object, status, "status")
			stage.Store(stored)
		}
	}
}

const (
	finalizer = "serviceoperator.azure.com/finalizer"
	policy    = "serviceoperator.azure.com/reconcile-policy"
	secret    = "serviceoperator.azure.com/credential-from"
)

// operator leaves the operator of the established provider: its Deployment, its webhooks, and an object for each of two documents,
// whose kinds are served in another version than they are stored in, by a webhook that nobody answers.
func operator(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range []struct{ group, kind, plural string }{
		{"containerservice.azure.com", "ManagedCluster", "managedclusters"}, {"resources.azure.com", "ResourceGroup", "resourcegroups"},
	} {
		anything := object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
		crd := &unstructured.Unstructured{Object: object{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": kind.plural + "." + kind.group},
			"spec": object{
				"group": kind.group, "scope": "Namespaced", "names": object{"kind": kind.kind, "listKind": kind.kind + "List", "plural": kind.plural, "singular": strings.ToLower(kind.kind)},
				"versions": []any{
					object{"name": "v1api20240901", "served": true, "storage": false, "schema": anything},
					object{"name": "v1api20240901storage", "served": true, "storage": true, "schema": anything},
				},
				"conversion": object{"strategy": "Webhook", "webhook": object{
					"conversionReviewVersions": []any{"v1"}, "clientConfig": object{"url": "https://127.0.0.1:1/convert"},
				}},
			},
		}}
		stage.Create(crd)
		stage.T.Cleanup(func() { drop(stage, crd) })
		harness.WaitFor(stage, crd.DeepCopy(), crd.GetName(), "served", func(o *unstructured.Unstructured) bool {
			return strings.Contains(condition(o, "Established"), "True")
		})
	}
	controlPlane, infrastructure := &infrav1.AzureASOManagedControlPlane{}, &infrav1.AzureASOManagedCluster{}
	stage.Get(controlPlane, cluster)
	stage.Get(infrastructure, cluster)
	leaveObject(stage, "containerservice.azure.com", "ManagedCluster", "somebody", controlPlane, map[string]string{secret: harness.OperatorSecret, policy: "detach-on-delete"})
	// While a Cluster is paused, the established provider has its objects skipped: that says nothing about the document.
	leaveObject(stage, "resources.azure.com", "ResourceGroup", "capz-manager", infrastructure, map[string]string{secret: harness.OperatorSecret, policy: "skip"})
	labels := object{"app": "operator"}
	stage.Create(&unstructured.Unstructured{Object: object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"namespace": stage.Namespace, "name": "azureserviceoperator-controller-manager"},
		"spec": object{
			"replicas": int64(1), "selector": object{"matchLabels": labels},
			"template": object{"metadata": object{"labels": labels}, "spec": object{"containers": []any{object{"name": "manager", "image": "operator"}}}},
		},
	}})
	for _, kind := range []string{"Validating", "Mutating"} {
		configuration := &unstructured.Unstructured{Object: object{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration",
			"metadata": object{"name": "azureserviceoperator-" + strings.ToLower(kind) + "-webhook-configuration"},
			"webhooks": []any{object{
				"name": "operator.azure.com", "admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail", "clientConfig": object{"url": "https://127.0.0.1:1/admit"},
				"namespaceSelector": object{"matchLabels": object{"kubernetes.io/metadata.name": stage.Namespace}},
				"rules":             []any{object{"apiGroups": []any{"containerservice.azure.com", "resources.azure.com"}, "apiVersions": []any{"*"}, "operations": []any{"UPDATE"}, "resources": []any{"*"}}},
			}},
		}}
		stage.Create(configuration)
		stage.T.Cleanup(func() { drop(stage, configuration) })
	}
}

// drop deletes an object without waiting.
func drop(stage *harness.Stage, object *unstructured.Unstructured) {
	// Not the test's own context, which has ended when it cleans up. What is gone already is as well.
	if err := client.IgnoreNotFound(stage.Client.Delete(context.Background(), object)); err != nil {
		stage.T.Log(err)
	}
}

// leaveObject makes an object of the operator for the document of holder that is called as the cluster. by is who says its annotations.
func leaveObject(stage *harness.Stage, group, kind, by string, holder client.Object, annotations map[string]string) {
	stage.T.Helper()
	left := &unstructured.Unstructured{Object: object{"apiVersion": group + "/v1api20240901storage", "kind": kind, "spec": object{"azureName": cluster}}}
	left.SetNamespace(stage.Namespace)
	left.SetName(cluster)
	left.SetFinalizers([]string{finalizer})
	left.SetAnnotations(annotations)
	if err := controllerutil.SetControllerReference(holder, left, stage.Client.Scheme()); err != nil {
		stage.T.Fatal(err)
	}
	if err := stage.Client.Create(stage.T.Context(), left, client.FieldOwner(by)); err != nil {
		stage.T.Fatal(err)
	}
}

// letGo walks the steps of the page about adoption for the operator's objects.
func letGo(stage *harness.Stage) {
	stage.T.Helper()
	webhook := func(kind string) func() {
		return func() {
			drop(stage, &unstructured.Unstructured{Object: object{
				"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind + "WebhookConfiguration", "metadata": object{"name": "azureserviceoperator-" + strings.ToLower(kind) + "-webhook-configuration"},
			}})
		}
	}
	release := func() (string, error) {
		said, _, err := azurecli.Run(stage, nil, "release-operator-objects", "--namespace", stage.Namespace)
		return said, err
	}
	if _, err := release(); err == nil || !strings.Contains(err.Error(), "the operator runs") {
		stage.T.Errorf("the operator would put its finalizer back: %v", err)
	}
	steps := map[string]func(){
		"kubectl scale deployment capz-controller-manager azureserviceoperator-controller-manager -n capz-system --replicas 0": func() {
			harness.Change(stage, &unstructured.Unstructured{Object: object{
				"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": "azureserviceoperator-controller-manager"},
			}}, func(d *unstructured.Unstructured) { set(d.Object, int64(0), "spec", "replicas") })
		},
		"kubectl delete validatingwebhookconfiguration azureserviceoperator-validating-webhook-configuration": webhook("Validating"),
		"kubectl delete mutatingwebhookconfiguration azureserviceoperator-mutating-webhook-configuration":     webhook("Mutating"),
		"adopt release-operator-objects --namespace default": func() {
			said, err := release()
			if err == nil || !strings.Contains(said, "has not the annotation "+policy+": detach-on-delete of its object") || strings.Contains(said, "ResourceGroup") {
				stage.T.Errorf("what only the object says would be lost: %v\n%s", err, said)
			}
			harness.Change(stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: cluster}}, func(c *infrav1.AzureASOManagedControlPlane) {
				c.Spec.Resources[0].Raw = []byte(strings.Replace(string(c.Spec.Resources[0].Raw), `"`+secret+`"`, `"`+policy+`":"detach-on-delete","`+secret+`"`, 1))
			})
			if said, err = release(); err != nil || !strings.Contains(said, "2 objects let go") {
				stage.T.Errorf("%v\n%s", err, said)
			}
			if said, err = release(); err != nil || !strings.Contains(said, "0 objects let go") {
				stage.T.Errorf("a second time there is nothing to do: %v\n%s", err, said)
			}
		},
	}
	for _, line := range azurecli.Commands(stage.T, "kubectl scale", "kubectl delete", "adopt release") {
		step, ok := steps[line]
		if !ok {
			stage.T.Fatalf("no test walks this step of the page: %s", line)
		}
		delete(steps, line)
		step()
	}
	if len(steps) > 0 {
		stage.T.Errorf("steps that the page has not: %d", len(steps))
	}
	for group, kind := range map[string]string{"containerservice.azure.com": "ManagedCluster", "resources.azure.com": "ResourceGroup"} {
		left := &unstructured.Unstructured{Object: object{"apiVersion": group + "/v1api20240901storage", "kind": kind}}
		stage.Get(left, cluster)
		if left.GetAnnotations()[policy] != "skip" || len(left.GetFinalizers()) > 0 || len(left.GetOwnerReferences()) > 0 {
			stage.T.Errorf("%s is not let go: %v", kind, left.Object["metadata"])
		}
	}
	if status, _ := stage.Azure.Get("resourceGroups/c1", "2021-04-01"); status != http.StatusOK {
		stage.T.Errorf("the group is gone: %d", status)
	}
}
