package pool_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// goldenInput is the document of a case that is no Kubernetes object.
type goldenInput struct {
	SubscriptionID string
	BootstrapData  string
	AdminPassword  string
	Facts          plan.ClusterFacts
	PoolFacts      pool.Facts
}

// goldenPlan is a golden file.
type goldenPlan struct {
	Nodes []golden.Node `json:"nodes"`
	// Deletion is the plan of the deletion, what goes first at the top.
	Deletion []string `json:"deletion"`
}

func TestGolden(t *testing.T) {
	golden.RunCases(t, func(t *testing.T, name string) []byte { return renderGolden(t, readInput(t, name)) })
}

func readInput(t *testing.T, name string) pool.Input {
	t.Helper()
	in, g := pool.Input{}, &goldenInput{}
	golden.ReadCase(t, name, map[string]golden.Target{
		"Cluster": golden.DecodeInto(&in.Cluster), "AzureCluster": golden.DecodeInto(&in.AzureCluster),
		"MachinePool": golden.DecodeInto(&in.MachinePool), "AzureMachinePool": golden.DecodeInto(&in.AzureMachinePool), "": golden.DecodeInto(&g),
	})
	in.SubscriptionID, in.Facts, in.PoolFacts, in.AdminPassword = g.SubscriptionID, g.Facts, g.PoolFacts, g.AdminPassword
	if g.BootstrapData != "" {
		in.BootstrapData = []byte(g.BootstrapData)
	}
	return in
}

func renderGolden(t *testing.T, in pool.Input) []byte {
	t.Helper()
	before, _ := json.Marshal([]any{in.AzureCluster, in.MachinePool, in.AzureMachinePool})
	if errs := append(pool.UnsupportedFields(in), pool.CheckSpec(in)...); len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	graph, err := pool.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	deletion, err := pool.BuildDeletePlan(in)
	if err != nil {
		t.Fatal(err)
	}
	if after, _ := json.Marshal([]any{in.AzureCluster, in.MachinePool, in.AzureMachinePool}); !bytes.Equal(before, after) {
		t.Errorf("the plan changed its input: %s", cmp.Diff(string(before), string(after)))
	}
	raw, err := yaml.Marshal(goldenPlan{Nodes: golden.DescribeNodes(t, graph, nil), Deletion: golden.DescribeDeletion(t, deletion)})
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
