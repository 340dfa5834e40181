package mainpath_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// clusterWrites are the writes that make the default cluster "c1", with the group's part of the path left out.
var clusterWrites = []string{
	"PUT ",
	"PUT Microsoft.Network/loadBalancers/c1-public-lb",
	"PUT Microsoft.Network/natGateways/c1-node-natgw",
	"PUT Microsoft.Network/networkSecurityGroups/c1-controlplane-nsg",
	"PUT Microsoft.Network/networkSecurityGroups/c1-node-nsg",
	"PUT Microsoft.Network/publicIPAddresses/pip-c1-apiserver",
	"PUT Microsoft.Network/publicIPAddresses/pip-c1-node-natgw",
	"PUT Microsoft.Network/routeTables/c1-node-routetable",
	"PUT Microsoft.Network/virtualNetworks/c1-vnet",
	"PUT Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-controlplane-subnet",
	"PUT Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet",
}

// machineWrites are the writes that make a control-plane machine "c1-cp" and a worker "c1-md".
var machineWrites = []string{
	"PUT Microsoft.Compute/virtualMachines/c1-cp",
	"PUT Microsoft.Compute/virtualMachines/c1-md",
	"PUT Microsoft.Network/loadBalancers/c1-public-lb/inboundNatRules/c1-cp",
	"PUT Microsoft.Network/networkInterfaces/c1-cp-nic",
	"PUT Microsoft.Network/networkInterfaces/c1-md-nic",
}

// TestDefaultCluster creates the default cluster with two machines, leaves it alone for some resyncs, and deletes it.
func TestDefaultCluster(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	// So short that several resyncs fit into the test.
	const syncPeriod = time.Second
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: syncPeriod})
	stage.CreateIdentity()

	applied := stage.AzureCluster("c1")
	stage.CreateCluster(applied)
	azureCluster := stage.WaitClusterProvisioned("c1")
	if diff := cmp.Diff(clusterWrites, inGroup("c1", stage.Azure.WritesSince(0))); diff != "" {
		t.Errorf("writes for the cluster (-want +got):\n%s", diff)
	}
	if host := azureCluster.Spec.ControlPlaneEndpoint.Host; !strings.HasPrefix(host, "c1-") ||
		!strings.HasSuffix(host, ".eastus.cloudapp.azure.com") {
		t.Errorf("spec.controlPlaneEndpoint.host is %q, want the DNS name of the public IP address", host)
	}
	if port := azureCluster.Spec.ControlPlaneEndpoint.Port; port != 6443 {
		t.Errorf("spec.controlPlaneEndpoint.port is %d, want 6443", port)
	}
	applied.Spec.ControlPlaneEndpoint = azureCluster.Spec.ControlPlaneEndpoint
	if diff := cmp.Diff(applied.Spec, azureCluster.Spec); diff != "" {
		t.Errorf("the spec is the user's but for the endpoint (-applied +provisioned):\n%s", diff)
	}
	var zones []string
	for _, domain := range azureCluster.Status.FailureDomains.Domains {
		zones = append(zones, domain.Name)
	}
	if diff := cmp.Diff([]string{"1", "2", "3"}, zones); diff != "" {
		t.Errorf("failure domains (-want +got):\n%s", diff)
	}

	mark := stage.Azure.MarkRequests()
	machines := map[string]*infrav1.AzureMachine{"c1-cp": stage.AzureMachine("c1", "c1-cp"), "c1-md": stage.AzureMachine("c1", "c1-md")}
	stage.CreateMachine(machines["c1-cp"], harness.ControlPlane, "1")
	stage.CreateMachine(machines["c1-md"], harness.Worker, "")
	for name, applied := range machines {
		machine := stage.WaitMachineProvisioned(name)
		applied.Spec.ProviderID = machine.Spec.ProviderID
		if diff := cmp.Diff(applied.Spec, machine.Spec); diff != "" {
			t.Errorf("the spec of %s is the user's but for the ID (-applied +provisioned):\n%s", name, diff)
		}
		want := "azure:///subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/" + name
		if *machine.Spec.ProviderID != want {
			t.Errorf("providerID of %s is %q, want %q", name, *machine.Spec.ProviderID, want)
		}
		if len(machine.Status.Addresses) == 0 {
			t.Errorf("%s has no addresses", name)
		}
	}
	if diff := cmp.Diff(machineWrites, inGroup("c1", stage.Azure.WritesSince(mark))); diff != "" {
		t.Errorf("writes for the machines (-want +got):\n%s", diff)
	}

	for _, name := range []string{"c1-cp", "c1-md"} {
		secret := harness.WaitFor(stage, &corev1.Secret{}, name+"-azure-json", "written", func(*corev1.Secret) bool { return true })
		for _, key := range []string{"azure.json", "control-plane-azure.json", "worker-node-azure.json"} {
			var config map[string]any
			if err := json.Unmarshal(secret.Data[key], &config); err != nil {
				t.Errorf("%s of Secret %s is not JSON: %v", key, secret.Name, err)
				continue
			}
			got := []any{config["tenantId"], config["subscriptionId"], config["resourceGroup"], config["vnetName"], config["subnetName"]}
			want := []any{stage.Azure.TenantID, stage.Azure.SubscriptionID, "c1", "c1-vnet", "c1-node-subnet"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s of Secret %s (-want +got):\n%s", key, secret.Name, diff)
			}
		}
	}

	watchQuiet(t, stage, manager)

	mark = stage.Azure.MarkRequests()
	stage.DeleteCluster("c1", "c1-cp", "c1-md")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
	if writes := stage.Azure.WritesSince(mark); !slices.Contains(writes, "DELETE resourceGroups/c1") {
		t.Errorf("the group goes whole, got the writes %q", writes)
	}
	identity := stage.NewIdentity()
	stage.ReadObject(identity, identity.Name)
	if len(identity.Finalizers) > 0 {
		t.Errorf("no object uses the identity any more, but it has the finalizers %q", identity.Finalizers)
	}
}

// watchQuiet watches a cluster with two machines that is in order for some resyncs: nothing is written, neither to Azure nor to
// Kubernetes, and the number of reads stays within bounds.
func watchQuiet(t *testing.T, stage *harness.Stage, manager *harness.Manager) {
	t.Helper()
	const resyncs = 4
	// The cluster needs 18 reads: a GET for each of its resources that is the only one of its type in the group, and a LIST per type for
	// the others. A machine adds its own VM, interface and NAT rule. Reads of one resync may fall into two windows of freshness.
	const readsPerResync = 2 * (18 + 2*3)

	resync := func() []string {
		mark := stage.Azure.MarkRequests()
		stage.AdvanceClock(time.Minute)
		var reads []string
		stage.Eventually("the cluster and the machines are reconciled again", func() bool {
			reads = stage.Azure.RequestsSince(mark)
			for _, part := range []string{"/loadBalancers/c1-public-lb ", "/networkInterfaces", "/virtualMachines"} {
				if !slices.ContainsFunc(reads, func(read string) bool { return strings.Contains(read, part) }) {
					return false
				}
			}
			return true
		})
		return reads
	}
	t.Logf("%d writes to Kubernetes for a cluster with two machines", len(manager.KubernetesWrites()))
	mark, before := stage.Azure.MarkRequests(), len(manager.KubernetesWrites())
	for range resyncs {
		if reads := resync(); len(reads) > readsPerResync {
			t.Errorf("%d reads in one resync, want at most %d:\n%s", len(reads), readsPerResync, strings.Join(reads, "\n"))
		}
	}
	if writes := stage.Azure.WritesSince(mark); len(writes) > 0 {
		t.Errorf("nothing changed, but Azure was written to: %q", writes)
	}
	if writes := manager.KubernetesWrites()[before:]; len(writes) > 0 {
		t.Errorf("nothing changed, but Kubernetes was written to: %q", writes)
	}
	t.Logf("%d reads in %d resyncs of a cluster with two machines", len(stage.Azure.RequestsSince(mark)), resyncs)
}

// inGroup sorts the writes and leaves the group's part of their paths out; a write outside of the group shows whole.
func inGroup(group string, writes []string) []string {
	out := make([]string, 0, len(writes))
	for _, write := range writes {
		method, path, _ := strings.Cut(write, " ")
		path = strings.TrimPrefix(strings.TrimPrefix(path, "resourceGroups/"+group), "/")
		out = append(out, method+" "+path)
	}
	slices.Sort(out)
	return out
}
