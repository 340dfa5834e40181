package aks_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// readElsewhere are the fields that the plan leaves to others, with who reads them. A prefix that ends in a dot is for all
// below.
var readElsewhere = map[string]string{
	"controlPlane.subscriptionID":        "internal/identity falls back to the manager's; plans get Input.SubscriptionID",
	"controlPlane.identityRef.":          "internal/identity signs in with it",
	"controlPlane.azureEnvironment":      "the manager's clients are made for it",
	"controlPlane.controlPlaneEndpoint.": "the controller writes it from Endpoint",
	"pool.providerIDList[]":              "the controller writes it from the pool's instances",
}

// TestEveryFieldCounts changes every field of the specs of all golden cases, one at a time, and demands that something
// comes of it: another plan, or a refusal. A field that no case sets and that is not in the table fails, too.
func TestEveryFieldCounts(t *testing.T) {
	counts := map[string]bool{}
	for _, name := range golden.CaseNames(t) {
		c := readTestCase(t, name)
		fieldtest.VaryLeaves("controlPlane", reflect.ValueOf(&c.in.ControlPlane.Spec).Elem(), counts, func() string { return renderEffect(t, c) })
		for _, pool := range c.in.Pools {
			fieldtest.VaryLeaves("pool", reflect.ValueOf(&pool.AzurePool.Spec).Elem(), counts, func() string { return renderEffect(t, c) })
		}
	}
	all := fieldtest.LeafPaths("controlPlane", reflect.TypeFor[infrav1.AzureManagedControlPlaneSpec]())
	all = append(all, fieldtest.LeafPaths("pool", reflect.TypeFor[infrav1.AzureManagedMachinePoolSpec]())...)
	fieldtest.RequireAllEffective(t, all, counts, readElsewhere)
}

func renderEffect(t *testing.T, c testCase) string {
	t.Helper()
	graph, exports, err := aks.BuildPlan(c.in)
	out := fmt.Sprint(toText(t, graph), err, exports, aks.APIVersion(c.in), aks.CheckSpec(c.in))
	for _, pool := range c.in.Pools {
		in := c.in
		in.Facts.AgentPool = nilIfNull(c.given.Facts.AgentPools[pool.AzurePool.Name])
		graph, err := aks.BuildPoolPlan(in, pool)
		out += fmt.Sprint(toText(t, graph), err, aks.CheckPool(in, pool))
	}
	return out
}

func toText(t *testing.T, graph *arm.Graph) string {
	t.Helper()
	out, err := json.Marshal(graph.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
