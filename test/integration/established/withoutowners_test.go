package established_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
)

// withoutOwners are objects of the operator without owner references. While a Cluster is paused, the established provider applies its
// resource manifests without them. Its former versions set a label.
const withoutOwners = `
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: AzureASOManagedCluster
metadata: {name: paused, namespace: default}
spec:
  resources:
    - {apiVersion: resources.azure.com/v1api20240901, kind: ResourceGroup, metadata: {name: paused}, spec: {location: westeurope}}
---
apiVersion: resources.azure.com/v1api20240901storage
kind: ResourceGroup
metadata:
  name: paused
  namespace: default
  finalizers: [serviceoperator.azure.com/finalizer]
  annotations: {serviceoperator.azure.com/reconcile-policy: manage, serviceoperator.azure.com/credential-from: team-credential}
spec: {azureName: paused, location: westeurope}
---
apiVersion: resources.azure.com/v1api20240901storage
kind: ResourceGroup
metadata:
  name: labelled
  namespace: default
  finalizers: [serviceoperator.azure.com/finalizer]
  labels: {sigs.k8s.io_cluster-api-provider-azure_owned: one}
spec: {azureName: labelled, location: westeurope}
---
# One of a user. The manifest with its name is in another namespace.
apiVersion: resources.azure.com/v1api20240901storage
kind: ResourceGroup
metadata:
  name: paused
  namespace: team
  finalizers: [serviceoperator.azure.com/finalizer]
spec: {azureName: team, location: westeurope}
`

// TestMigrateWithoutOwners releases objects of the operator that have no owner references, and first reports the credential that the
// manifest of one lacks.
func TestMigrateWithoutOwners(t *testing.T) {
	installCluster(t)
	applyManifest(t, withoutOwners)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })

	out, err := runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--plan=false")
	const lacks = "ResourceGroup paused of spec.resources[0] lacks the annotation serviceoperator.azure.com/credential-from: team-credential"
	if !errors.As(err, new(environment.FoundError)) || !strings.Contains(out, lacks) {
		t.Errorf("the check does not report %q: %v\n%s", lacks, err, out)
	}
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err == nil || !strings.Contains(err.Error(), lacks) {
		t.Errorf("a migration with a manifest that lacks an annotation ends with %v", err)
	}

	holder := readObject(t, migration.GroupVersion.WithKind("AzureASOManagedCluster"), "paused")
	resources, _, _ := unstructured.NestedSlice(holder.Object, "spec", "resources")
	if err := unstructured.SetNestedField(resources[0].(map[string]any), "team-credential", "metadata", "annotations",
		"serviceoperator.azure.com/credential-from"); err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedSlice(holder.Object, resources, "spec", "resources"); err != nil {
		t.Fatal(err)
	}
	storeInEtcd(t, holder)
	if _, err := newMove(t, c, 1000).Forward(t.Context()); err != nil {
		t.Fatal(err)
	}
	kind := schema.GroupVersionKind{Group: "resources.azure.com", Version: "v1api20240901storage", Kind: "ResourceGroup"}
	for _, name := range []string{"paused", "labelled"} {
		group := readObject(t, kind, name)
		if policy := group.GetAnnotations()["serviceoperator.azure.com/reconcile-policy"]; len(group.GetFinalizers()) > 0 || policy != "skip" {
			t.Errorf("ResourceGroup %s is not released: finalizers %v, policy %q", name, group.GetFinalizers(), policy)
		}
	}
	foreign := &unstructured.Unstructured{}
	foreign.SetGroupVersionKind(kind)
	if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: "paused"}, foreign); err != nil {
		t.Fatal(err)
	}
	if len(foreign.GetFinalizers()) == 0 || len(foreign.GetAnnotations()) > 0 {
		t.Error("the object of a user was changed")
	}
}
