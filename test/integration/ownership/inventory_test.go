package ownership_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestForgedInventory has a tenant write into the inventory what is not the tenant's: in the words of today, and in those of
// earlier releases. Nothing of it is deleted, neither at once nor with the cluster, and an event says what was ignored.
func TestForgedInventory(t *testing.T) {
	tries := map[string]struct {
		reason  string
		lists   string
		brought bool
		nodes   string
		silent  bool
	}{
		"resource group":              {"a group carries tags", "", false, "", false},
		"network":                     {"so does a network", "/providers/Microsoft.Network/virtualNetworks/hub-1", false, "", false},
		"address":                     {"and an address", "/providers/Microsoft.Network/publicIPAddresses/theirs", false, "", false},
		"disk":                        {"and a disk", "/providers/Microsoft.Compute/disks/theirs", false, "", false},
		"subnet elsewhere":            {"the spec does not name its network", "/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs", false, "", false},
		"subnet of brought network":   {"nothing shows that it was made for the cluster", "/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs", true, "nodes", false},
		"network that is brought":     {"it carries tags", "/providers/Microsoft.Network/virtualNetworks/hub-1", true, "nodes", false},
		"subnet that the spec names":  {"it has no security group of the cluster's", "/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs", true, "theirs", true},
		"subnet in another case":      {"IDs have no case", "/PROVIDERS/microsoft.network/virtualnetworks/HUB-1/subnets/THEIRS", true, "nodes", false},
		"role assignment":             {"the spec names none; there is no such one to be told of", "/providers/Microsoft.Authorization/roleAssignments/00000000-0000-0000-0000-00000000000a", false, "", true},
		"path out of the group":       {"it is no ID of a type that there is", "/../hub", false, "", false},
		"record in a zone of others'": {"no zone is the spec's", "/providers/Microsoft.Network/privateDnsZones/corp.internal/A/payroll", false, "", false},
	}
	for name, try := range tries {
		for form, write := range map[string]func(c *infrav1.AzureCluster, id string) any{
			"today": func(c *infrav1.AzureCluster, id string) any {
				return map[string]any{"of": "AzureCluster/" + c.Namespace + "/" + c.Name, "made": []string{id}}
			},
			"earlier": func(_ *infrav1.AzureCluster, id string) any { return []string{id} },
		} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				stage := harness.NewStage(t, environment)
				id := foreign(stage)
				before := stage.Azure.Resources()
				stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
				stage.CreateIdentity()
				c := stage.AzureCluster("c1")
				if try.brought {
					brought(c, try.nodes)
				}
				if try.nodes == "theirs" {
					// What the spec and the inventory name alike would be written, and then be tied to what is the cluster's. It is about the
					// deletion of what is not.
					refused := fault.Rule{Method: "PUT", ID: "*/subnets/theirs", Count: -1, Kind: fault.Status, Status: 403, Code: "AuthorizationFailed", Message: "The client does not have authorization to perform action 'Microsoft.Network/virtualNetworks/subnets/write'."}
					if err := stage.Azure.AddFault(refused); err != nil {
						t.Fatal(err)
					}
				}
				raw, _ := json.Marshal(write(c, id(try.lists)))
				annotate(c, infrav1.InventoryAnnotation, string(raw))
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
				stands(t, stage, before, subnets()...)
				if !try.silent {
					stage.Eventually("what is ignored is said", func() bool {
						return strings.Contains(strings.ToLower(strings.Join(stage.Events("AzureCluster", "c1"), "\n")), strings.ToLower(infrav1.InventoryAnnotation+" lists resources that are not proven"))
					})
				}
				stage.DeleteCluster("c1")
				stands(t, stage, before, subnets()...)
			})
		}
	}
}

func subnets() []string {
	const hub = "resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/"
	return []string{hub + "theirs", hub + "others"}
}

// TestForgedLater has a tenant write the inventory of a cluster that stands.
func TestForgedLater(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	id := foreign(stage)
	before := stage.Azure.Resources()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateCluster(brought(stage.AzureCluster("c1"), "nodes"))
	stage.WaitClusterProvisioned("c1")
	made := stage.Azure.Resources()
	mark := stage.Azure.Mark()
	harness.Change(stage, &infrav1.AzureCluster{ObjectMeta: named("c1")}, func(c *infrav1.AzureCluster) {
		raw, _ := json.Marshal(map[string]any{"of": "AzureCluster/" + c.Namespace + "/c1", "made": []string{
			id(""), id("/providers/Microsoft.Network/virtualNetworks/hub-1"), id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/theirs"),
			id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/nodes"), id("/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/control-planes"),
		}})
		annotate(c, infrav1.InventoryAnnotation, string(raw))
	})
	harness.WaitFor(stage, &infrav1.AzureCluster{}, "c1", "right again", func(c *infrav1.AzureCluster) bool {
		list := c.Annotations[infrav1.InventoryAnnotation]
		return harness.Ready(c) && !strings.Contains(list, "theirs") && strings.Contains(list, "subnets/nodes")
	})
	if writes := stage.Azure.Writes(mark); len(writes) > 0 {
		t.Errorf("nothing is written, but: %q", writes)
	}
	stands(t, stage, made, subnets()...)
	stage.DeleteCluster("c1")
	stands(t, stage, before, subnets()...)
	if left := len(stage.Azure.Resources()); left != len(before) {
		t.Errorf("the cluster's own subnets are gone with it, but there is: %q", stage.Azure.Resources())
	}
	for _, name := range []string{"nodes", "control-planes"} {
		if status, _ := stage.Azure.Get("resourceGroups/hub/providers/Microsoft.Network/virtualNetworks/hub-1/subnets/"+name, networkVersion); status != 404 {
			t.Errorf("the cluster's own subnet %s is left behind: %d", name, status)
		}
	}
}
