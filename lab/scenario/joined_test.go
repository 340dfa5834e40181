package scenario

import (
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// joinOwn has a scale set of the user's own join an AKS cluster, with the manifest and the command line of the book's
// page. The set has one VM.
func (l *lab) joinOwn(kubeconfig, cluster string) {
	l.t.Helper()
	const page = "docs/book/aks/scale-sets.md"
	values := strings.NewReplacer("my-cluster", cluster, "eastus", settings.Location, "v1.34.2", settings.ManagedKubernetesVersion,
		"replicas: 2", "replicas: 1")
	var commands []string
	for _, b := range l.codeBlocks() {
		switch {
		case b.Page != page:
		case b.Language == "yaml":
			l.applyManifest(values.Replace(b.Text))
		case b.Language == "sh":
			commands = append(commands, strings.TrimSpace(values.Replace(b.Text)))
		}
	}
	node := cluster + "-vmss000000"
	l.eventually("the VM has joined, and its Machine names the Node", func() (bool, string) {
		out, err := l.tryProgram("kubectl", "get", "machines", "-l", "cluster.x-k8s.io/pool-name="+cluster+"-vmss", "-o",
			`jsonpath={.items[*].status.nodeRef.name} {.items[*].status.phase}`)
		return err == nil && strings.TrimSpace(out) == node+" Running", out
	})
	if len(commands) != 1 || !strings.HasPrefix(commands[0], "kubectl label node "+node+" ") {
		l.t.Fatalf("commands of %s: %q", page, commands)
	}
	l.runProgram("kubectl", append([]string{"--kubeconfig", kubeconfig}, strings.Fields(commands[0])[1:]...)...)
	nodes := l.runProgram("kubectl", "--kubeconfig", kubeconfig, "get", "nodes", "-l",
		"kubernetes.azure.com/cluster=MC_"+cluster+"_"+cluster+"_"+settings.Location, "-o", "name")
	if !strings.Contains(nodes, "node/"+node+"\n") {
		l.t.Errorf("nodes of the AKS cluster by its label: %q", nodes)
	}
	l.runProgram("kubectl", "wait", "azuremachinepool/"+cluster+"-vmss", "--for=condition=Ready", "--timeout", patience.String())
}
