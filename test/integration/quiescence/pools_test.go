package quiescence_test

import (
	"path/filepath"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestQuiescencePools does the same for the cases of pools.
func TestQuiescencePools(t *testing.T) {
	cases, err := filepath.Glob("../../../internal/plan/pool/testdata/*.in.yaml")
	if err != nil || len(cases) < 9 {
		t.Fatalf("%d cases: %v", len(cases), err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".in.yaml"), func(t *testing.T) {
			in := readPool(t, path)
			network := plan.MachineInput{ClusterInput: in.ClusterInput, MachineFacts: plan.MachineFacts{VNet: in.PoolFacts.VNet},
				AdminPassword: in.AdminPassword}
			// The resources that VMs are created from are brought as for a machine.
			template := &in.AzureMachinePool.Spec.Template.VirtualMachineProfile
			network.AzureMachine = &infrav1.AzureMachine{Spec: infrav1.AzureMachineSpec{VirtualMachineProfile: *template,
				ManagedIdentities: in.AzureMachinePool.Spec.ManagedIdentities}}
			makePossible(&network)
			in.AdminPassword, *template = network.AdminPassword, network.AzureMachine.Spec.VirtualMachineProfile
			w := newWorld(t, plan.Location(in.ClusterInput))
			w.bringResources(network)
			network.Facts.VNet = in.PoolFacts.VNet
			w.convergePlan("AzureCluster", network, func(in plan.MachineInput) (*arm.Graph, error) { return cluster.BuildPlan(in.ClusterInput) })

			planned := func(plan.MachineInput) (*arm.Graph, error) { return pool.BuildPlan(in) }
			in.BootstrapData, in.Capacity = []byte("#cloud-config\n"), nil
			in.PoolFacts.ScaleSetExists, in.PoolFacts.PrincipalID, in.PoolFacts.BootstrapDataHash = false, "", ""
			w.convergeUntil("AzureMachinePool", network, planned, func(outcome arm.Outcome) bool {
				scaleSet, _ := outcome.Result(pool.ScaleSetID(in))
				return scaleSet.IsDone()
			})
			observed, err := w.engine.Observe(t.Context(), w.client, []arm.ID{pool.ScaleSetID(in)}, true, engine.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			made, err := facts.ParseScaleSet(pool.ScaleSetID(in), observed[pool.ScaleSetID(in).Key()].Body)
			if err != nil || !made.Exists {
				t.Fatalf("the scale set: %v", err)
			}
			in.PoolFacts.ScaleSetExists, in.PoolFacts.PrincipalID, in.PoolFacts.BootstrapDataHash = true, made.PrincipalID,
				made.Tags[infrav1.CustomDataHashTag]
			w.checkQuiet("AzureMachinePool", network, planned)
		})
	}
}

func readPool(t *testing.T, path string) pool.Input {
	t.Helper()
	in := pool.Input{}
	var given struct {
		SubscriptionID, AdminPassword string
		Facts                         plan.ClusterFacts
		PoolFacts                     pool.Facts
	}
	readGolden(t, path, map[string]any{"Cluster": &in.Cluster, "AzureCluster": &in.AzureCluster, "MachinePool": &in.MachinePool,
		"AzureMachinePool": &in.AzureMachinePool, "": &given})
	in.SubscriptionID, in.AdminPassword, in.Facts, in.PoolFacts = given.SubscriptionID, given.AdminPassword, given.Facts, given.PoolFacts
	return in
}
