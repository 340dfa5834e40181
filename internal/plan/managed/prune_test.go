package managed_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

// attached is a cluster with two private endpoints, two extensions and a fleet.
func attached(t *testing.T) managed.Input {
	t.Helper()
	in := read(t, "default").in
	in.ControlPlane.Annotations = map[string]string{}
	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{Name: "pe1"}, {Name: "pe2"}}
	in.ControlPlane.Spec.Extensions = []infrav1.AKSExtension{{Name: "e1"}, {Name: "e2"}}
	in.ControlPlane.Spec.FleetsMember = &infrav1.FleetsMember{Name: "m"}
	in.ControlPlane.Spec.FleetsMember.ManagerName, in.ControlPlane.Spec.FleetsMember.ManagerResourceGroup = "f", "fg"
	return in
}

func planOf(t *testing.T, in managed.Input) *arm.Graph {
	t.Helper()
	g, _, err := managed.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPruneWhenTheSpecShrinks(t *testing.T) {
	in := attached(t)
	stored := managed.Remember(in, planOf(t, in))

	in.ControlPlane.Annotations[managed.PlannedAnnotation] = stored
	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints[:1]
	in.ControlPlane.Spec.Extensions = in.ControlPlane.Spec.Extensions[1:]
	in.ControlPlane.Spec.FleetsMember = nil
	g := planOf(t, in)
	var got []string
	for _, id := range managed.Prune(in, g) {
		got = append(got, id.Short())
	}
	if diff := cmp.Diff([]string{"extensions/e1", "privateEndpoints/pe2", "members/m"}, got); diff != "" {
		t.Error(diff)
	}
	if kept := managed.Remember(in, g); kept != stored {
		t.Errorf("until they are gone nothing may be forgotten: got %s, want %s", kept, stored)
	}
	in.ControlPlane.Annotations[managed.PlannedAnnotation] = managed.Settled(in, g)
	if left := managed.Prune(in, g); len(left) > 0 {
		t.Errorf("settled, and still to prune: %v", left)
	}
}

// A service endpoint that the spec dropped goes with the next write of the subnet, and is no resource to delete.
func TestDroppedServiceEndpoint(t *testing.T) {
	in := attached(t)
	subnet := &in.ControlPlane.Spec.VirtualNetwork.Subnet
	subnet.ServiceEndpoints = infrav1.ServiceEndpoints{{Service: "Microsoft.Storage"}, {Service: "Microsoft.Sql"}}
	in.ControlPlane.Annotations[managed.PlannedAnnotation] = managed.Settled(in, planOf(t, in))
	owned := func() []string { return planOf(t, in).Node(managed.SubnetID(in)).Owned }
	if got := owned(); len(got) > 0 {
		t.Errorf("nothing was dropped yet, got %v", got)
	}
	subnet.ServiceEndpoints = subnet.ServiceEndpoints[:1]
	if diff := cmp.Diff([]string{"properties.serviceEndpoints[Microsoft.Sql]"}, owned()); diff != "" {
		t.Error(diff)
	}
	if got := managed.Prune(in, planOf(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	in.ControlPlane.Annotations[managed.PlannedAnnotation] = managed.Settled(in, planOf(t, in))
	if got := owned(); len(got) > 0 {
		t.Errorf("settled, and still %v", got)
	}
}

func TestPruneNeverTakesTheCluster(t *testing.T) {
	in := attached(t)
	in.ControlPlane.Annotations[managed.PlannedAnnotation] = `["/resourceGroups/other","/resourceGroups/c1/providers/Microsoft.ContainerService/managedClusters/old",
		"/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/old","/resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1/subnets/old","no ID",""]`
	if got := managed.Prune(in, planOf(t, in)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
}

// What is sent is remembered until it is taken back, so that a process that dies in between forgets nothing.
func TestSentPaths(t *testing.T) {
	in := read(t, "created").in
	in.Sent = append(in.Sent, "/properties/supportPlan")
	_, extras, err := managed.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/properties/supportPlan"}, minus(extras.SentPaths, extras.SettledPaths)); diff != "" {
		t.Error(diff)
	}
	in.Sent = extras.SettledPaths
	again, second, err := managed.Plan(in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(second.SentPaths, second.SettledPaths); diff != "" {
		t.Errorf("there is nothing to take back any more: %s", diff)
	}
	if plan := properties(t, again.Node(managed.ClusterID(in)).Body)["supportPlan"]; plan != nil {
		t.Errorf("what was taken back is not spoken of again, got %v", plan)
	}
}

func minus(all, without []string) []string {
	known := map[string]bool{}
	for _, s := range without {
		known[s] = true
	}
	var out []string
	for _, s := range all {
		if !known[s] {
			out = append(out, s)
		}
	}
	return out
}

// A deletion must not fail because the spec is broken or the Cluster is gone.
func TestDeletePlanTakesAnySpec(t *testing.T) {
	in := managed.Input{SubscriptionID: "s", ControlPlane: &infrav1.AzureManagedControlPlane{}}
	in.ControlPlane.Name = "c"
	in.ControlPlane.Spec.FleetsMember = &infrav1.FleetsMember{}
	in.ControlPlane.Spec.Extensions = []infrav1.AKSExtension{{}, {Name: "e"}}
	in.ControlPlane.Spec.ASOManagedClusterPatches = []string{"{"}
	in.ControlPlane.Spec.VirtualNetwork.Subnet.PrivateEndpoints = infrav1.PrivateEndpoints{{}, {Name: "p"}}
	g, err := managed.DeletePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, node := range g.Nodes() {
		got = append(got, node.ID.Short())
		if node.Foreign != arm.UseForeign || node.Body != nil {
			t.Errorf("%s: nothing is in the way of a deletion, and nothing is written", node.ID)
		}
	}
	want := []string{"resourceGroups/c", "virtualNetworks/c", "subnets/c", "managedClusters/c", "privateEndpoints/p", "extensions/e"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
