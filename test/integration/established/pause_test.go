package established_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// topologies are Clusters with a topology of two providers, with and without their infrastructure.
const topologies = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: clusterclasses.cluster.x-k8s.io
  annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes-sigs/cluster-api"}
spec:
  group: cluster.x-k8s.io
  scope: Namespaced
  names: {kind: ClusterClass, listKind: ClusterClassList, plural: clusterclasses, singular: clusterclass}
  versions:
    - name: v1beta2
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: azure, namespace: team}
spec:
  infrastructure: {templateRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: AzureClusterTemplate, name: azure}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: elsewhere, namespace: default}
spec:
  infrastructure: {templateRef: {apiVersion: infrastructure.example.com/v1, kind: OtherClusterTemplate, name: elsewhere}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: new, namespace: default}
spec: {topology: {classRef: {name: azure, namespace: team}, version: v1.35.2}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: without-class, namespace: default}
spec: {topology: {classRef: {name: missing}, version: v1.35.2}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: new-elsewhere, namespace: default}
spec: {topology: {classRef: {name: elsewhere}, version: v1.35.2}}
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: elsewhere, namespace: default}
spec:
  topology: {classRef: {name: elsewhere}, version: v1.35.2}
  infrastructureRef: {apiGroup: infrastructure.example.com, kind: OtherCluster, name: elsewhere}
`

// TestMigratePauses checks that a migration pauses only Clusters whose objects Cluster API would apply without this provider's webhooks.
func TestMigratePauses(t *testing.T) {
	installCluster(t)
	applyManifest(t, topologies)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	listPaused := func() (out []string) {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("cluster.x-k8s.io/v1beta2")
		list.SetKind("ClusterList")
		if err := api.client.List(t.Context(), list, client.InNamespace("default")); err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			if paused, _, _ := unstructured.NestedBool(item.Object, "spec", "paused"); paused {
				out = append(out, item.GetName())
			}
		}
		slices.Sort(out)
		return out
	}
	var paused []string
	move := newMove(t, c, 1000)
	move.Clusterctl = func(ctx context.Context, variables map[string]string, arguments ...string) error {
		paused = listPaused()
		return c.run(ctx, variables, arguments...)
	}
	if _, err := move.Forward(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"classy", "new", "without-class"}, paused); diff != "" {
		t.Errorf("paused Clusters during the upgrade (-want +got):\n%s", diff)
	}
	if left := listPaused(); len(left) > 0 {
		t.Errorf("Clusters stay paused: %v", left)
	}
}
