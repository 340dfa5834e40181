package scenario

import (
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// shownMistake is a mistake in the manifest of a cluster, with what users see.
type shownMistake struct {
	reason, flavor, version string
	change                  func(l *lab, manifest string) string
	// object shows the cause in its wide output: kind and name.
	object string
	// cause is a part of the deepest cause.
	cause string
	// condition is that of the Cluster in which Cluster API repeats the cause. Its Available repeats that of the infrastructure, and not that of machines.
	condition string
}

func ofSpec(kind string, change func(spec map[string]any)) func(*lab, string) string {
	return func(l *lab, manifest string) string { return l.editManifest(manifest, kind, "", change) }
}

// shownMistakes are by the name of the cluster.
var shownMistakes = map[string]shownMistake{
	"region": {reason: "a typo in the region", flavor: workload.DefaultFlavor, object: "azurecluster/region", cause: "spec.location", condition: "InfrastructureReady",
		change: ofSpec("AzureCluster", func(spec map[string]any) { spec["location"] = "estus" })},
	"identity": {reason: "an identity that does not exist", flavor: workload.DefaultFlavor, object: "azurecluster/identity", cause: "spec.identityRef", condition: "InfrastructureReady",
		change: ofSpec("AzureCluster", func(spec map[string]any) { spec["identityRef"].(map[string]any)["name"] = "missing" })},
	"aks": {reason: "a version that AKS does not offer", flavor: "aks", version: "v1.20.3", object: "azuremanagedcluster/aks", cause: "K8sVersionNotSupported",
		condition: "InfrastructureReady"},
	"documents": {reason: "a version that AKS does not offer, in the kinds with manifests", flavor: "aks-aso", version: "v1.20.3", object: "azureasomanagedcluster/documents",
		cause: "K8sVersionNotSupported", condition: "InfrastructureReady"},
	"size": {reason: "a VM size that the region does not have", flavor: workload.DefaultFlavor, object: "azuremachinetemplate/size-control-plane", cause: "Standard_Missing",
		condition: "ControlPlaneMachinesReady", change: func(l *lab, manifest string) string {
			return l.editManifest(manifest, "AzureMachineTemplate", "size-control-plane", func(spec map[string]any) {
				spec["template"].(map[string]any)["spec"].(map[string]any)["vmSize"] = "Standard_Missing"
			})
		}},
}

// TestMistakesAreShown makes mistakes in a management cluster with Cluster API. The deepest cause is in the output of clusterctl describe, kubectl get
// -o wide and lab status, and in the condition that Cluster API aggregates for the Cluster.
func TestMistakesAreShown(t *testing.T) {
	l := takeLab(t)
	l.startLab("--bare")
	for name, m := range shownMistakes {
		version := m.version
		if version == "" {
			version = settings.KubernetesVersion
		}
		manifest := l.generateCluster(name, m.flavor, version, 1)
		if m.change != nil {
			manifest = m.change(l, manifest)
		}
		l.applyManifest(manifest)
	}
	for name, m := range shownMistakes {
		commands := map[string][]string{
			"clusterctl describe":          {"clusterctl", "describe", "cluster", name},
			"clusterctl describe, in full": {"clusterctl", "describe", "cluster", name, "--show-conditions", "all", "--grouping=false"},
			"kubectl get -o wide":          {"kubectl", "get", m.object, "--output", "wide"},
			"condition of the Cluster":     {"kubectl", "get", "cluster/" + name, "--output", "jsonpath={" + conditionPath(m.condition, "message") + "}"},
			"lab status":                   {"lab", "status"},
		}
		if m.condition == "InfrastructureReady" {
			commands["Available of the Cluster"] = []string{"kubectl", "get", "cluster/" + name, "--output", "jsonpath={" + conditionPath("Available", "message") + "}"}
		}
		for what, command := range commands {
			l.eventually(name+": "+what+" shows the cause", func() (bool, string) {
				out, err := l.tryProgram(command[0], command[1:]...)
				if err != nil {
					return false, err.Error()
				}
				if what == "lab status" {
					_, out, _ = strings.Cut(out, " Cluster "+name+": ")
					out, _, _ = strings.Cut(out, " Cluster ")
				}
				return strings.Contains(strings.Join(strings.Fields(out), " "), m.cause), out
			})
		}
	}
	for name := range shownMistakes {
		l.runProgram("kubectl", "delete", "cluster/"+name, "--timeout", patience.String())
	}
	l.expectNothingLeft()
}
