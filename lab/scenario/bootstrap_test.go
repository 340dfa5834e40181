package scenario

import (
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestBrokenBootstrap gives workers an azure.json that names another resource group. Cloud-provider-azure would never find
// such a machine: it must not become a node, and the lab must name the wrong file and key.
func TestBrokenBootstrap(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	manifest := l.runProgram("clusterctl", "generate", "cluster", "broken", "--config", l.loadSettings().ClusterctlConfig(),
		"--infrastructure", "azure:"+settings.ProviderVersion, "--target-namespace", "default",
		"--kubernetes-version", settings.KubernetesVersion, "--control-plane-machine-count", "1", "--worker-machine-count", "1")
	if _, err := l.tryWith(l.breakWorkers(manifest), "kubectl", "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}

	const cause = `/etc/kubernetes/azure.json: key resourceGroup is "elsewhere"`
	l.eventually("lab status names the key", func() (bool, string) {
		out, err := l.tryProgram("lab", "status")
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(out, "not ready because of virtual machine broken-md-0-") && strings.Contains(out, cause), out
	})
	// The control plane is not affected, and the worker is not among its nodes.
	l.runProgram("kubectl", "wait", "kubeadmcontrolplane/broken-control-plane", "--for=condition=Available", "--timeout", patience.String())
	nodes, err := l.readyNodes(l.workloadKubeconfig("broken"))
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != 1 || !strings.HasPrefix(nodes[0], "broken-control-plane-") {
		t.Errorf("nodes %v, want the control-plane machine alone", nodes)
	}

	l.deleteCluster("broken")
	l.expectNothingLeft()
}

// breakWorkers replaces the file from the provider's Secret in the workers' bootstrap template.
func (l *lab) breakWorkers(manifest string) string {
	l.t.Helper()
	content, err := json.Marshal(map[string]any{
		"cloud": "AzurePublicCloud", "tenantId": settings.TenantID, "subscriptionId": settings.SubscriptionID,
		"resourceGroup": "elsewhere", "location": settings.Location, "vmType": "standard", "loadBalancerSku": "Standard",
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return l.editManifest(manifest, "KubeadmConfigTemplate", "", func(spec map[string]any) {
		inner := spec["template"].(map[string]any)["spec"].(map[string]any)
		inner["files"] = []any{map[string]any{"path": "/etc/kubernetes/azure.json", "content": string(content)}}
	})
}

// editManifest changes the spec of the one object of a kind in a manifest. A name tells objects of the same kind apart.
func (l *lab) editManifest(manifest, kind, name string, change func(spec map[string]any)) string {
	l.t.Helper()
	documents := strings.Split(manifest, "\n---\n")
	changed := 0
	for i, document := range documents {
		var object struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		var all map[string]any
		for _, into := range []any{&object, &all} {
			if err := yaml.Unmarshal([]byte(document), into); err != nil {
				l.t.Fatal(err)
			}
		}
		if object.Kind != kind || name != "" && object.Metadata.Name != name {
			continue
		}
		change(all["spec"].(map[string]any))
		raw, err := yaml.Marshal(all)
		if err != nil {
			l.t.Fatal(err)
		}
		documents[i] = strings.TrimSpace(string(raw))
		changed++
	}
	if changed != 1 {
		l.t.Fatalf("the manifest has %d objects %s %s, want 1", changed, kind, name)
	}
	return strings.Join(documents, "\n---\n")
}
