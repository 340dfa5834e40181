package scenario

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestBrokenBootstrap gives workers an azure.json that names another resource group. Cloud-provider-azure would never find
// such a machine: it must not become a node, and the lab must say which file and key are to blame.
func TestBrokenBootstrap(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.up("--bare")
	manifest := l.run("clusterctl", "generate", "cluster", "broken", "--config", l.settings().ClusterctlConfig(),
		"--infrastructure", "azure:"+settings.ProviderVersion, "--target-namespace", "default",
		"--kubernetes-version", settings.KubernetesVersion, "--control-plane-machine-count", "1", "--worker-machine-count", "1")
	if _, err := l.tryWith(l.breakWorkers(manifest), "kubectl", "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}

	const cause = `/etc/kubernetes/azure.json: key resourceGroup is "elsewhere"`
	l.eventually("lab status names the key", func() (bool, string) {
		out, err := l.try("lab", "status")
		if err != nil {
			return false, err.Error()
		}
		return strings.Contains(out, "not ready because of virtual machine broken-md-0-") && strings.Contains(out, cause), out
	})
	// The control plane is not affected, and the worker is not among its nodes.
	l.run("kubectl", "wait", "kubeadmcontrolplane/broken-control-plane", "--for=condition=Available", "--timeout", patience.String())
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
	documents := bytes.Split([]byte(manifest), []byte("\n---\n"))
	broken := 0
	for i, document := range documents {
		var object map[string]any
		if err := yaml.Unmarshal(document, &object); err != nil {
			l.t.Fatal(err)
		}
		if object["kind"] != "KubeadmConfigTemplate" {
			continue
		}
		content, err := json.Marshal(map[string]any{
			"cloud": "AzurePublicCloud", "tenantId": settings.TenantID, "subscriptionId": settings.SubscriptionID,
			"resourceGroup": "elsewhere", "location": settings.Location, "vmType": "standard", "loadBalancerSku": "Standard",
		})
		if err != nil {
			l.t.Fatal(err)
		}
		spec := object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)
		spec["files"] = []any{map[string]any{"path": "/etc/kubernetes/azure.json", "content": string(content)}}
		if documents[i], err = yaml.Marshal(object); err != nil {
			l.t.Fatal(err)
		}
		broken++
	}
	if broken != 1 {
		l.t.Fatalf("the template has %d KubeadmConfigTemplates, want 1", broken)
	}
	return string(bytes.Join(documents, []byte("\n---\n")))
}
