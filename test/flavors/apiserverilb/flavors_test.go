package apiserverilb_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestFlavors brings the flavors with an internal load balancer beside the public one up, leaves them alone for ten resyncs,
// and deletes them.
func TestFlavors(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason    string
		variables map[string]string
		address   string
		machines  int
	}{
		"apiserver-ilb": {
			reason:    "the address is the default of the template",
			variables: map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123"},
			address:   "30.0.0.100", machines: 3,
		},
		"apiserver-ilb with an address": {
			reason:    "the user chooses the address",
			variables: map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123", "AZURE_INTERNAL_LB_PRIVATE_IP": "30.0.7.7"},
			address:   "30.0.7.7", machines: 3,
		},
		"windows-apiserver-ilb": {
			reason:    "the network is another one than that of apiserver-ilb",
			variables: map[string]string{"APISERVER_LB_DNS_SUFFIX": "abc123", "AZURE_SSH_PUBLIC_KEY": flavors.SSHKey},
			address:   "40.0.0.100", machines: 5,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := flavors.NewStage(t, environment)
			flavors.CreateIdentities(stage)
			before := flavors.SnapshotAzure(stage)
			flavor, _, _ := strings.Cut(name, " ")
			manifest := flavors.RenderTemplate(t, "cluster-template-"+flavor+".yaml", flavors.TemplateVariables(test.variables))
			objects, err := flavors.DecodeManifest(manifest)
			if err != nil {
				t.Fatal(err)
			}
			manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: harness.SyncPeriod, Flags: []string{gates}})
			cluster := flavors.BringUp(stage, objects)
			if len(cluster.Machines) != test.machines {
				t.Errorf("%s: %d machines, want %d: %q", test.reason, len(cluster.Machines), test.machines, cluster.Machines)
			}
			reads := flavors.QuietAgain(stage, manager, 10, objects)
			t.Logf("%d machines: 0 writes and %d reads per resync over 10 resyncs", len(cluster.Machines), reads)

			flavors.CheckListings(stage, environment.Config)
			const host = "c1-abc123.eastus.cloudapp.azure.com"
			lb := expectFrontends(stage, test.address)
			if !slices.ContainsFunc(cluster.ByGroup("c1-control-plane"), func(machine string) bool { return inPool(stage, machine, lb) }) {
				t.Errorf("%s: no control-plane machine is in a pool of the internal load balancer", test.reason)
			}
			if line := test.address + " " + host; !strings.Contains(string(manifest), line) {
				t.Errorf("%s: workers do not get the line %q for /etc/hosts", test.reason, line)
			}
			flavors.TearDown(stage, cluster, before)
		})
	}
}

// expectFrontends finds the internal load balancer by its address and returns its name.
func expectFrontends(stage *harness.Stage, address string) string {
	stage.T.Helper()
	for _, id := range stage.Azure.ListResources() {
		if !strings.Contains(id, "/loadBalancers/") || strings.Count(id, "/") != 4 {
			continue
		}
		path := strings.Replace(id, "/Microsoft.Network", "/providers/Microsoft.Network", 1)
		_, lb := stage.Azure.GetResource(path, "2024-05-01")
		if harness.FindString(lb, "properties.frontendIPConfigurations.0.properties.privateIPAddress") == address {
			return harness.FindString(lb, "name")
		}
	}
	stage.T.Errorf("no load balancer has the private address %s", address)
	return ""
}

func inPool(stage *harness.Stage, machine, lb string) bool {
	_, nic := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Network/networkInterfaces/"+machine+"-nic", "2024-05-01")
	for _, pool := range []string{"0", "1"} {
		if strings.Contains(harness.FindString(nic, "properties.ipConfigurations.0.properties.loadBalancerBackendAddressPools."+pool+".id"),
			"/loadBalancers/"+lb+"/") {
			return true
		}
	}
	return false
}
