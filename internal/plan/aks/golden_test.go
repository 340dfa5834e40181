package aks_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

// goldenInput is the document of a case that is no Kubernetes object.
type goldenInput struct {
	// Base is the case whose documents this one's are merged into.
	Base string
	// Pools limits the golden file to the plans of these pools, Cluster to that of the control plane.
	Pools          []string
	Cluster        bool
	SubscriptionID string
	Sent           []string
	PoolSent       map[string][]string
	Secrets        map[string]string
	Facts          struct {
		VNet       plan.VNetFact
		Subnet     json.RawMessage
		Cluster    json.RawMessage
		AgentPools map[string]json.RawMessage
	}
}

// testCase is a case with its base.
type testCase struct {
	given goldenInput
	in    aks.Input
}

// goldenPlan is a golden file.
type goldenPlan struct {
	Endpoint string        `json:"endpoint,omitempty"`
	Nodes    []golden.Node `json:"nodes"`
	// Sent are the paths to remember, Kept those without a way back.
	Sent    []string     `json:"sent,omitempty"`
	Kept    []string     `json:"kept,omitempty"`
	Exports *aso.Exports `json:"exports,omitempty"`
	// Deletion is the plan of the deletion, what goes first at the top.
	Deletion []string `json:"deletion,omitempty"`
}

func TestGolden(t *testing.T) {
	golden.RunCases(t, func(t *testing.T, name string) []byte { return renderGolden(t, readTestCase(t, name)) })
}

// readCaseDocuments reads a case's documents, those of its base first, by kind and name.
func readCaseDocuments(t *testing.T, name string) map[string]map[string]any {
	t.Helper()
	own := map[string]map[string]any{}
	for _, document := range golden.ReadDocuments(t, name) {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		kind, _ := object["kind"].(string)
		metadata, _ := object["metadata"].(map[string]any)
		named, _ := metadata["name"].(string)
		own[kind+"/"+named] = object
	}
	base, _ := own["/"]["base"].(string)
	if base == "" {
		return own
	}
	out := readCaseDocuments(t, base)
	for key, object := range own {
		mergeValue(&out, key, object)
	}
	return out
}

// mergeValue is a JSON merge patch.
func mergeValue[V any](into *map[string]V, key string, value V) {
	have, isObject := any((*into)[key]).(map[string]any)
	patch, patchIsObject := any(value).(map[string]any)
	switch {
	case any(value) == nil:
		delete(*into, key)
	case isObject && patchIsObject && have != nil:
		for key, value := range patch {
			mergeValue(&have, key, value)
		}
	default:
		(*into)[key] = value
	}
}

func readTestCase(t *testing.T, name string) testCase {
	t.Helper()
	var c testCase
	azurePools, machinePools := map[string]*infrav1.AzureManagedMachinePool{}, map[string]*clusterv1.MachinePool{}
	for key, document := range readCaseDocuments(t, name) {
		raw, err := yaml.Marshal(document)
		if err != nil {
			t.Fatal(err)
		}
		kind, named, _ := strings.Cut(key, "/")
		switch kind {
		case "Cluster":
			c.in.Cluster = golden.DecodeDocument[clusterv1.Cluster](t, raw)
		case "AzureManagedControlPlane":
			c.in.ControlPlane = golden.DecodeDocument[infrav1.AzureManagedControlPlane](t, raw)
		case "AzureManagedMachinePool":
			azurePools[named] = golden.DecodeDocument[infrav1.AzureManagedMachinePool](t, raw)
		case "MachinePool":
			machinePools[named] = golden.DecodeDocument[clusterv1.MachinePool](t, raw)
		case "":
			c.given = *golden.DecodeDocument[goldenInput](t, raw)
		default:
			t.Fatalf("%s: unknown kind %q", name, kind)
		}
	}
	g := c.given
	for named, azurePool := range azurePools {
		// The maps' order is any, as is that of a list.
		pool := aks.Pool{AzurePool: azurePool, MachinePool: machinePools[named]}
		c.in.Pools = append(c.in.Pools, pool)
		if paths := g.PoolSent[named]; paths != nil {
			sentBefore(azurePool, aks.PoolID(c.in, pool), paths)
		}
	}
	if g.Sent != nil {
		sentBefore(c.in.ControlPlane, aks.ClusterID(c.in), g.Sent)
	}
	c.in.SubscriptionID, c.in.Secrets = g.SubscriptionID, aso.Secrets{}
	for ref, value := range g.Secrets {
		secret, key, _ := strings.Cut(ref, "/")
		c.in.Secrets[aso.KeyRef{Name: secret, Key: key}] = value
	}
	c.in.Facts = aks.Facts{VNet: g.Facts.VNet, Subnet: nilIfNull(g.Facts.Subnet), Cluster: nilIfNull(g.Facts.Cluster)}
	return c
}

// nilIfNull is nil for null, too.
func nilIfNull(message json.RawMessage) json.RawMessage {
	if string(message) == "null" {
		return nil
	}
	return message
}

// poolInput returns the input of the plan of one pool.
func (c testCase) poolInput(t *testing.T, name string) (aks.Input, aks.Pool) {
	t.Helper()
	for _, pool := range c.in.Pools {
		if pool.AzurePool.Name == name {
			in := c.in
			in.Facts.AgentPool = nilIfNull(c.given.Facts.AgentPools[name])
			return in, pool
		}
	}
	t.Fatalf("the case has no pool %s", name)
	return aks.Input{}, aks.Pool{}
}

func renderGolden(t *testing.T, c testCase) []byte {
	t.Helper()
	before, err := json.Marshal([]any{c.in.ControlPlane, len(c.in.Pools)})
	if err != nil {
		t.Fatal(err)
	}
	var out []goldenPlan
	if len(c.given.Pools) == 0 || c.given.Cluster {
		out = append(out, renderCluster(t, c))
	}
	for _, name := range c.given.Pools {
		out = append(out, renderPool(t, c, name))
	}
	if after, _ := json.Marshal([]any{c.in.ControlPlane, len(c.in.Pools)}); !bytes.Equal(before, after) {
		t.Errorf("the plan changed its input: %s", cmp.Diff(string(before), string(after)))
	}
	var documents [][]byte
	for _, p := range out {
		raw, err := yaml.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, raw)
	}
	return bytes.Join(documents, []byte("---\n"))
}

func renderCluster(t *testing.T, c testCase) goldenPlan {
	t.Helper()
	if errs := aks.CheckSpec(c.in); len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	graph, exports, err := aks.BuildPlan(c.in)
	if err != nil {
		t.Fatal(err)
	}
	deletion, err := aks.BuildDeletePlan(c.in)
	if err != nil {
		t.Fatal(err)
	}
	observed := map[arm.ID]json.RawMessage{aks.ClusterID(c.in): c.in.Facts.Cluster, aks.SubnetID(c.in): c.in.Facts.Subnet}
	out := renderPlan(t, c.in, graph, deletion, observed)
	if exports != (aso.Exports{}) {
		out.Exports = &exports
	}
	out.Sent = recordedPaths(t, aks.LastApplied(c.in), graph, aks.ClusterID(c.in))
	if host, port := managedcluster.APIServerEndpoint(c.in.Facts.Cluster); host != "" {
		endpoint, _ := json.Marshal(infrav1.APIEndpoint{Host: host, Port: port})
		out.Endpoint = string(endpoint)
	}
	return out
}

func renderPool(t *testing.T, c testCase, name string) goldenPlan {
	t.Helper()
	in, pool := c.poolInput(t, name)
	if errs := aks.CheckPool(in, pool); len(errs) > 0 {
		t.Fatalf("refused: %v", errs)
	}
	graph, err := aks.BuildPoolPlan(in, pool)
	if err != nil {
		t.Fatal(err)
	}
	deletion, err := aks.BuildPoolDeletePlan(in, pool)
	if err != nil {
		t.Fatal(err)
	}
	out := renderPlan(t, in, graph, deletion, map[arm.ID]json.RawMessage{aks.PoolID(in, pool): in.Facts.AgentPool})
	out.Sent = recordedPaths(t, aks.PoolLastApplied(in, pool), graph, aks.PoolID(in, pool))
	return out
}

func renderPlan(t *testing.T, in aks.Input, graph *arm.Graph, deletion *arm.Graph, observed map[arm.ID]json.RawMessage) goldenPlan {
	t.Helper()
	out := goldenPlan{}
	for _, node := range graph.Nodes() {
		out.Kept = append(out.Kept, node.UnremovablePaths...)
	}
	out.Nodes, out.Deletion = golden.DescribeNodes(t, graph, clientAPIVersions(in)), golden.DescribeDeletion(t, deletion)
	for i, n := range out.Nodes {
		if have := observed[n.ID]; have != nil && n.Body != nil {
			out.Nodes[i].Differs = new(diffPaths(t, graph.Node(n.ID), have))
		}
	}
	return out
}

// clientAPIVersions returns the api-versions that access opens a client with where they are not those of the table.
func clientAPIVersions(in aks.Input) map[string]string {
	version := aks.APIVersion(in)
	return map[string]string{types.ManagedCluster: version, types.AgentPool: version}
}

// diffPaths returns the paths that differ from the plan, for which the engine would write.
func diffPaths(t *testing.T, n *arm.Node, have json.RawMessage) []string {
	t.Helper()
	row, err := types.ForID(n.ID)
	if err != nil {
		t.Fatal(err)
	}
	body, err := arm.DecodeBody(n.Body)
	if err != nil {
		t.Fatal(err)
	}
	observed, err := arm.DecodeBody(have)
	if err != nil {
		t.Fatal(err)
	}
	return compare.PathsOf(compare.Diff(compare.Desired{Type: row, Body: body, OwnedPaths: n.OwnedPaths, DropTags: n.DropTags}, observed))
}
