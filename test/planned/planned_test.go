package planned_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// story changes something while no manager runs.
type story struct {
	reason string
	// before brings the cluster up with a manager; nil is an empty Azure.
	before func(s *virtual.Scenario)
	change func(s *virtual.Scenario)
	// writes is how many writes the manager makes at least; none is a story without a change.
	writes int
}

var stories = map[string]story{
	"new network":     {"everything is created", nil, func(s *virtual.Scenario) { s.ApplyNetwork("c1", nil) }, 8},
	"new AKS cluster": {"the control plane has its pools", nil, func(s *virtual.Scenario) { s.ApplyAKSCluster("c1", 2) }, 2},
	"no change": {"nothing is written to a cluster in order", func(s *virtual.Scenario) { s.BuildCluster("c1", 1) },
		func(*virtual.Scenario) {}, 0},
	"no change of an AKS cluster": {"nothing is written to an AKS cluster in order", func(s *virtual.Scenario) { s.BuildAKSCluster("c1", 2) },
		func(*virtual.Scenario) {}, 0},
	"new documents": {"an AKS cluster of resource manifests signs in with a Secret that the plan does not read", nil,
		func(s *virtual.Scenario) { s.CreateManifests(s.BuildASOCluster("c1", "pool0")) }, 2},
	"no change of documents": {"nothing is written to an AKS cluster of resource manifests in order",
		func(s *virtual.Scenario) { s.CreateASOCluster(s.BuildASOCluster("c1", "pool0")) }, func(*virtual.Scenario) {}, 0},
	"new machine": {"the machine uses what exists", func(s *virtual.Scenario) { s.BuildCluster("c1", 1) },
		func(s *virtual.Scenario) { s.ApplyMachine("c1", "c1-md-0-9", harness.Worker) }, 2},
	"tags": {"tags of all resources change", func(s *virtual.Scenario) { s.BuildCluster("c1", 1) },
		func(s *virtual.Scenario) {
			network := &infrav1.AzureCluster{}
			network.Name = "c1"
			harness.ChangeObject(s.Stage, network, func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
		}, 5},
	"tags of an AKS cluster": {"tags of the cluster and of its pools change", func(s *virtual.Scenario) { s.BuildAKSCluster("c1", 2) },
		func(s *virtual.Scenario) {
			controlPlane := &infrav1.AzureManagedControlPlane{}
			controlPlane.Name = "c1"
			harness.ChangeObject(s.Stage, controlPlane, func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
		}, 1},
	"drifted subnet": {"a route table that was removed from a subnet is put back", func(s *virtual.Scenario) { s.BuildCluster("c1", 1) },
		func(s *virtual.Scenario) {
			s.PutAsUser("resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1-vnet/subnets/c1-node-subnet", "2025-05-01",
				map[string]any{"properties": map[string]any{"addressPrefix": "10.1.0.0/16"}})
		}, 1},
	"drifted rule": {"a removed security rule is put back", func(s *virtual.Scenario) { s.BuildCluster("c1", 1) },
		func(s *virtual.Scenario) {
			s.PutAsUser("resourceGroups/c1/providers/Microsoft.Network/networkSecurityGroups/c1-controlplane-nsg", "2025-05-01",
				map[string]any{"location": "eastus", "tags": map[string]any{infrav1.ClusterTagKey("c1"): "owned"}, "properties": map[string]any{}})
		}, 1},
}

// TestPlannedWritesOfStories checks that a plan names exactly the writes that the manager then makes.
func TestPlannedWritesOfStories(t *testing.T) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
				if story.before != nil {
					manager := s.StartProvider()
					story.before(s)
					manager.StopManager()
				}
				story.change(s)
				count := 0
				s.WrittenBody = func(_ *http.Request, status int, _ []byte) {
					if status < http.StatusBadRequest {
						count++
					}
				}
				s.StartProvider()
				virtual.WaitForSignal(nil, 2*time.Hour)
				if count < story.writes || story.writes == 0 && count > 0 {
					t.Errorf("%s: the manager made %d writes, want %d", story.reason, count, story.writes)
				}
			})
		})
	}
}

// TestSubscriptionOfSecrets checks that a plan takes the subscription of AzureASOManaged objects, which stands in their Secret, from their
// nodes, or else from the default, and that it names the Secret if there is neither.
func TestSubscriptionOfSecrets(t *testing.T) {
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		s.CreateManifests(s.BuildASOCluster("c1", "pool0"))
		compute := func(subscription string) *preview.Result {
			outcome, err := preview.Compute(s.T.Context(), s.PlanOptions(subscription))
			if err != nil {
				t.Fatal(err)
			}
			return outcome
		}
		if unknown := compute(""); len(unknown.Writes) > 0 || len(unknown.Notes) != 1 || !strings.Contains(unknown.Notes[0], "default/"+harness.OperatorSecret) {
			t.Errorf("without a subscription: %d writes, notes %q", len(unknown.Writes), unknown.Notes)
		}
		if known := compute(s.Azure.SubscriptionID); len(known.Writes) < 2 || len(known.Notes) > 0 {
			t.Errorf("with a default subscription: %d writes, notes %q", len(known.Writes), known.Notes)
		}
		manager := s.StartProvider()
		virtual.WaitForSignal(nil, time.Hour)
		manager.StopManager()
		inOrder := compute("")
		if len(inOrder.Writes) > 0 || len(inOrder.Notes) > 0 {
			t.Errorf("in order: writes %v, notes %q", inOrder.Writes, inOrder.Notes)
		}
		report, err := inOrder.Report(s.T.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Objects) > 0 {
			t.Errorf("a cluster in order is reported: %+v", report.Objects)
		}
	})
}
