package badinput_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestMachine creates machines that the API server accepts but the provider cannot create: the Ready condition reports the cause and
// the time of the next try, no resource is created that would be left behind, and the same object becomes ready once the input is
// corrected.
func TestMachine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		// location is the region of the cluster; "" is the default.
		location string
		role     harness.Role
		zone     string
		change   func(m *infrav1.AzureMachine)
		// given prepares Azure once the cluster exists.
		given     func(s *harness.Stage)
		condition string
		message   []string
		// made are the resources that exist while the machine is refused; they are used or deleted later.
		made    []string
		correct func(s *harness.Stage)
		// has are resources that the corrected machine has.
		has []string
	}{
		"unknown VM size": {
			reason:    "the region's SKU catalog does not have the size",
			role:      harness.Worker,
			change:    func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_D2s_v33" },
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.vmSize", "Standard_D2s_v33", "Standard_D2s_v3", "eastus"},
			correct: func(s *harness.Stage) {
				changeMachine(s, func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_D2s_v3" })
			},
		},
		"size that the subscription may not use in the region": {
			reason:    "the SKU catalog lists the size with a restriction",
			location:  "westus",
			role:      harness.Worker,
			change:    func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_NC24ads_A100_v4" },
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.vmSize", "Standard_NC24ads_A100_v4", "NotAvailableForSubscription"},
			correct: func(s *harness.Stage) {
				changeMachine(s, func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_D2s_v3" })
			},
		},
		"size not in the zone": {
			reason:    "the size is not offered in the zone that the Machine asks for",
			role:      harness.Worker,
			zone:      "3",
			change:    func(m *infrav1.AzureMachine) { m.Spec.VMSize = "Standard_E8s_v5" },
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"spec.vmSize", "Standard_E8s_v5", "zone 3", "1, 2"},
			correct: func(s *harness.Stage) {
				harness.ChangeObject(s, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}},
					func(m *clusterv1.Machine) { m.Spec.FailureDomain = "2" })
			},
		},
		"zone in a region without zones": {
			reason:    "the region has no zones; control-plane machines are in an availability set there",
			location:  "westus",
			role:      harness.ControlPlane,
			zone:      "1",
			condition: infrav1.InvalidConfigurationReason,
			message:   []string{"failureDomain", "westus", `"1"`},
			correct: func(s *harness.Stage) {
				harness.ChangeObject(s, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}},
					func(m *clusterv1.Machine) { m.Spec.FailureDomain = "" })
			},
			has: []string{"resourceGroups/c1/Microsoft.Compute/availabilitySets/c1_control-plane-as"},
		},
		"quota exceeded": {
			reason: "Azure refuses the VM because the region's cores are used up",
			role:   harness.Worker,
			given: func(s *harness.Stage) {
				if err := s.Azure.AddFault(fault.Rule{Type: "Microsoft.Compute/virtualMachines", Kind: fault.Quota, Count: -1}); err != nil {
					s.T.Fatal(err)
				}
			},
			condition: infrav1.QuotaExceededReason,
			message: []string{"virtualMachines/m1", "OperationNotAllowed", "quota", "asked for VM size Standard_D2s_v3 (2 vCPUs) in region eastus",
				"Current Limit"},
			made:    []string{"resourceGroups/c1/Microsoft.Network/networkInterfaces/m1-nic"},
			correct: makeRoom,
		},
		"no capacity": {
			reason: "Azure has the size, but no room for it in the zone at the moment",
			role:   harness.Worker,
			zone:   "1",
			given: func(s *harness.Stage) {
				if err := s.Azure.AddFault(fault.Rule{Type: "Microsoft.Compute/virtualMachines", Kind: fault.Capacity, Count: -1}); err != nil {
					s.T.Fatal(err)
				}
			},
			condition: infrav1.CapacityUnavailableReason,
			message:   []string{"virtualMachines/m1", "SkuNotAvailable", "asked for VM size Standard_D2s_v3 (2 vCPUs) in zone 1 of region eastus"},
			made:      []string{"resourceGroups/c1/Microsoft.Network/networkInterfaces/m1-nic"},
			correct:   makeRoom,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			azureCluster := stage.AzureCluster("c1")
			if test.location != "" {
				azureCluster.Spec.Location = test.location
			}
			stage.CreateCluster(azureCluster)
			stage.WaitClusterProvisioned("c1")
			if test.given != nil {
				test.given(stage)
			}
			before := stage.Azure.ListResources()

			azureMachine := stage.AzureMachine("c1", "m1")
			if test.change != nil {
				test.change(azureMachine)
			}
			stage.CreateMachine(azureMachine, test.role, test.zone)
			bad := waitNotReady(stage, &infrav1.AzureMachine{}, "m1", test.condition)
			checkExplained(t, test.reason, harness.FindCondition(bad, infrav1.ReadyCondition).Message, test.message)
			want := append(slices.Clone(before), test.made...)
			slices.Sort(want)
			if diff := cmp.Diff(want, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: resources while the machine is refused (-want +got):\n%s", test.reason, diff)
			}

			test.correct(stage)
			stage.WaitMachineProvisioned("m1")
			for _, resource := range test.has {
				if !slices.Contains(stage.Azure.ListResources(), resource) {
					t.Errorf("the corrected machine has no %s, but: %s", resource, strings.Join(stage.Azure.ListResources(), "\n"))
				}
			}
			stage.DeleteMachine("m1")
			if diff := cmp.Diff(before, stage.Azure.ListResources()); diff != "" {
				t.Errorf("resources that the machine left behind (-before +after):\n%s", diff)
			}
		})
	}
}

// TestRegionWithoutZones brings up machines in availability sets.
func TestRegionWithoutZones(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	azureCluster := stage.AzureCluster("c1")
	azureCluster.Spec.Location = "westus"
	stage.CreateCluster(azureCluster)
	if domains := stage.WaitClusterProvisioned("c1").Status.FailureDomains.Domains; len(domains) > 0 {
		t.Errorf("the region has no zones, but there are failure domains: %v", domains)
	}
	for _, name := range []string{"m1", "m2"} {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.ControlPlane, "")
	}
	for _, name := range []string{"m1", "m2"} {
		stage.WaitMachineProvisioned(name)
		_, vm := stage.Azure.GetResource("resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/"+name, "2024-07-01")
		if set := harness.FindString(vm, "properties.availabilitySet.id"); !strings.HasSuffix(strings.ToLower(set),
			"/availabilitysets/c1_control-plane-as") {
			t.Errorf("%s is in the availability set %q", name, set)
		}
	}
	stage.DeleteCluster("c1", "m1", "m2")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// makeRoom has Azure find room, and the machine looked at again.
func makeRoom(s *harness.Stage) {
	s.Azure.ClearFaults()
	s.AdvanceClock(10 * time.Minute)
	changeMachine(s, func(m *infrav1.AzureMachine) {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, "example.com/look", "again")
	})
}

func changeMachine(s *harness.Stage, change func(*infrav1.AzureMachine)) {
	s.T.Helper()
	harness.ChangeObject(s, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "m1"}}, change)
}
