package pool_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// readElsewhere are the fields that plans leave to others, with who reads them. A prefix that ends in a dot is for all below.
var readElsewhere = map[string]string{
	"pool.providerIDList[]":   "the provider writes it",
	"pool.strategy.":          "which VMs go when is no part of a plan",
	"pool.roleAssignmentName": "the webhook moves it to systemAssignedIdentityRole.name; left over, it is refused",
}

// TestEveryFieldCounts changes every field of the specs of all golden cases, one at a time, and demands that another plan or
// a refusal comes of it.
func TestEveryFieldCounts(t *testing.T) {
	counts := map[string]bool{}
	for _, name := range golden.CaseNames(t) {
		in := readInput(t, name)
		fieldtest.VaryLeaves("pool", reflect.ValueOf(&in.AzureMachinePool.Spec).Elem(), counts, func() string { return renderEffect(in) })
	}
	fieldtest.RequireAllEffective(t, fieldtest.LeafPaths("pool", reflect.TypeFor[infrav1.AzureMachinePoolSpec]()), counts, readElsewhere)
}

func renderEffect(in pool.Input) string {
	graph, err := pool.BuildPlan(in)
	if err != nil {
		return err.Error()
	}
	raw, err := json.Marshal(graph.Nodes())
	return fmt.Sprint(string(raw), err, pool.UnsupportedFields(in), pool.CheckSpec(in))
}
