package requests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// roleManifest is a resource outside of the group that cannot carry a tag: only the inventory shows that it belongs to the Cluster.
const roleManifest = `
apiVersion: authorization.azure.com/v1api20220401
kind: RoleAssignment
metadata:
  name: reader
spec:
  owner: {armId: /subscriptions/SUBSCRIPTION}
  principalId: 00000000-0000-0000-0000-00000000000b
  principalType: ServicePrincipal
  roleDefinitionReference: {armId: /providers/Microsoft.Authorization/roleDefinitions/acdd72a7-3385-48ef-bd42-f606fba81ae7}
`

// TestManifestsMove pauses an AKS cluster of documents and moves it to another management cluster, as clusterctl does: nothing is
// written to Azure, everything is known there, the kubeconfig belongs to the control plane there, and deletion from there takes
// everything.
func TestManifestsMove(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		c := w.BuildASOCluster("c1", "pool0", "pool1")
		c.ControlPlane.Spec.Resources = append(c.ControlPlane.Spec.Resources, w.ParseManifest(windowManifest))
		c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources,
			w.ParseManifest(strings.Replace(roleManifest, "SUBSCRIPTION", w.Azure.SubscriptionID, 1)))
		w.CreateASOCluster(c)
		target := &world{Scenario: w.NewManagementCluster()}
		target.StartProvider()

		w.PauseCluster("c1", true)
		documents := []client.Object{c.Infrastructure, c.ControlPlane, c.Pools[0], c.Pools[1]}
		for _, object := range documents {
			w.WaitUntil(object.GetName()+" is free to move", virtual.ObjectMatches(w.Scenario, object, object.GetName(), harness.IsMovable))
		}
		mark, before, known := w.Azure.MarkRequests(), w.Azure.ListResources(), w.readStatuses(c)
		moved := []client.Object{&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, virtual.MachinePool("c1-pool0"),
			virtual.MachinePool("c1-pool1")}
		credential := newSecret(harness.OperatorSecret)
		w.ReadObject(credential, credential.Name)
		if _, ok := credential.Labels["clusterctl.cluster.x-k8s.io/move"]; !ok {
			w.T.Errorf("clusterctl leaves the Secret with the credential behind: its labels are %v", credential.Labels)
		}
		moved = append(append([]client.Object{credential}, append(moved, documents...)...), newSecret("c1-kubeconfig"), newSecret("c1-ca"))
		w.MoveObjects(target.Stage, moved)
		target.WaitUntil("it is paused there, too",
			virtual.ObjectMatches(target.Scenario, &infrav1.AzureASOManagedControlPlane{}, "c1",
				func(o *infrav1.AzureASOManagedControlPlane) bool { return harness.IsPaused(o) }))
		if asked := w.Azure.RequestsSince(mark); len(asked) > 0 {
			w.T.Errorf("a paused cluster asks nothing of Azure, but: %q", asked)
		}
		target.PauseCluster("c1", false)
		target.WaitUntil("the documents are in place there", func() bool { return target.InPlace(c) })
		target.countHour()
		w.checkWrites("moved", mark)
		if diff := cmp.Diff(before, w.Azure.ListResources()); diff != "" {
			w.T.Errorf("resources (-before +after):\n%s", diff)
		}
		if diff := cmp.Diff(known, target.readStatuses(c)); diff != "" {
			w.T.Errorf("states of the resources in the objects (-before +after):\n%s", diff)
		}
		own := &infrav1.AzureASOManagedControlPlane{}
		target.ReadObject(own, "c1")
		for _, name := range []string{"c1-kubeconfig", "c1-ca"} {
			found := newSecret(name)
			target.ReadObject(found, name)
			if len(found.OwnerReferences) != 1 || found.OwnerReferences[0].UID != own.UID {
				w.T.Errorf("Secret %s has the owners %v, want only the control plane of there, %s", name, found.OwnerReferences, own.UID)
			}
		}
		target.DeleteManifests(c)
		w.checkLeft()
	})
}

// TestManifestsNamespaceGoes deletes an AKS cluster of documents in the order of the namespace controller, which knows none: the Secret
// with the credential goes first, and exists until nothing is left in Azure.
func TestManifestsNamespaceGoes(t *testing.T) {
	inVirtualTime(t, func(w *world) {
		c := w.BuildASOCluster("c1", "pool0")
		w.CreateASOCluster(c)
		credential := newSecret(harness.OperatorSecret)
		w.DeleteObjects(credential)
		w.DeleteManifests(c)
		w.checkLeft()
		w.WaitUntilGone(credential)
	})
}

func newSecret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// resources are the records of an object about its resources.
type resources struct {
	Inventory applied.Inventory
	Sent      applied.Paths
	Documents []infrav1.ASOResourceStatus
}

// readStatuses returns the records of the objects of an AKS cluster of documents about their resources.
func (w *world) readStatuses(c *harness.ASOCluster) map[string]resources {
	w.T.Helper()
	out := map[string]resources{}
	add := func(kind string, object client.Object, documents []infrav1.ASOResourceStatus) {
		annotations := object.GetAnnotations()
		content := applied.Read(annotations)
		said := resources{content.Inventory, content.Applied, documents}
		if len(said.Sent) == 0 || len(documents) == 0 {
			w.T.Errorf("%s %s knows of no resources", kind, object.GetName())
		}
		out[kind+" "+object.GetName()] = said
	}
	cluster, controlPlane := &infrav1.AzureASOManagedCluster{}, &infrav1.AzureASOManagedControlPlane{}
	w.ReadObject(cluster, c.Infrastructure.Name)
	w.ReadObject(controlPlane, c.ControlPlane.Name)
	add("AzureASOManagedCluster", cluster, cluster.Status.Resources)
	add("AzureASOManagedControlPlane", controlPlane, controlPlane.Status.Resources)
	for _, each := range c.Pools {
		pool := &infrav1.AzureASOManagedMachinePool{}
		w.ReadObject(pool, each.Name)
		add("AzureASOManagedMachinePool", pool, pool.Status.Resources)
	}
	if out["AzureASOManagedCluster "+cluster.Name].Inventory.Object == "" {
		w.T.Error("the role assignment is in no inventory")
	}
	return out
}
