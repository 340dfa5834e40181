package ownership_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestForgedInventory lets a tenant list resources of others in the inventory, in the annotation of today and in that of v2.0.0-alpha. It
// expects that none of them is deleted, neither at once nor with the cluster, and that an event lists the entries that were ignored.
func TestForgedInventory(t *testing.T) {
	tries := map[string]struct {
		reason  string
		lists   string
		brought bool
		nodes   string
		silent  bool
	}{
		"resource group": {"a group carries tags", "", false, "", false},
		"network":        {"a network carries tags", "/providers/Microsoft.Network/virtualNetworks/hub-1", false, "", false},
		"address":        {"an address carries tags", "/providers/Microsoft.Network/publicIPAddresses/theirs", false, "", false},
		"disk":           {"a disk carries tags", "/providers/Microsoft.Compute/disks/theirs", false, "", false},
		"subnet elsewhere": {"the spec does not name its network", "/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs",
			false, "", false},
		"subnet of brought network": {"nothing shows that it was made for the cluster",
			"/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs", true, "nodes", false},
		"network that is brought": {"it carries tags", "/providers/Microsoft.Network/virtualNetworks/hub-1", true, "nodes", false},
		"subnet that the spec names": {"it has no security group of the cluster's",
			"/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs", true, "theirs", true},
		"subnet in another case": {"IDs have no case", "/PROVIDERS/microsoft.network/virtualnetworks/HUB-1/subnets/THEIRS", true, "nodes",
			false},
		"role assignment": {"the spec names none, and none exists that an event could list",
			"/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000a", false, "", true},
		"path out of the group": {"it is no ID of a type that there is", "/../hub", false, "", false},
		"record in a zone of others'": {"no zone is the spec's", "/providers/Microsoft.Network/privateDnsZones/corp.internal/A/payroll", false,
			"", false},
	}
	for name, try := range tries {
		for form, forge := range map[string]func(c *infrav1.AzureCluster, object, id string){
			"today": func(c *infrav1.AzureCluster, object, id string) { forgeInventory(c, object, id) },
			"v2.0.0-alpha": func(c *infrav1.AzureCluster, object, id string) {
				raw, _ := json.Marshal(map[string]any{"of": object, "made": []string{id}})
				setAnnotation(c, "sigs.k8s.io/cluster-api-provider-azure-inventory", string(raw))
			},
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				stage := harness.NewStage(t, environment)
				id := createForeign(stage)
				before := stage.Azure.ListResources()
				stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
				stage.CreateIdentity()
				c := stage.AzureCluster("c1")
				if try.brought {
					bringNetwork(c, try.nodes)
				}
				if try.nodes == "theirs" {
					// A resource that both the spec and the inventory name would be written, and then be tied to the cluster's resources.
					// This test is about the deletion of a resource that is not written.
					refused := fault.Rule{Method: "PUT", ID: "*/subnets/theirs", Count: -1, Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
						Message: "The client does not have authorization to perform action 'Microsoft.Network/virtualNetworks/subnets/write'."}
					if err := stage.Azure.AddFault(refused); err != nil {
						t.Fatal(err)
					}
				}
				forge(c, "AzureCluster/"+c.Namespace+"/"+c.Name, id(try.lists))
				stage.CreateCluster(c)
				if try.nodes == "theirs" {
					stage.Eventually("the subnet was to be written", func() bool {
						return slices.ContainsFunc(stage.Azure.Requests(), func(r server.RequestRecord) bool {
							return r.Method == "PUT" && strings.Contains(r.URL, "/subnets/theirs?") && r.Status == 403
						})
					})
				} else {
					stage.WaitClusterProvisioned("c1")
				}
				checkStands(t, stage, before, listSubnets()...)
				if !try.silent {
					stage.Eventually("an event lists the ignored entries", func() bool {
						return strings.Contains(strings.ToLower(strings.Join(stage.ListEvents("AzureCluster", "c1"), "\n")),
							strings.ToLower(infrav1.AppliedAnnotation+" lists resources that are not proven"))
					})
				}
				stage.DeleteCluster("c1")
				checkStands(t, stage, before, listSubnets()...)
			})
		}
	}
}

// forgeInventory replaces the inventory of an object.
func forgeInventory(obj client.Object, object string, created ...string) {
	content := applied.Read(obj.GetAnnotations())
	content.Inventory = applied.Inventory{Object: object}
	for _, id := range created {
		content.Inventory.Created = append(content.Inventory.Created, arm.ID(id))
	}
	content.Store(obj)
}

func listSubnets() []string {
	const hub = "resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/"
	return []string{hub + "theirs", hub + "others"}
}

// TestForgedLater lets a tenant write the inventory of an existing cluster.
func TestForgedLater(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	id := createForeign(stage)
	before := stage.Azure.ListResources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(bringNetwork(stage.AzureCluster("c1"), "nodes"))
	stage.WaitClusterProvisioned("c1")
	made := stage.Azure.ListResources()
	mark := stage.Azure.MarkRequests()
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: withName("c1")}, func(c *infrav1.AzureCluster) {
		forgeInventory(c, "AzureCluster/"+c.Namespace+"/c1",
			id(""), id("/providers/Microsoft.Network/virtualNetworks/hub-1"),
			id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs"),
			id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/nodes"),
			id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/control-planes"))
	})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "right again", func(c *infrav1.AzureCluster) bool {
		list := c.Annotations[infrav1.AppliedAnnotation]
		return harness.IsReady(c) && !strings.Contains(list, "theirs") && strings.Contains(list, "subnets/nodes")
	})
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	checkStands(t, stage, made, listSubnets()...)
	stage.DeleteCluster("c1")
	checkStands(t, stage, before, listSubnets()...)
	if left := len(stage.Azure.ListResources()); left != len(before) {
		t.Errorf("the cluster's own subnets are gone with it, but there is: %q", stage.Azure.ListResources())
	}
	for _, name := range []string{"nodes", "control-planes"} {
		if status, _ := stage.Azure.GetResource("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/"+name,
			networkVersion); status != 404 {
			t.Errorf("the cluster's own subnet %s is left behind: %d", name, status)
		}
	}
}
