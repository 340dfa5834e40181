package imported_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// fittingNames are the names that an AzureMachine gives to interfaces.
func fittingNames(s *virtual.Scenario) handmade {
	return handmade{Scenario: s, nic: func(vm string) string { return vm + "-nic" }, configuration: func(string) string { return "pipConfig" }}
}

// answer answers requests for a path with a status and a body.
type answer struct {
	path   string
	status int
	body   any
}

// TestBadInput checks that input that cannot be imported ends with a message that names the fault and the remedy.
func TestBadInput(t *testing.T) {
	owned := func(cluster string) object { return object{infrav1.ClusterTagKey(cluster): "owned"} }
	tagMachine := func(machine string, tags object) func(h handmade) {
		return func(h handmade) {
			h.SendAsUser(http.MethodPatch, handGroup+"Microsoft.Compute/virtualMachines/"+machine+"/providers/Microsoft.Resources/tags/default", "2021-04-01",
				object{"operation": "Merge", "properties": object{"tags": tags}})
		}
	}
	var many []any
	for i := range 10001 {
		many = append(many, object{"id": fmt.Sprintf("/subscriptions/s/resourceGroups/legacy/providers/Microsoft.Compute/disks/%d", i)})
	}
	for name, test := range map[string]struct {
		reason    string
		change    func(h handmade)
		answer    answer
		arguments []string
		want      string
	}{
		"nothing selected": {"a subscription alone selects no cluster", nil, answer{}, nil, "Pass --resource-group, --cluster or --tag"},
		"no group":         {"the group does not exist", nil, answer{}, []string{"--resource-group", "none"}, "has no resource group none. Check --subscription"},
		"no machines": {"a group without machines has no cluster", nil, answer{}, []string{"--resource-group", "shared-network", "--cluster", "c1"},
			"has no virtual machine and no scale set"},
		"no name": {"without tags the new Cluster has no name", nil, answer{}, []string{"--resource-group", "legacy"}, "Pass the name of the new Cluster with --cluster"},
		"two clusters": {"the user has to choose", func(h handmade) {
			tagMachine("master-0", owned("c1"))(h)
			tagMachine("worker-0", owned("c2"))(h)
		}, answer{}, []string{"--resource-group", "legacy"}, "has resources of 2 clusters: c1, c2. Choose one with --cluster"},
		"another cluster": {"machines of another cluster are not taken", tagMachine("master-0", owned("c1")), answer{},
			[]string{"--resource-group", "legacy", "--cluster", "mine"}, "carry the tags of other clusters: c1"},
		"tag of another": {"a tag that selects no machine", nil, answer{}, []string{"--resource-group", "legacy", "--cluster", "c1", "--tag", "team=b"},
			"has no virtual machine and no scale set that was selected"},
		"unknown cluster": {"no machine has the tag of the cluster", nil, answer{}, []string{"--cluster", "gone"}, "has no virtual machine and no scale set with the tag"},
		"no tag":          {"a tag has a value", nil, answer{}, []string{"--tag", "team"}, "pass key=value"},
		"long name": {"the name of a Cluster is a label", nil, answer{}, []string{"--resource-group", "legacy", "--cluster", strings.Repeat("a", 64)},
			"cannot be the name of a Cluster"},
		"long name in tags": {"an ownership tag with such a name cannot be imported", tagMachine("master-0", owned("Has_Capitals")), answer{},
			[]string{"--resource-group", "legacy"}, "It is in the ownership tags"},
		"endpoint":      {"an address has a port", nil, answer{}, []string{"--resource-group", "legacy", "--endpoint", "10.0.0.1"}, "pass HOST:PORT"},
		"path in group": {"a name is no path", nil, answer{}, []string{"--resource-group", "a/../b"}, "without slashes"},
		"control plane": {"the machine has to exist", nil, answer{}, []string{"--resource-group", "legacy", "--cluster", "c1", "--control-plane-vm", "m9"},
			"the cluster has no virtual machine of this name"},
		"forbidden group": {"the right to read is missing", nil, answer{"/resourceGroups/legacy", 403, object{"error": object{"code": "AuthorizationFailed", "message": "no"}}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "AuthorizationFailed"},
		"forbidden network": {"the network cannot be read", nil, answer{"/virtualNetworks/shared", 403, object{"error": object{"code": "AuthorizationFailed", "message": "no"}}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "the network of the machines cannot be read"},
		"forbidden interfaces": {"without interfaces the network is unknown", nil, answer{"-nic", 403, object{"error": object{"code": "AuthorizationFailed", "message": "no"}}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "so the network is unknown"},
		"no JSON": {"Azure's answer is not as documented", nil, answer{"/virtualMachines/master-0", 200, "text"}, []string{"--resource-group", "legacy", "--cluster", "c1"},
			"has no JSON object"},
		"other form": {"Azure's answer is not as documented", nil, answer{"/virtualMachines/master-0", 200, object{"properties": "text"}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "does not have the expected form"},
		"too many": {"a group is bounded", nil, answer{"/resourceGroups/legacy/resources", 200, object{"value": many}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "and at most 10000 are read"},
		"strange ID": {"an element has to be in the group", nil, answer{"/resourceGroups/legacy/resources", 200,
			object{"value": []any{object{"id": "/subscriptions/x/resourceGroups/other/providers/Microsoft.Compute/disks/d"}}}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "which is not in the group"},
		"AKS": {"node resource groups belong to AKS", nil, answer{"/resourceGroups/legacy", 200, object{"name": "legacy", "location": "eastus",
			"managedBy": "/subscriptions/s/resourceGroups/r/providers/Microsoft.ContainerService/managedClusters/aks1"}},
			[]string{"--resource-group", "legacy", "--cluster", "c1"}, "Use kubectl capz adopt"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, plan.Features{}, func(s *virtual.Scenario) {
				h := fittingNames(s)
				h.build()
				if test.change != nil {
					test.change(h)
				}
				_, _, err := runImportWith(s, answering{s, test.answer}, test.arguments...)
				if err == nil || !strings.Contains(err.Error(), test.want) || environment.ExitCode(err) != environment.CodeError {
					t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
				}
			})
		})
	}
}

// answering is a transport that answers some requests itself.
type answering struct {
	s *virtual.Scenario
	answer
}

// Do implements policy.Transporter.
func (a answering) Do(request *http.Request) (*http.Response, error) {
	if a.path == "" || !strings.HasSuffix(request.URL.Path, a.path) {
		return virtual.UserTransport{Scenario: a.s}.Do(request)
	}
	raw, err := json.Marshal(a.body)
	return &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(raw)), Request: request}, err
}

// TestHostileNames checks that names and tags from Azure neither break manifests and commands nor reach a terminal unquoted.
func TestHostileNames(t *testing.T) {
	const hostile = "x\x1b[31m'; rm -rf / #\n- evil: true"
	play(t, plan.Features{}, func(s *virtual.Scenario) {
		h := fittingNames(s)
		h.build()
		long := strings.Repeat("n", 64)
		h.vm(long, "workers", "")
		h.SendAsUser(http.MethodPatch, handGroup+"Microsoft.Compute/virtualMachines/worker-0/providers/Microsoft.Resources/tags/default", "2021-04-01",
			object{"operation": "Merge", "properties": object{"tags": object{"quote": hostile}}})
		out, messages, err := runImport(s, "--resource-group", "legacy", "--cluster", "legacy", "--kubernetes-version", "v1.34.2")
		if err != nil && !errors.As(err, new(environment.FoundError)) {
			t.Fatal(err)
		}
		if strings.Contains(messages, "\x1b") || strings.Contains(out, "\x1b") {
			t.Error("a control character is printed")
		}
		if !strings.Contains(messages, long) {
			t.Errorf("a machine whose name is too long for Kubernetes is not listed:\n%s", messages)
		}
		found := false
		for _, manifest := range virtual.ReadManifests(t, []byte(out)) {
			raw, _ := json.Marshal(manifest)
			want, _ := json.Marshal(hostile)
			found = found || bytes.Contains(raw, want)
		}
		if !found {
			t.Error("the tag does not reach the manifests as it is")
		}
	})
}
