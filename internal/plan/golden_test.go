package plan_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// goldenInput is the document of an input file that is no Kubernetes object.
type goldenInput struct {
	SubscriptionID string
	ControlPlane   bool
	BootstrapData  string
	AdminPassword  string
	Features       plan.Features
	Facts          plan.ClusterFacts
	MachineFacts   plan.MachineFacts
}

// goldenPlan is a golden file.
type goldenPlan struct {
	Endpoint       string                    `json:"endpoint,omitempty"`
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`
	Nodes          []golden.Node             `json:"nodes"`
	// Deletion is the plan of the deletion, what goes first at the top.
	Deletion []string `json:"deletion"`
}

func TestGolden(t *testing.T) {
	golden.RunCases(t, func(t *testing.T, name string) []byte { return renderGolden(t, readInput(t, name)) })
}

// readInput reads the documents of a case. Without an AzureMachine it is about the cluster alone.
func readInput(t testing.TB, name string) plan.MachineInput {
	t.Helper()
	in, g := plan.MachineInput{}, &goldenInput{}
	golden.ReadCase(t, name, map[string]golden.Target{
		"Cluster": golden.DecodeInto(&in.Cluster), "AzureCluster": golden.DecodeInto(&in.AzureCluster),
		"Machine": golden.DecodeInto(&in.Machine), "AzureMachine": golden.DecodeInto(&in.AzureMachine), "": golden.DecodeInto(&g),
	})
	in.SubscriptionID, in.Features, in.Facts = g.SubscriptionID, g.Features, g.Facts
	in.ControlPlane, in.MachineFacts, in.AdminPassword = g.ControlPlane, g.MachineFacts, g.AdminPassword
	if g.BootstrapData != "" {
		in.BootstrapData = []byte(g.BootstrapData)
	}
	return in
}

func renderGolden(t *testing.T, in plan.MachineInput) []byte {
	t.Helper()
	var out goldenPlan
	var graph, deletion *arm.Graph
	var err, deleteErr error
	before, _ := json.Marshal([]any{in.AzureCluster, in.AzureMachine})
	if in.AzureMachine == nil {
		if errs := append(cluster.UnsupportedFields(in.ClusterInput), cluster.CheckSpec(in.ClusterInput)...); len(errs) > 0 {
			t.Fatalf("refused: %v", errs)
		}
		graph, err = cluster.BuildPlan(in.ClusterInput)
		deletion, deleteErr = cluster.BuildDeletePlan(in.ClusterInput)
		host, port := cluster.APIServerEndpoint(in.ClusterInput)
		out.Endpoint = infrav1Endpoint(host, port)
		out.FailureDomains = cluster.FailureDomains(in.ClusterInput)
	} else {
		errs := machine.UnsupportedFields(in)
		if !in.MachineFacts.VMExists {
			errs = append(errs, machine.CheckSpec(in)...)
		}
		if len(errs) > 0 {
			t.Fatalf("refused: %v", errs)
		}
		graph, err = machine.BuildPlan(in)
		deletion, deleteErr = machine.BuildDeletePlan(in)
	}
	if err != nil || deleteErr != nil {
		t.Fatal(err, deleteErr)
	}
	if after, _ := json.Marshal([]any{in.AzureCluster, in.AzureMachine}); !bytes.Equal(before, after) {
		t.Errorf("the plan changed its input: %s", cmp.Diff(string(before), string(after)))
	}
	checkTags(t, in, graph)
	out.Nodes, out.Deletion = golden.DescribeNodes(t, graph, nil), golden.DescribeDeletion(t, deletion)
	raw, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checkTags checks that all resources with tags have the ownership tag.
func checkTags(t *testing.T, in plan.MachineInput, graph *arm.Graph) {
	t.Helper()
	key, value := plan.OwnerTag(in.ClusterInput)
	for _, n := range graph.Nodes() {
		row, err := types.ForID(n.ID)
		if err != nil {
			t.Error(err)
		}
		if n.Policy == arm.Observe || n.Blocked != "" && n.Body == nil {
			continue
		}
		raw, err := json.Marshal(n.Body)
		if err != nil {
			t.Errorf("%s: %v", n.ID, err)
		}
		var body struct{ Tags map[string]string }
		if err := json.Unmarshal(raw, &body); err != nil {
			t.Errorf("%s: %v", n.ID, err)
		}
		if row.Taggable && body.Tags[key] != value {
			t.Errorf("%s has no ownership tag", n.ID)
		}
		if !row.Taggable && body.Tags != nil {
			t.Errorf("%s has tags, which its type has not", n.ID)
		}
	}
}

func infrav1Endpoint(host string, port int32) string {
	if host == "" {
		return ""
	}
	raw, _ := json.Marshal(infrav1.APIEndpoint{Host: host, Port: port})
	return string(raw)
}
