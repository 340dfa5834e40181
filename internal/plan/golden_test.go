package plan_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
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
)

var update = flag.Bool("update", false, "rewrite the golden files")

// given is the document of an input file that is no Kubernetes object.
type given struct {
	SubscriptionID string
	ControlPlane   bool
	BootstrapData  string
	AdminPassword  string
	Features       plan.Features
	Facts          plan.ClusterFacts
	MachineFacts   plan.MachineFacts
}

// node is an arm.Node as golden files show it.
type node struct {
	ID       arm.ID            `json:"id"`
	Policy   arm.Policy        `json:"policy"`
	Foreign  arm.ForeignAction `json:"foreign,omitempty"`
	Group    string            `json:"group"`
	After    []arm.ID          `json:"after,omitempty"`
	Owned    []string          `json:"owned,omitempty"`
	DropTags []string          `json:"dropTags,omitempty"`
	Blocked  string            `json:"blocked,omitempty"`
	Refused  string            `json:"refused,omitempty"`
	Body     any               `json:"body,omitempty"`
}

// planned is a golden file.
type planned struct {
	Endpoint       string                    `json:"endpoint,omitempty"`
	FailureDomains []clusterv1.FailureDomain `json:"failureDomains,omitempty"`
	Nodes          []node                    `json:"nodes"`
	// Deletion is the plan of the deletion, what goes first at the top.
	Deletion []string `json:"deletion"`
}

func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*.in.yaml")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".in.yaml"), func(t *testing.T) {
			in := readInput(t, path)
			got := render(t, in)
			golden := strings.TrimSuffix(path, ".in.yaml") + ".plan.yaml"
			if *update {
				if err := os.WriteFile(golden, got, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: run make golden", err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("the plan changed; if that is meant, run make golden and review the files:\n%s", diff)
			}
		})
	}
}

// readInput reads the documents of an input file. Without an AzureMachine it is about the cluster alone.
func readInput(t *testing.T, path string) plan.MachineInput {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	in := plan.MachineInput{}
	for _, document := range bytes.Split(raw, []byte("\n---\n")) {
		var kind struct{ Kind string }
		decode(t, document, &kind, false)
		switch kind.Kind {
		case "Cluster":
			in.Cluster = &clusterv1.Cluster{}
			decode(t, document, in.Cluster, true)
		case "AzureCluster":
			in.AzureCluster = &infrav1.AzureCluster{}
			decode(t, document, in.AzureCluster, true)
		case "Machine":
			in.Machine = &clusterv1.Machine{}
			decode(t, document, in.Machine, true)
		case "AzureMachine":
			in.AzureMachine = &infrav1.AzureMachine{}
			decode(t, document, in.AzureMachine, true)
		case "":
			var g given
			decode(t, document, &g, true)
			in.SubscriptionID, in.Features, in.Facts = g.SubscriptionID, g.Features, g.Facts
			in.ControlPlane, in.MachineFacts, in.AdminPassword = g.ControlPlane, g.MachineFacts, g.AdminPassword
			if g.BootstrapData != "" {
				in.BootstrapData = []byte(g.BootstrapData)
			}
		default:
			t.Fatalf("%s: unknown kind %q", path, kind.Kind)
		}
	}
	return in
}

func decode(t *testing.T, document []byte, into any, strict bool) {
	t.Helper()
	unmarshal := yaml.Unmarshal
	if strict {
		unmarshal = yaml.UnmarshalStrict
	}
	if err := unmarshal(document, into); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
}

func render(t *testing.T, in plan.MachineInput) []byte {
	t.Helper()
	var out planned
	var graph, deletion *arm.Graph
	var err, deleteErr error
	before, _ := json.Marshal([]any{in.AzureCluster, in.AzureMachine})
	if in.AzureMachine == nil {
		if errs := append(cluster.Unsupported(in.ClusterInput), cluster.Check(in.ClusterInput)...); len(errs) > 0 {
			t.Fatalf("refused: %v", errs)
		}
		graph, err = cluster.Plan(in.ClusterInput)
		deletion, deleteErr = cluster.DeletePlan(in.ClusterInput)
		host, port := cluster.Endpoint(in.ClusterInput)
		out.Endpoint = infrav1Endpoint(host, port)
		out.FailureDomains = cluster.FailureDomains(in.ClusterInput)
	} else {
		errs := machine.Unsupported(in)
		if !in.MachineFacts.VMExists {
			errs = append(errs, machine.Check(in)...)
		}
		if len(errs) > 0 {
			t.Fatalf("refused: %v", errs)
		}
		graph, err = machine.Plan(in)
		deletion, deleteErr = machine.DeletePlan(in)
	}
	if err != nil || deleteErr != nil {
		t.Fatal(err, deleteErr)
	}
	if after, _ := json.Marshal([]any{in.AzureCluster, in.AzureMachine}); !bytes.Equal(before, after) {
		t.Errorf("the plan changed its input: %s", cmp.Diff(string(before), string(after)))
	}
	checkNodes(t, in, graph)

	ordered, err := graph.Ordered()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range ordered {
		out.Nodes = append(out.Nodes, node{n.ID, n.Policy, n.Foreign, n.Group, n.After, n.Owned, n.DropTags, n.Blocked, n.Refused, n.Body})
	}
	gone, err := deletion.Ordered()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range gone {
		out.Deletion = append([]string{string(n.ID)}, out.Deletion...)
	}
	raw, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// checkNodes checks what the engine demands of every plan: known types, a group, and the ownership tag on what has tags.
func checkNodes(t *testing.T, in plan.MachineInput, graph *arm.Graph) {
	t.Helper()
	key, value := plan.OwnerTag(in.ClusterInput)
	for _, n := range graph.Nodes() {
		row, err := types.Of(n.ID)
		if err != nil {
			t.Error(err)
		}
		if n.Group == "" || n.Policy == "" {
			t.Errorf("%s has no group or policy", n.ID)
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
