package facts

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestCluster(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*infrav1.AzureCluster)
		azure  map[string]string // on top of region
		want   plan.ClusterFacts
	}{
		"new cluster": {
			reason: "zones of restricted sizes do not count, and neither do those of disks or other regions",
			want:   plan.ClusterFacts{Zones: []string{"1", "2", "3"}},
		},
		"display name": {
			reason: "people write regions as the portal shows them",
			change: func(c *infrav1.AzureCluster) { c.Spec.Location = "East US 2" },
			want:   plan.ClusterFacts{Zones: []string{"1", "2", "3"}},
		},
		"own network": {
			reason: "the ownership tag decides; subnets have one prefix or several",
			azure: map[string]string{vnetPath: `{"location":"eastus2","tags":{"Sigs.k8s.io_cluster-api-provider-azure_cluster_c":"owned"},"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8","fd00::/48"]},
				"subnets":[{"name":"Nodes","properties":{"addressPrefix":"10.1.0.0/16"}},{"name":"cp","properties":{"addressPrefixes":["10.0.0.0/16","fd00::/64"]}}]}}`},
			want: plan.ClusterFacts{Zones: []string{"1", "2", "3"},
				VNet: plan.VNetFact{Exists: true, Owned: true, Location: "eastus2", AddressPrefixes: []string{"10.0.0.0/8", "fd00::/48"},
					Subnets: map[string][]string{"nodes": {"10.1.0.0/16"}, "cp": {"10.0.0.0/16", "fd00::/64"}}}},
		},
		"network of another cluster": {
			reason: "another cluster's tag makes it foreign",
			azure:  map[string]string{vnetPath: `{"tags":{"sigs.k8s.io_cluster-api-provider-azure_cluster_other":"owned"},"properties":{}}`},
			want:   plan.ClusterFacts{Zones: []string{"1", "2", "3"}, VNet: plan.VNetFact{Exists: true, Subnets: map[string][]string{}}},
		},
		"network of another region": {
			reason: "names of regions are compared without case and spaces",
			azure:  map[string]string{vnetPath: `{"location":"West US 2","properties":{}}`},
			want: plan.ClusterFacts{Zones: []string{"1", "2", "3"},
				VNet: plan.VNetFact{Exists: true, Location: "westus2", Subnets: map[string][]string{}}},
		},
		"regions hidden": {
			reason: "a principal whose role covers a resource group may not list regions; then there are no facts about regions",
			azure:  map[string]string{locationsPath: "403 AuthorizationFailed"},
			want:   plan.ClusterFacts{Zones: []string{"1", "2", "3"}},
		},
		"region without zones": {
			reason: "an empty list, not an error",
			azure: map[string]string{
				skusPath: `{"value":[{"resourceType":"virtualMachines","name":"Standard_D2s_v5","locationInfo":[{"location":"eastus2","zones":[]}]}]}`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bodies := maps.Clone(regionBodies)
			maps.Copy(bodies, test.azure)
			a := newFakeAzure(bodies)
			got, err := waitForClusterFacts(New(Options{Now: newClock().Now}), newCaller(t, a, "p"), clusterInput(test.change))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
			if diff := cmp.Diff([]string{"location eq 'eastus2'"}, a.filters); diff != "" {
				t.Errorf("the catalog of all regions is a hundred times as large: %s", diff)
			}
		})
	}
}

// waitForClusterFacts asks for facts like a controller: it asks again when a pending answer has arrived.
func waitForClusterFacts(f *Facts, caller Caller, in plan.ClusterInput) (plan.ClusterFacts, error) {
	arrived := make(chan struct{}, 1)
	got, err := f.ClusterFacts(context.Background(), caller, in, func() { arrived <- struct{}{} })
	if err != nil || !got.ZonesPending {
		return got, err
	}
	<-arrived
	return f.ClusterFacts(context.Background(), caller, in, func() {})
}

// TestPlanWaitsForTheCatalog checks that with Options.Wait the facts are complete at once: nothing wakes a plan when an answer arrives
// later.
func TestPlanWaitsForTheCatalog(t *testing.T) {
	tests := map[string]struct {
		reason string
		azure  map[string]string
		zones  int
	}{
		"catalog": {"the zones are known", nil, 3},
		"refused": {"the error is returned", map[string]string{skusPath: "403 AuthorizationFailed"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bodies := maps.Clone(regionBodies)
			maps.Copy(bodies, test.azure)
			got, err := New(Options{Wait: true}).ClusterFacts(t.Context(), newCaller(t, newFakeAzure(bodies), "p"), clusterInput(nil),
				func() { t.Error("nothing is pending") })
			if len(got.Zones) != test.zones || (err == nil) != (test.zones > 0) {
				t.Errorf("%s: got %+v, %v", test.reason, got, err)
			}
		})
	}
}

func TestClusterDoesNotWaitForTheCatalog(t *testing.T) {
	a := newFakeAzure(regionBodies)
	f, caller, in := New(Options{}), newCaller(t, a, "p"), clusterInput(nil)
	arrived := make(chan struct{}, 1)
	first, err := f.ClusterFacts(context.Background(), caller, in, func() { arrived <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	if !first.ZonesPending || len(first.Zones) != 0 {
		t.Errorf("nothing depends on the zones yet, got %+v", first)
	}
	<-arrived
	second, err := f.ClusterFacts(context.Background(), caller, in, func() { t.Error("nothing is pending") })
	if err != nil {
		t.Fatal(err)
	}
	if second.ZonesPending || len(second.Zones) != 3 {
		t.Errorf("the catalog has arrived, got %+v", second)
	}
}

// TestClusterReadsTheGroupFirst lets a reader that shares reads answer for a network without a request, because its group does not exist.
func TestClusterReadsTheGroupFirst(t *testing.T) {
	var read []string
	f := New(Options{Read: func(_ context.Context, _ *client.Client, id arm.ID, _ observe.ReadOptions) (json.RawMessage, error) {
		read = append(read, id.Type())
		return nil, nil
	}})
	if _, err := f.ClusterFacts(context.Background(), newCaller(t, newFakeAzure(regionBodies), "p"), clusterInput(nil), func() {}); err != nil {
		t.Fatal(err)
	}
	brought := clusterInput(func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.Vnet.ResourceGroup = "elsewhere" })
	if _, err := f.ClusterFacts(context.Background(), newCaller(t, newFakeAzure(regionBodies), "p"), brought, func() {}); err != nil {
		t.Fatal(err)
	}
	if want := []string{types.ResourceGroup, types.VirtualNetwork, types.VirtualNetwork}; !slices.Equal(read, want) {
		t.Errorf("read %v, want %v", read, want)
	}
}

func TestClusterRefuses(t *testing.T) {
	tests := map[string]struct {
		reason   string
		location string
		azure    map[string]string
		field    string // of a *field.Error
		code     string // of an *arm.Error
		message  string
	}{
		"misspelt region": {
			reason: "the names most like it, best first", location: "eastsu2", azure: regionBodies,
			field: "spec.location", message: `"eastsu2": is not a region of subscription sub; names most like it: eastus2, eastus`,
		},
		"nothing like it": {
			reason: "no names are better than wrong ones", location: "mars", azure: regionBodies,
			field: "spec.location", message: `"mars": is not a region of subscription sub`,
		},
		"unknown subscription": {
			reason: "Azure's own code", location: "eastus2", azure: map[string]string{locationsPath: "404 SubscriptionNotFound"},
			code: "SubscriptionNotFound", message: "regions of subscription sub",
		},
		"catalog not allowed": {
			reason: "plans need the catalog", location: "eastus2",
			azure: map[string]string{locationsPath: regionBodies[locationsPath], skusPath: "403 AuthorizationFailed"},
			code:  "AuthorizationFailed", message: "list VM sizes of eastus2",
		},
		"network not readable": {
			reason: "a failed read does not prove the absence", location: "eastus2",
			azure: map[string]string{locationsPath: regionBodies[locationsPath], skusPath: regionBodies[skusPath],
				vnetPath: "403 AuthorizationFailed"},
			code: "AuthorizationFailed", message: "virtualNetworks/vnet",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := clusterInput(func(c *infrav1.AzureCluster) { c.Spec.Location = test.location })
			_, err := waitForClusterFacts(New(Options{}), newCaller(t, newFakeAzure(test.azure), "p"), in)
			if err == nil || !strings.Contains(err.Error(), test.message) ||
				strings.Contains(err.Error(), "most like") != strings.Contains(test.message, "most like") {
				t.Fatalf("%s: got %v", test.reason, err)
			}
			var invalid *field.Error
			if errors.As(err, &invalid) != (test.field != "") || test.field != "" && invalid.Field != test.field {
				t.Errorf("%s: field of %v", test.reason, err)
			}
			var azure *arm.Error
			if errors.As(err, &azure) != (test.code != "") || test.code != "" && azure.Code != test.code {
				t.Errorf("%s: code of %v", test.reason, err)
			}
		})
	}
}

func TestMachine(t *testing.T) {
	d2 := &plan.VMSize{Name: "Standard_D2s_v5", VCPUs: 2, MemoryGB: 8, Zones: []string{"1", "2", "3"},
		Capabilities:     map[string]string{"vCPUs": "2", "MemoryGB": "8", "EphemeralOSDiskSupported": "False"},
		ZoneCapabilities: map[string]map[string]string{"2": {"UltraSSDAvailable": "True"}, "3": {"UltraSSDAvailable": "True"}}}
	tests := map[string]struct {
		reason string
		change func(*plan.MachineInput)
		azure  map[string]string
		want   plan.MachineFacts
	}{
		"new control plane": {
			reason: "the first port, and no VM",
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, SSHNATPort: 22},
		},
		"worker": {
			reason: "workers have no NAT rule", change: func(in *plan.MachineInput) { in.ControlPlane = false },
			want: plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3},
		},
		"existing": {
			reason: "the port its rule has, and the principal of its identity",
			azure: map[string]string{
				vmPath:       `{"identity":{"type":"SystemAssigned","principalId":"principal"}}`,
				balancerPath: `{"properties":{"inboundNatRules":[{"name":"other","properties":{"frontendPort":22}},{"name":"M0","properties":{"frontendPort":2207}}]}}`,
			},
			want: plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, SSHNATPort: 2207, VMExists: true, PrincipalID: "principal"},
		},
		"evicted spot VM": {
			reason: "the instance view has the state",
			change: func(in *plan.MachineInput) {
				in.ControlPlane, in.AzureMachine.Spec.SpotVMOptions = false, &infrav1.SpotVMOptions{}
			},
			azure: map[string]string{
				vmPath: `{"properties":{"instanceView":{"statuses":[{"code":"ProvisioningState/succeeded"},{"code":"PowerState/deallocated"}]}}}`},
			want: plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, VMExists: true, PowerState: "deallocated"},
		},
		"VM that was stopped from outside": {
			reason: "the instance view has the state",
			change: func(in *plan.MachineInput) { in.ControlPlane = false },
			azure:  map[string]string{vmPath: `{"properties":{"instanceView":{"statuses":[{"code":"PowerState/stopped"}]}}}`},
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, VMExists: true, PowerState: "stopped"},
		},
		"VM read from a list": {
			reason: "lists do not show whether a VM runs",
			change: func(in *plan.MachineInput) { in.ControlPlane = false },
			azure:  map[string]string{vmPath: `{"properties":{}}`},
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, VMExists: true},
		},
		"ports in use": {
			reason: "rules of others, of the API server and of ports asked for in the spec",
			change: func(in *plan.MachineInput) {
				in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "x", Port: 2201}}
			},
			azure: map[string]string{balancerPath: `{"properties":{"inboundNatRules":[{"name":"other","properties":{"frontendPort":22}}],"loadBalancingRules":[{"name":"r","properties":{"frontendPort":2202}}]}}`},
			want:  plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, SSHNATPort: 2203},
		},
		"no load balancer": {
			reason: "an externally managed control plane",
			change: func(in *plan.MachineInput) { in.AzureCluster.Spec.NetworkSpec.APIServerLB = nil },
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3},
		},
		"internal load balancer": {
			reason: "SSH does not go through it",
			change: func(in *plan.MachineInput) { in.AzureCluster.Spec.NetworkSpec.APIServerLB.Type = infrav1.Internal },
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3},
		},
		"other casing": {
			reason: "Azure does not mind",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.VMSize = "standard_d2S_v5"; in.ControlPlane = false },
			want:   plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3},
		},
		"unknown size": {
			reason: "the plan refuses it and lists these",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.VMSize = "Standard_D4sv5"; in.ControlPlane = false },
			want: plan.MachineFacts{MaximumPlatformFaultDomainCount: 3,
				NearestVMSizes: []string{"Standard_D4s_v5", "Standard_D2s_v5", "Standard_NC6"}},
		},
		"brought network": {
			reason: "the spec may lack the properties of its subnets",
			change: func(in *plan.MachineInput) { in.ControlPlane = false },
			azure:  map[string]string{vnetPath: `{"properties":{"addressSpace":{"addressPrefixes":["10.0.0.0/8"]},"subnets":[{"name":"Nodes","properties":{"addressPrefixes":["10.1.0.0/16","fd00::/64"]}}]}}`},
			want: plan.MachineFacts{VMSize: d2, MaximumPlatformFaultDomainCount: 3, VNet: plan.VNetFact{
				Exists: true, AddressPrefixes: []string{"10.0.0.0/8"}, Subnets: map[string][]string{"nodes": {"10.1.0.0/16", "fd00::/64"}}}},
		},
		"restricted zone": {
			reason: "the zone is left out, the size stays",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.VMSize = "Standard_D4s_v5"; in.ControlPlane = false },
			want: plan.MachineFacts{MaximumPlatformFaultDomainCount: 3,
				VMSize: &plan.VMSize{Name: "Standard_D4s_v5", VCPUs: 4, MemoryGB: 0.5, Zones: []string{"1"},
					Capabilities: map[string]string{"vCPUs": "4", "MemoryGB": "0.5"}}},
		},
		"restricted region": {
			reason: "Azure's reason is kept; a detail about no zone is about the region",
			change: func(in *plan.MachineInput) { in.AzureMachine.Spec.VMSize = "Standard_NC6"; in.ControlPlane = false },
			want: plan.MachineFacts{MaximumPlatformFaultDomainCount: 3,
				VMSize: &plan.VMSize{Name: "Standard_NC6", RestrictionReason: "NotAvailableForSubscription",
					Capabilities: map[string]string{"UltraSSDAvailable": "True"}}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			bodies := maps.Clone(regionBodies)
			maps.Copy(bodies, test.azure)
			in := machineInput("m0")
			if test.change != nil {
				test.change(&in)
			}
			got, err := New(Options{Now: newClock().Now}).MachineFacts(context.Background(), newCaller(t, newFakeAzure(bodies), "p"), in, false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}

// TestUnlistedMachineIsReadAgain: a machine that was created and is missing in a shared list is read once more,
// because its owner replaces a machine that is gone. A machine that is not created yet is not read.
func TestUnlistedMachineIsReadAgain(t *testing.T) {
	for name, test := range map[string]struct {
		reason     string
		made, real bool
		exists     bool
		asked      int
	}{
		"lags behind": {"the list was read before the machine was made", true, true, true, 1},
		"gone":        {"a read of Azure confirms it", true, false, false, 1},
		"to be made":  {"a hundred machines that come at once are one list", false, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			in := machineInput("m0")
			in.ControlPlane = false
			bodies := maps.Clone(regionBodies)
			if test.made {
				in.AzureMachine.Spec.ProviderID = new("azure://" + vmPath)
			}
			if test.real {
				bodies[vmPath] = `{"properties":{}}`
			}
			azure := newFakeAzure(bodies)
			list := func(context.Context, *client.Client, arm.ID, observe.ReadOptions) (json.RawMessage, error) {
				return nil, nil
			}
			got, err := New(Options{Now: newClock().Now, Read: list}).MachineFacts(context.Background(), newCaller(t, azure, "p"), in, false)
			if err != nil {
				t.Fatal(err)
			}
			if got.VMExists != test.exists || azure.countRequests(vmPath) != test.asked {
				t.Errorf("%s: exists %t, asked %d times", test.reason, got.VMExists, azure.countRequests(vmPath))
			}
		})
	}
}

// TestListedStoppedMachineIsReadAgain reads once more a machine that was reported as stopped when it was read from a list, which does not
// show whether it runs; no other machine is read.
func TestListedStoppedMachineIsReadAgain(t *testing.T) {
	for reason, want := range map[string]struct {
		power string
		asked int
	}{infrav1.VMStoppedReason: {"running", 1}, infrav1.ReadyReason: {"", 0}} {
		in := machineInput("m0")
		in.ControlPlane = false
		in.AzureMachine.Status.Conditions = []metav1.Condition{{Type: infrav1.VMRunningCondition, Reason: reason}}
		bodies := maps.Clone(regionBodies)
		bodies[vmPath] = `{"properties":{"instanceView":{"statuses":[{"code":"PowerState/running"}]}}}`
		azure := newFakeAzure(bodies)
		list := func(context.Context, *client.Client, arm.ID, observe.ReadOptions) (json.RawMessage, error) {
			return json.RawMessage(`{"properties":{}}`), nil
		}
		got, err := New(Options{Now: newClock().Now, Read: list}).MachineFacts(context.Background(), newCaller(t, azure, "p"), in, false)
		if err != nil {
			t.Fatal(err)
		}
		if got.PowerState != want.power || azure.countRequests(vmPath) != want.asked {
			t.Errorf("%s: power state %q, asked %d times", reason, got.PowerState, azure.countRequests(vmPath))
		}
	}
}

func TestMachineErrors(t *testing.T) {
	for _, path := range []string{skusPath, balancerPath, vmPath, vnetPath} {
		bodies := maps.Clone(regionBodies)
		bodies[path] = "500 InternalServerError"
		_, err := New(Options{}).MachineFacts(context.Background(), newCaller(t, newFakeAzure(bodies), "p"), machineInput("m0"), false)
		var azure *arm.Error
		if !errors.As(err, &azure) || azure.Code != "InternalServerError" {
			t.Errorf("%s failed: got %v", path, err)
		}
	}
}

// TestConcurrentMachinesGetDifferentPorts makes sure that machines that are planned before any rule shows in Azure get different ports.
func TestConcurrentMachinesGetDifferentPorts(t *testing.T) {
	facts := New(Options{})
	caller := newCaller(t, newFakeAzure(regionBodies), "p")
	var mu sync.Mutex
	got := map[int32]int{}
	var group sync.WaitGroup
	for i := range 20 {
		in := machineInput("m" + string(rune('a'+i)))
		group.Go(func() {
			for range 2 { // a second look finds the same port
				facts, err := facts.MachineFacts(context.Background(), caller, in, false)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				got[facts.SSHNATPort]++
				mu.Unlock()
			}
		})
	}
	group.Wait()
	want := map[int32]int{}
	for _, port := range sshPorts {
		want[port] = 2
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	late := machineInput("late")
	if facts, err := facts.MachineFacts(context.Background(), caller, late, false); err != nil || facts.SSHNATPort != 0 {
		t.Errorf("the 21st machine got port %d, %v", facts.SSHNATPort, err)
	}
	facts.ReleaseMachine(machineInput("mb"))
	if facts, err := facts.MachineFacts(context.Background(), caller, late, false); err != nil || facts.SSHNATPort == 0 {
		t.Errorf("no port after one was released: %v", err)
	}
}

func TestUserAssignedClientID(t *testing.T) {
	const id = "/subscriptions/other/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i"
	tests := map[string]struct {
		reason     string
		providerID string
		body       string
		want       string
		message    string
	}{
		"provider ID": {reason: "as manifests have it", providerID: "azure://" + id, body: `{"properties":{"clientId":"c"}}`, want: "c"},
		"resource ID": {reason: "in another subscription, other casing", providerID: strings.ToLower(id),
			body: `{"properties":{"clientId":"c"}}`, want: "c"},
		"another type": {reason: "the error names the expected type", providerID: vnetPath,
			message: "spec.userAssignedIdentities[0].providerID: Invalid value"},
		"a name":  {reason: "not an ID", providerID: "i", message: "is not the ID of a user-assigned identity"},
		"missing": {reason: "in Azure's own words it would be one 404 of many", providerID: id, message: "does not exist in Azure"},
		"without a client": {reason: "an empty value would be written into azure.json", providerID: id, body: `{"properties":{}}`,
			message: "Azure shows none"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newFakeAzure(nil)
			if test.body != "" {
				a.setBody(id, test.body)
			}
			got, err := New(Options{}).ReadUserAssignedClientID(context.Background(), newCaller(t, a, "p"),
				field.NewPath("spec", "userAssignedIdentities").Index(0).Child("providerID"), test.providerID)
			if got != test.want || (err == nil) != (test.message == "") || err != nil && !strings.Contains(err.Error(), test.message) {
				t.Errorf("%s: got %q, %v", test.reason, got, err)
			}
		})
	}
}

func TestDeletingMachine(t *testing.T) {
	const set = groupPath + "Microsoft.Compute/availabilitySets/c_control-plane-as"
	tests := map[string]struct {
		reason string
		zones  []string
		body   string
		want   bool
		asked  int
	}{
		"alone": {reason: "its own VM, in Azure's casing, is about to go",
			body: `{"properties":{"virtualMachines":[{"id":"` + strings.ToUpper(vmPath) + `"}]}}`, want: true, asked: 1},
		"empty": {reason: "the VM went first", body: `{"properties":{}}`, want: true, asked: 1},
		"with another": {reason: "the set is still used",
			body: `{"properties":{"virtualMachines":[{"id":"` + vmPath + `"},{"id":"` + vmPath + `1"}]}}`, asked: 1},
		"missing": {reason: "nothing is left to delete", asked: 1},
		"zones":   {reason: "no set is made where zones are, so nothing is asked", zones: []string{"1"}, body: `{"properties":{}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := newFakeAzure(nil)
			if test.body != "" {
				a.setBody(set, test.body)
			}
			in := machineInput("m0")
			in.Facts.Zones = test.zones
			got, err := New(Options{}).DeletingMachineFacts(context.Background(), newCaller(t, a, "p"), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plan.MachineFacts{AvailabilitySetEmpty: test.want}, got); diff != "" || a.countRequests(set) != test.asked {
				t.Errorf("%s: asked %d times: %s", test.reason, a.countRequests(set), diff)
			}
		})
	}
}
