package aks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// TestEverySpecIsWrittenOnce creates every golden case in an Azure that keeps all properties of requests: the next plan
// writes nothing. Then the spec goes back to that of the stock flavor: one write is enough.
func TestEverySpecIsWrittenOnce(t *testing.T) {
	for _, name := range golden.CaseNames(t) {
		t.Run(name, func(t *testing.T) {
			c := readTestCase(t, name)
			c.in.Facts.Cluster = nil
			c.in.ControlPlane.Annotations = nil
			g, _, err := aks.BuildPlan(c.in)
			if err != nil {
				t.Fatal(err)
			}
			node := g.Node(aks.ClusterID(c.in))
			if node.Body == nil || node.Refused != "" {
				return // Its golden file has the reason why nothing is created.
			}
			made := applyPut(t, nil, node)
			c.in.Facts.Cluster = newObservedCluster(t, made, c.in.ControlPlane.Spec.Version)
			storeBefore(c.in.ControlPlane, aks.LastApplied(c.in), g)
			requireNoWrites(t, "created", c.in)

			stock := readTestCase(t, "default").in.ControlPlane.Spec
			stock.ResourceGroupName, stock.VirtualNetwork = c.in.ControlPlane.Spec.ResourceGroupName, c.in.ControlPlane.Spec.VirtualNetwork
			stock.NodeResourceGroupName, stock.EnablePreviewFeatures = c.in.ControlPlane.Spec.NodeResourceGroupName,
				c.in.ControlPlane.Spec.EnablePreviewFeatures
			stock.Version = c.in.ControlPlane.Spec.Version
			c.in.ControlPlane.Spec = stock
			g, _, err = aks.BuildPlan(c.in)
			if err != nil {
				t.Fatal(err)
			}
			made = applyPut(t, c.in.Facts.Cluster, g.Node(aks.ClusterID(c.in)))
			c.in.Facts.Cluster = newObservedCluster(t, made, c.in.ControlPlane.Spec.Version)
			storeAfter(c.in.ControlPlane, aks.LastApplied(c.in), g)
			requireNoWrites(t, "removed", c.in)
		})
	}
}

func TestEveryPoolIsWrittenOnce(t *testing.T) {
	for _, name := range golden.CaseNames(t) {
		t.Run(name, func(t *testing.T) {
			c := readTestCase(t, name)
			for _, pool := range c.in.Pools {
				if pool.MachinePool == nil {
					continue
				}
				in := c.in
				in.Facts.AgentPool, pool.AzurePool.Annotations = nil, nil
				next := func(when string, wantQuiet bool) {
					g, err := aks.BuildPoolPlan(in, pool)
					if err != nil {
						t.Fatal(err)
					}
					node := g.Node(aks.PoolID(in, pool))
					if wantQuiet {
						if diff := cmp.Diff([]string{}, diffPaths(t, node, in.Facts.AgentPool)); diff != "" {
							t.Errorf("%s, %s would be written again: %s", when, pool.AzurePool.Name, diff)
						}
						if again := aks.PoolLastApplied(in, pool).PathsBefore(g); again != nil {
							t.Errorf("%s, lastApplied of %s would be written again: %s", when, pool.AzurePool.Name, again)
						}
					}
					raw, err := json.Marshal(applyPut(t, in.Facts.AgentPool, node))
					if err != nil {
						t.Fatal(err)
					}
					in.Facts.AgentPool = raw
					storeAfter(pool.AzurePool, aks.PoolLastApplied(in, pool), g)
				}
				next("new", false)
				next("created", true)
				// The pool's name and subnet cannot be changed, the rest goes back to the stock flavor's.
				_, stock := readTestCase(t, "default").poolInput(t, "c1-pool1")
				stock.AzurePool.Spec.Name, stock.AzurePool.Spec.SubnetName = pool.AzurePool.Spec.Name, pool.AzurePool.Spec.SubnetName
				pool.AzurePool.Spec = stock.AzurePool.Spec
				next("changed", false)
				next("removed", true)
			}
		})
	}
}

// requireNoWrites demands that the plan of a cluster has nothing to write and nothing to take back.
func requireNoWrites(t *testing.T, when string, in aks.Input) {
	t.Helper()
	g, _, err := aks.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	node := g.Node(aks.ClusterID(in))
	if node.Blocked != "" || node.Refused != "" {
		t.Errorf("%s, it does not go on: %s%s", when, node.Blocked, node.Refused)
	}
	if diff := cmp.Diff([]string{}, diffPaths(t, node, in.Facts.Cluster)); diff != "" {
		t.Errorf("%s, it would be written again: %s", when, diff)
	}
	if again := aks.LastApplied(in).PathsBefore(g); again != nil {
		t.Errorf("%s, lastApplied would be written again: %s", when, again)
	}
	storeAfter(in.ControlPlane, aks.LastApplied(in), g)
}

// applyPut returns the resource after a PUT in an Azure that keeps omitted properties and removes those that are null.
func applyPut(t *testing.T, have json.RawMessage, node *arm.Node) map[string]any {
	t.Helper()
	row, err := types.ForID(node.ID)
	if err != nil {
		t.Fatal(err)
	}
	body, err := arm.DecodeBody(node.Body)
	if err != nil {
		t.Fatal(err)
	}
	before, err := arm.DecodeBody(have)
	if err != nil {
		t.Fatal(err)
	}
	want := compare.Desired{Type: row, Body: body, OwnedPaths: node.OwnedPaths, DropTags: node.DropTags}
	sent, _ := compare.MergeBody(want, before).(map[string]any)
	out, _ := before.(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range sent {
		if key == "tags" || key == "identity" {
			out[key] = value
			continue
		}
		mergeValue(&out, key, value)
	}
	if properties, ok := sent["properties"].(map[string]any); ok {
		for _, whole := range []string{"nodeLabels", "tags"} {
			if value, ok := properties[whole]; ok {
				out["properties"].(map[string]any)[whole] = value
			}
		}
	}
	return out
}

// newObservedCluster returns a managed cluster as Azure shows it once it was made.
func newObservedCluster(t *testing.T, made map[string]any, version string) json.RawMessage {
	t.Helper()
	properties := made["properties"].(map[string]any)
	properties["provisioningState"] = "Succeeded"
	properties["currentKubernetesVersion"] = strings.TrimPrefix(version, "v")
	if properties["agentPoolProfiles"] == nil {
		properties["agentPoolProfiles"] = []any{map[string]any{"name": "pool0", "vnetSubnetID": "/s"}}
	}
	raw, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
