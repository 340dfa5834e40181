package aks_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// readAttachments returns a cluster with two private endpoints, two extensions and a fleet.
func readAttachments(t *testing.T) aks.Input {
	t.Helper()
	in := readTestCase(t, "default").in
	in.ControlPlane.Annotations = map[string]string{}
	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "pe1"}, {Name: "pe2"}}
	in.ControlPlane.Spec.Extensions = []infrav1.AKSExtension{{Name: "e1"}, {Name: "e2"}}
	in.ControlPlane.Spec.FleetsMember = &infrav1.FleetsMember{Name: "m"}
	in.ControlPlane.Spec.FleetsMember.ManagerName, in.ControlPlane.Spec.FleetsMember.ManagerResourceGroup = "f", "fg"
	return in
}

func mustPlan(t *testing.T, in aks.Input) *arm.Graph {
	t.Helper()
	g, _, err := aks.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sentBefore makes paths of one resource, and tags of all resources, all that is stored in an object.
func sentBefore(obj metav1.Object, id arm.ID, paths []string) {
	_, short, _ := strings.Cut(string(id), "/resourceGroups/")
	sent := applied.Paths{short: {}}
	for _, path := range paths {
		if strings.HasPrefix(path, "/tags/") {
			sent["*"] = append(sent["*"], path)
		} else {
			sent[short] = append(sent[short], path)
		}
	}
	obj.SetAnnotations(nil)
	applied.Content{Applied: sent}.Store(obj)
}

// storeBefore stores in obj the record that the reconciler stores before it converges a plan.
func storeBefore(obj metav1.Object, sent applied.State, g *arm.Graph) {
	if paths := sent.PathsBefore(g); paths != nil {
		storePaths(obj, paths)
	}
}

// storeAfter stores in obj the record that the reconciler stores once a plan is in place.
func storeAfter(obj metav1.Object, sent applied.State, g *arm.Graph) {
	storePaths(obj, sent.PathsAfter(g, outcomeOfAll(g)))
}

func storePaths(obj metav1.Object, paths applied.Paths) {
	content := applied.Read(obj.GetAnnotations())
	content.Applied = paths
	content.Store(obj)
}

// outcomeOfAll returns the outcome of a reconciliation that found everything as planned.
func outcomeOfAll(g *arm.Graph) arm.Outcome {
	var out arm.Outcome
	for _, node := range g.Nodes() {
		out.Results = append(out.Results, arm.Result{ID: node.ID, State: arm.Ready})
	}
	return out
}

// recordedPaths returns the paths of a resource that a plan in place leaves to remember, with the tags that all resources have.
func recordedPaths(t *testing.T, before applied.State, g *arm.Graph, id arm.ID) []string {
	t.Helper()
	lists := before.PathsAfter(g, outcomeOfAll(g))
	_, short, _ := strings.Cut(string(id), "/resourceGroups/")
	var out []string
	if row, err := types.ForID(id); err == nil && row.Taggable {
		out = lists["*"]
	}
	out = append(slices.Clone(out), lists[short]...)
	return slices.DeleteFunc(slices.Sorted(slices.Values(out)),
		func(path string) bool { return slices.Contains(g.Node(id).UnremovablePaths, path) })
}

func TestPruneWhenTheSpecShrinks(t *testing.T) {
	in := readAttachments(t)
	storeBefore(in.ControlPlane, aks.LastApplied(in), mustPlan(t, in))

	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints[:1]
	in.ControlPlane.Spec.Extensions = in.ControlPlane.Spec.Extensions[1:]
	in.ControlPlane.Spec.FleetsMember = nil
	g := mustPlan(t, in)
	var got []string
	for _, id := range aks.LastApplied(in).ListPruned(g) {
		got = append(got, id.ShortName())
	}
	// Users brought the fleet, and it is no longer in the spec: the inventory is the record of the membership.
	if diff := cmp.Diff([]string{"extensions/e1", "privateEndpoints/pe2"}, got); diff != "" {
		t.Error(diff)
	}
	if again := aks.LastApplied(in).PathsBefore(g); again != nil {
		t.Errorf("all of it is stored, and until they are gone nothing may be forgotten: got %s", again)
	}
	storeAfter(in.ControlPlane, aks.LastApplied(in), g)
	if left := aks.LastApplied(in).ListPruned(g); len(left) > 0 {
		t.Errorf("in place, and still to prune: %v", left)
	}
}

// A service endpoint that the spec dropped goes with the next write of the subnet, and is no resource to delete.
func TestDroppedServiceEndpoint(t *testing.T) {
	in := readAttachments(t)
	subnet := &in.ControlPlane.Spec.VirtualNetwork.Subnet
	subnet.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage"}, {Service: "Microsoft.Sql"}}
	storeAfter(in.ControlPlane, aks.LastApplied(in), mustPlan(t, in))
	owned := func() []string { return mustPlan(t, in).Node(aks.SubnetID(in)).OwnedPaths }
	if got := owned(); len(got) > 0 {
		t.Errorf("nothing was dropped yet, got %v", got)
	}
	subnet.ServiceEndpoints = subnet.ServiceEndpoints[:1]
	if diff := cmp.Diff([]string{"properties.serviceEndpoints[Microsoft.Sql]"}, owned()); diff != "" {
		t.Error(diff)
	}
	if got := aks.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	storeAfter(in.ControlPlane, aks.LastApplied(in), mustPlan(t, in))
	if got := owned(); len(got) > 0 {
		t.Errorf("in place, and still %v", got)
	}
}

func TestPruneNeverTakesTheCluster(t *testing.T) {
	in := readAttachments(t)
	in.ControlPlane.Annotations[infrav1.AppliedAnnotation] = `{"applied":{"other":[],"c1/providers/Microsoft.ContainerService/managedClusters/old":[],
		"c1/providers/Microsoft.Network/virtualNetworks/old":[],"c1/providers/Microsoft.Network/virtualNetworks/c1/subnets/old":[],"no ID":[],"":[]}}`
	if got := aks.LastApplied(in).ListPruned(mustPlan(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// What is sent is remembered until it is taken back, so that a process that dies in between forgets nothing.
func TestSentPathsStayRecordedUntilRemoved(t *testing.T) {
	in := readTestCase(t, "created").in
	id := aks.ClusterID(in)
	plain := recordedPaths(t, aks.LastApplied(in), mustPlan(t, in), id)
	sentBefore(in.ControlPlane, id, append(slices.Clone(plain), "/properties/supportPlan"))
	g := mustPlan(t, in)
	storeBefore(in.ControlPlane, aks.LastApplied(in), g)
	if !slices.Contains(aks.LastApplied(in).AppliedPaths(id), "/properties/supportPlan") {
		t.Errorf("it was sent and is not removed yet, got %v", aks.LastApplied(in).AppliedPaths(id))
	}
	if diff := cmp.Diff(plain, recordedPaths(t, aks.LastApplied(in), g, id)); diff != "" {
		t.Errorf("the property was removed: %s", diff)
	}
	storeAfter(in.ControlPlane, aks.LastApplied(in), g)
	g = mustPlan(t, in)
	if again := aks.LastApplied(in).PathsBefore(g); again != nil {
		t.Errorf("nothing is left to remove: %s", again)
	}
	if plan := decodeProperties(t, g.Node(id).Body)["supportPlan"]; plan != nil {
		t.Errorf("a property that was removed is reported again: %v", plan)
	}
}

// A deletion must not fail because the spec is broken or the Cluster is gone.
func TestDeletePlanAcceptsAnySpec(t *testing.T) {
	in := aks.Input{SubscriptionID: "s", ControlPlane: &infrav1.AzureManagedControlPlane{}}
	in.ControlPlane.Name = "c"
	in.ControlPlane.Spec.FleetsMember = &infrav1.FleetsMember{}
	in.ControlPlane.Spec.Extensions = []infrav1.AKSExtension{{}, {Name: "e"}}
	in.ControlPlane.Spec.ASOManagedClusterPatches = []string{"{"}
	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{}, {Name: "p"}}
	g, err := aks.BuildDeletePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, node := range g.Nodes() {
		got = append(got, node.ID.ShortName())
		if node.Body != nil {
			t.Errorf("%s: nothing is written", node.ID)
		}
	}
	want := []string{"resourceGroups/c", "virtualNetworks/c", "subnets/c", "managedClusters/c", "privateEndpoints/p", "extensions/e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
