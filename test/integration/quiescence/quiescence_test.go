// Package quiescence_test makes every golden case of the plans in a simulated Azure, with the real engine, and syncs it ten times more:
// nothing is written, and nothing differs.
package quiescence_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

// resyncs is the number of resyncs of a case once it is in place.
const resyncs = 10

func TestQuiescence(t *testing.T) {
	cases, err := filepath.Glob("../../../internal/plan/testdata/*.in.yaml")
	if err != nil || len(cases) < 40 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	quiet := 0
	for _, path := range cases {
		name := strings.TrimSuffix(filepath.Base(path), ".in.yaml")
		if t.Run(name, func(t *testing.T) {
			in := readInput(t, path)
			makePossible(&in)
			w := newWorld(t, plan.Location(in.ClusterInput))
			w.bringResources(in)
			if in.AzureMachine == nil {
				w.checkQuiet("AzureCluster", in, func(in plan.MachineInput) (*arm.Graph, error) { return cluster.BuildPlan(in.ClusterInput) })
				return
			}
			network := in
			network.Facts.VNet = in.MachineFacts.VNet
			w.convergePlan("AzureCluster", network, func(in plan.MachineInput) (*arm.Graph, error) { return cluster.BuildPlan(in.ClusterInput) })
			if in.MachineFacts.VMExists || in.BootstrapData == nil {
				// The case is about a later or an earlier moment than that of making the VM.
				in.BootstrapData = []byte("#cloud-config\n")
			}
			in.MachineFacts.VMExists, in.MachineFacts.PrincipalID = false, ""
			w.convergeUntil("AzureMachine", in, machine.BuildPlan, func(outcome arm.Outcome) bool {
				vm, _ := outcome.Result(plan.VMID(in))
				return vm.IsDone()
			})
			in = w.completeMachine(in)
			w.convergePlan("AzureMachine", in, machine.BuildPlan)
			w.checkQuiet("AzureMachine", in, machine.BuildPlan)
		}) {
			quiet++
		}
	}
	t.Logf("%d of %d cases are quiet over %d resyncs", quiet, len(cases), resyncs)
}

// makePossible replaces values that the cases have to show the effect of a field, and that Azure would refuse: a private endpoint in
// another region than its subnet, the gateway of a cluster's network, which has none, an edge zone that the region does not have, and machines that combine settings that exclude each other.
func makePossible(in *plan.MachineInput) {
	spec := &in.AzureCluster.Spec
	for i := range spec.NetworkSpec.Subnets {
		for j := range spec.NetworkSpec.Subnets[i].PrivateEndpoints {
			spec.NetworkSpec.Subnets[i].PrivateEndpoints[j].Location = ""
		}
	}
	if bastion := spec.BastionSpec.AzureBastion; bastion != nil {
		for j := range bastion.Subnet.PrivateEndpoints {
			bastion.Subnet.PrivateEndpoints[j].Location = ""
		}
	}
	for i := range spec.NetworkSpec.Vnet.Peerings {
		spec.NetworkSpec.Vnet.Peerings[i].ReversePeeringProperties.UseRemoteGateways = nil
	}
	if spec.ExtendedLocation != nil {
		spec.Location, spec.ExtendedLocation.Name = "westus", "losangeles"
	}
	if in.AzureMachine != nil {
		possibleMachine(in)
	}
}

func possibleMachine(in *plan.MachineInput) {
	spec := &in.AzureMachine.Spec
	if in.AdminPassword != "" {
		in.AdminPassword = "Simulated-1"
	}
	if spec.OSDisk.DiffDiskSettings != nil {
		spec.OSDisk.CachingType = "ReadOnly"
	}
	if spec.SpotVMOptions != nil {
		// Spot VMs cannot use reserved capacity, and the temporary disk of the size has 32 GiB.
		spec.CapacityReservationGroupID, spec.OSDisk.DiskSizeGB = nil, new(int32(30))
	}
	if spec.SecurityProfile == nil || spec.SecurityProfile.SecurityType != infrav1.SecurityTypesConfidentialVM {
		return
	}
	// The size and the image have to be for confidential VMs, and only OS disks that are encrypted as a whole have a key.
	spec.VMSize = "Standard_DC4as_v5"
	spec.Image = &infrav1.Image{ComputeGallery: &infrav1.AzureComputeGalleryImage{
		SubscriptionID: new(in.SubscriptionID), ResourceGroup: new("images"), Gallery: "g", Name: "cvm", Version: "1.0.0",
	}}
	if disk := spec.OSDisk.ManagedDisk; disk != nil && disk.SecurityProfile != nil {
		disk.SecurityProfile.DiskEncryptionSet = nil
	}
	for i := range spec.DataDisks {
		if disk := spec.DataDisks[i].ManagedDisk; disk != nil {
			disk.SecurityProfile = nil
		}
	}
}

// completeMachine returns the input once the VM exists: its identity is known, and the bootstrap data is read no more.
func (w *world) completeMachine(in plan.MachineInput) plan.MachineInput {
	w.t.Helper()
	observed, err := w.engine.Observe(w.t.Context(), w.client, []arm.ID{plan.VMID(in)}, true, engine.ReadOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	var vm struct {
		Identity struct {
			PrincipalID string `json:"principalId"`
		} `json:"identity"`
	}
	if err := json.Unmarshal(observed[plan.VMID(in).Key()].Body, &vm); err != nil {
		w.t.Fatalf("the VM: %v", err)
	}
	in.MachineFacts.VMExists, in.MachineFacts.PrincipalID = true, vm.Identity.PrincipalID
	in.BootstrapData, in.AdminPassword = nil, ""
	return in
}

type planner func(in plan.MachineInput) (*arm.Graph, error)

// convergePlan converges a plan until it is done.
func (w *world) convergePlan(kind string, in plan.MachineInput, plan planner) {
	w.t.Helper()
	w.convergeUntil(kind, in, plan, arm.Outcome.IsDone)
}

// convergeUntil converges a plan until an end that it must come to soon.
func (w *world) convergeUntil(kind string, in plan.MachineInput, plan planner, end func(arm.Outcome) bool) {
	w.t.Helper()
	for range 40 {
		outcome := w.convergeOnce(kind, in, plan)
		if end(outcome) {
			return
		}
		select {
		case <-w.woken:
		case <-time.After(min(outcome.RetryAfter, 200*time.Millisecond)):
			w.clock.advanceBy(outcome.RetryAfter)
		}
	}
	outcome := w.convergeOnce(kind, in, plan)
	for _, cause := range outcome.RootCauses() {
		w.t.Errorf("%s: %s %v %s", cause.ID.ShortName(), cause.State, cause.Err, cause.Message)
	}
	w.t.FailNow()
}

// checkQuiet checks in several resyncs that resources that are in place have no drift and get no write.
func (w *world) checkQuiet(kind string, in plan.MachineInput, plan planner) {
	w.t.Helper()
	w.convergePlan(kind, in, plan)
	w.listRequests()
	for i := range resyncs {
		w.clock.advanceBy(10 * time.Minute)
		outcome := w.convergeOnce(kind, in, plan)
		if !outcome.IsDone() {
			w.t.Fatalf("resync %d: %+v", i+1, outcome.RootCauses())
		}
		for _, result := range outcome.Results {
			if len(result.Drift) > 0 {
				w.t.Errorf("resync %d: %s differs: %v", i+1, result.ID.ShortName(), result.Drift)
			}
		}
	}
	for _, request := range w.listRequests() {
		if !strings.HasPrefix(request, http.MethodGet) {
			w.t.Errorf("nothing changed, but there was %s", request)
		}
	}
}

func (w *world) convergeOnce(kind string, in plan.MachineInput, planned planner) arm.Outcome {
	w.t.Helper()
	graph, err := planned(in)
	if err != nil {
		w.t.Fatal(err)
	}
	key, value := plan.OwnerTag(in.ClusterInput)
	outcome, err := w.engine.Converge(context.Background(), engine.Request{
		Object: kind, Client: w.client, Owner: engine.Owner{TagKey: key, TagValue: value}, Graph: graph, Inventory: w.inventory[kind],
		Wake: w.wakeUp,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.inventory[kind] = outcome.Inventory
	return outcome
}
