package ownership_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// copyOf returns the copy of an AzureCluster that kubectl get and apply create elsewhere.
func copyOf(from, to *harness.Stage) *infrav1.AzureCluster {
	from.T.Helper()
	c := &infrav1.AzureCluster{}
	from.ReadObject(c, "c1")
	c.ObjectMeta = metav1.ObjectMeta{Namespace: to.Namespace, Name: "c1", Labels: c.Labels, Annotations: c.Annotations}
	c.Spec.ControlPlaneEndpoint = infrav1.APIEndpoint{}
	return c
}

// changeContent changes the content of the annotation of a copy.
func changeContent(c *infrav1.AzureCluster, by func(*applied.Content)) {
	content := applied.Read(c.Annotations)
	by(&content)
	content.Store(c)
}

// TestCopy applies the AzureCluster of an existing cluster once more, with all its annotations: in another tenant's namespace, and in
// another management cluster. The copy reports the owner of the resources, and its deletion deletes none of them.
func TestCopy(t *testing.T) {
	places := map[string]func(*harness.Stage) *harness.Stage{"another namespace": (*harness.Stage).InOtherNamespace,
		"another management cluster": (*harness.Stage).InOtherCluster}
	forms := map[string]func(*infrav1.AzureCluster){
		"as it is":            func(*infrav1.AzureCluster) {},
		"without annotations": func(c *infrav1.AzureCluster) { c.Annotations = nil },
		"with another ID": func(c *infrav1.AzureCluster) {
			changeContent(c, func(content *applied.Content) { content.OwnerID = "made-up" })
		},
		"with its inventory rewritten": func(c *infrav1.AzureCluster) {
			changeContent(c, func(content *applied.Content) {
				content.Inventory.Object = strings.ReplaceAll(content.Inventory.Object, "AzureCluster/", "AzureCluster/"+c.Namespace+"/")
			})
		},
	}
	for place, other := range places {
		for form, change := range forms {
			if place == "another management cluster" && (form == "as it is" || form == "with its inventory rewritten") {
				continue // With its ID, under its name: that is the object itself, as clusterctl moves it or a backup brings it back.
			}
			t.Run(form+" in "+place, func(t *testing.T) {
				t.Parallel()
				stage := harness.NewStage(t, environment)
				createForeign(stage)
				stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
				stage.CreateIdentity()
				stage.CreateCluster(bringNetwork(stage.AzureCluster("c1"), "nodes"))
				stage.WaitClusterProvisioned("c1")
				made := stage.Azure.ListResources()
				tenant := other(stage)
				tenant.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
				tenant.CreateIdentity()
				c := copyOf(stage, tenant)
				change(c)
				mark := stage.Azure.MarkRequests()
				tenant.CreateCluster(c)
				refused := harness.WaitFor(tenant, &infrav1.AzureCluster{}, "c1", "refused", func(c *infrav1.AzureCluster) bool {
					return harness.FindCondition(c, infrav1.ResourceGroupReadyCondition).Reason == infrav1.ResourceExistsNotOwnedReason
				})
				message := harness.FindCondition(refused, infrav1.ReadyCondition).Message
				if !strings.Contains(message, "belongs to "+stage.Namespace+"/c1/") || !strings.Contains(message, "this is "+tenant.Namespace+"/c1/") {
					t.Errorf("both owners are named, but: %s", message)
				}
				tenant.DeleteCluster("c1")
				if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
					t.Errorf("a copy writes nothing, but: %q", writes)
				}
				own := "resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/nodes"
				checkStands(t, stage, made, append(listSubnets(), own)...)
				harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "in order", func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) })
				stage.DeleteCluster("c1")
				if status, _ := stage.Azure.GetResource(own, networkVersion); status != 404 {
					t.Errorf("the owner deletes its subnet: %d", status)
				}
			})
		}
	}
}

// TestForgedStatus lets a tenant claim resources of others in the status and in lastApplied, in the annotation of today and in those of
// v2.0.0-alpha, as if all of them were created for the cluster.
func TestForgedStatus(t *testing.T) {
	const paths = `{"hub":[""],"hub/providers/Microsoft.Network/virtualNetworks/hub-1":[""],` +
		`"hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs":[""],"hub/providers/Microsoft.Network/publicIPAddresses/theirs":[""]}`
	for form, forge := range map[string]func(*infrav1.AzureCluster){
		"today": func(c *infrav1.AzureCluster) {
			setAnnotation(c, infrav1.AppliedAnnotation, `{"applied":`+paths+`,"migration":{}}`)
		},
		"v2.0.0-alpha": func(c *infrav1.AzureCluster) {
			setAnnotation(c, "sigs.k8s.io/cluster-api-provider-azure-last-applied", paths)
			setAnnotation(c, "sigs.k8s.io/cluster-api-provider-azure-taken-over", "{}")
		},
	} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			id := createForeign(stage)
			before := stage.Azure.ListResources()
			stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
			stage.CreateIdentity()
			c := stage.AzureCluster("c1")
			c.Spec.ResourceGroup = "hub"
			forge(c)
			stage.CreateCluster(c)
			harness.ChangeStatus(stage, &infrav1.AzureCluster{ObjectMeta: withName("c1")}, func(c *infrav1.AzureCluster) {
				c.Status.Ready, c.Status.Initialization.Provisioned = true, new(true)
				c.Status.Resources = []infrav1.ResourceStatus{{ID: id(""), State: "Ready"},
					{ID: id("/providers/Microsoft.Network/publicIPAddresses/theirs"), State: "Ready"}}
			})
			harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "created, with a condition about the lost ownership tag", func(c *infrav1.AzureCluster) bool {
				return harness.FindCondition(c, infrav1.ResourceGroupReadyCondition).Reason == infrav1.OwnershipTagLostReason &&
					harness.FindCondition(c, infrav1.LoadBalancersReadyCondition).Status == metav1.ConditionTrue
			})
			checkStands(t, stage, before, listSubnets()...)
			// The resources may be the cluster's, so the deletion would wait until a user who may tag them tags them as not the
			// cluster's.
			for _, theirs := range []string{"", "/providers/Microsoft.Network/publicIPAddresses/theirs"} {
				if err := stage.Azure.AddFault(fault.Rule{Now: true, ID: id(theirs), Kind: fault.Edit,
					Patch: map[string]any{"tags": map[string]any{infrav1.ClusterTagKey("c1"): "shared"}}}); err != nil {
					t.Fatal(err)
				}
			}
			stage.AdvanceClock(time.Hour)
			stage.DeleteCluster("c1")
			checkStands(t, stage, before, listSubnets()...)
			if now := stage.Azure.ListResources(); len(now) != len(before) {
				t.Errorf("nothing of the cluster's is left, but: %q", now)
			}
		})
	}
}

// TestReplace removes all annotations of a cluster with subnets in a brought network, as kubectl replace does; it expects that the subnets
// still belong to the cluster, and are deleted with it.
func TestReplace(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	createForeign(stage)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(bringNetwork(stage.AzureCluster("c1"), "nodes"))
	stage.WaitClusterProvisioned("c1")
	mark := stage.Azure.MarkRequests()
	c := &infrav1.AzureCluster{}
	stage.ReadObject(c, "c1")
	c.Annotations = nil
	if err := stage.Client.Update(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if stored := applied.Read(c.Annotations); stored.OwnerID == "" ||
		!strings.Contains(fmt.Sprint(stored.Inventory.Created), "subnets/nodes") {
		t.Errorf("what is in Azure is known: %v", c.Annotations)
	}
	stage.WaitClusterProvisioned("c1")
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	stage.DeleteCluster("c1")
	for _, name := range []string{"nodes", "control-planes"} {
		if status, _ := stage.Azure.GetResource("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/"+name,
			networkVersion); status != 404 {
			t.Errorf("the subnet %s is left behind: %d", name, status)
		}
	}
	checkStands(t, stage, before, listSubnets()...)
}
