package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// refusedProperty is a property of one resource of a kind. The resource is in place without it.
type refusedProperty struct {
	reason   string
	resource arm.ID
	policy   arm.Policy
	memory   func(annotations map[string]string) applied.State
	// without and with are the bodies without the property and with it, path is its path.
	without, with, path string
}

func refusedProperties() map[string]refusedProperty {
	const subscriptionID = "00000000-0000-0000-0000-000000000001"
	const compute, network = group + "c1/providers/Microsoft.Compute/", group + "c1/providers/Microsoft.Network/"
	in := plan.ClusterInput{SubscriptionID: subscriptionID}
	ofCluster := func(annotations map[string]string) applied.State {
		return cluster.LastApplied(plan.ClusterInput{
			SubscriptionID: subscriptionID, AzureCluster: &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}},
		})
	}
	return map[string]refusedProperty{
		"VM": {"a policy denies the tag", compute + "virtualMachines/m", arm.CreateOnly, func(annotations map[string]string) applied.State {
			return machine.LastApplied(plan.MachineInput{ClusterInput: in,
				AzureMachine: &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}})
		}, `{"tags":{}}`, `{"tags":{"cost":"1"}}`, "/tags/cost"},
		"scale set": {"another program adds an extension of that name", compute + "virtualMachineScaleSets/s", arm.Repair,
			func(annotations map[string]string) applied.State {
				return pool.LastApplied(pool.Input{ClusterInput: in,
					AzureMachinePool: &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}}})
			}, `{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[]}}}}`,
			`{"properties":{"virtualMachineProfile":{"extensionProfile":{"extensions":[{"name":"e"}]}}}}`,
			"/properties/virtualMachineProfile/extensionProfile/extensions[e]"},
		"AKS cluster": {"AKS has a default", group + "c1/providers/Microsoft.ContainerService/managedClusters/c1", arm.Repair,
			func(annotations map[string]string) applied.State {
				return aks.LastApplied(aks.Input{SubscriptionID: subscriptionID, ControlPlane: &infrav1.AzureManagedControlPlane{
					ObjectMeta: metav1.ObjectMeta{Name: "c1", Annotations: annotations},
				}})
			}, `{"location":"eastus"}`, `{"location":"eastus","properties":{"oidcIssuerProfile":{"enabled":true}}}`,
			"/properties/oidcIssuerProfile/enabled"},
		"subnet": {"another program sets a NAT gateway", network + "virtualNetworks/v/subnets/s", arm.Repair, ofCluster,
			`{"properties":{}}`, `{"properties":{"natGateway":{"id":"n"}}}`, "/properties/natGateway"},
		"load balancer": {"another program adds a rule of that name", network + "loadBalancers/l", arm.Repair, ofCluster,
			`{"properties":{"loadBalancingRules":[]}}`, `{"properties":{"loadBalancingRules":[{"name":"r"}]}}`, "/properties/loadBalancingRules[r]"},
	}
}

// TestRefusedWriteIsForgotten takes a property back after one write of it. It is to be removed from Azure unless Azure refused the write.
func TestRefusedWriteIsForgotten(t *testing.T) {
	for name, property := range refusedProperties() {
		graph := func(body string) *arm.Graph {
			g := &arm.Graph{}
			g.Add(arm.Node{ID: property.resource, Policy: property.policy, Body: json.RawMessage(body)})
			return g
		}
		for answer, test := range map[string]struct {
			reason        string
			refused, open bool
			// observed is the resource after the write.
			observed string
			dropped  []string
		}{
			"refused":   {"Azure never had the property", true, false, property.without, nil},
			"restarted": {"the manager ended before the answer", false, false, property.without, []string{property.path}},
			"no answer": {"Azure may have the property", false, true, property.without, []string{property.path}},
			"seen":      {"a read showed the property, and a later write was refused", true, false, property.with, []string{property.path}},
		} {
			t.Run(name+"/"+answer, func(t *testing.T) {
				annotations := map[string]string{}
				store := func(paths applied.Paths) {
					if paths != nil {
						obj := &metav1.ObjectMeta{}
						applied.Content{Applied: paths}.Store(obj)
						annotations = obj.Annotations
					}
				}
				outcome := func(state arm.State, body string) arm.Outcome {
					return arm.Outcome{Results: []arm.Result{{ID: property.resource, State: state, Owned: true, Observed: json.RawMessage(body)}}}
				}
				record := func(body string, after arm.Outcome) {
					store(property.memory(annotations).PathsBefore(graph(body)))
					store(property.memory(annotations).PathsAfter(graph(body), after))
				}
				record(property.without, outcome(arm.Ready, property.without))
				record(property.with, outcome(arm.Failed, test.observed))
				store(applied.Read(annotations).Applied.WithoutRefused(func(arm.ID) (refused, open bool) { return test.refused, test.open }))
				got := property.memory(annotations).DroppedPaths(graph(property.without).Node(property.resource))
				if diff := cmp.Diff(test.dropped, got); diff != "" {
					t.Errorf("%s, %s: dropped (-want +got):\n%s", property.reason, test.reason, diff)
				}
				again := property.memory(annotations).PathsBefore(graph(property.with))
				if test.refused && test.dropped == nil && again == nil {
					t.Error("the property has to be recorded again before the next write of it")
				}
			})
		}
	}
}
