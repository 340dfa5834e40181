package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// flavor is a template of self-managed clusters that becomes one with a control-plane machine and a worker of each kind.
type flavor struct {
	reason string
	// class is a flavor that is applied before, with the same variables.
	class string
	// template is the name of the flavor if the row has another.
	template  string
	variables map[string]string
	// gate is a feature gate that changes clusters of all flavors, so only some labs have it on.
	gate string
	// nodes are 2 by default.
	nodes int
	// look checks further results of the flavor.
	look func(l *lab, cluster, kubeconfig string)
}

var flavors = map[string]flavor{
	"private": {
		reason: "only the virtual network reaches the API server, by a name in a private DNS zone",
		look: func(l *lab, cluster, _ string) {
			l.expectField("cluster/"+cluster, ".spec.controlPlaneEndpoint.host", "apiserver."+cluster+".capz.io")
			if zones := namesOf(l.listResources(), "microsoft.network/privatednszones"); !slices.Contains(zones, cluster+".capz.io") {
				l.t.Errorf("private DNS zones %v, want %s.capz.io", zones, cluster)
			}
		},
	},
	"apiserver-ilb": {
		reason: "machines use the internal address, people the public name", gate: internalLoadBalancer,
		look: func(l *lab, cluster, _ string) {
			l.expectField("cluster/"+cluster, ".spec.controlPlaneEndpoint.host", cluster+"-lab."+settings.Location+".cloudapp.azure.com")
		},
	},
	"azure-bastion": {
		reason: "a bastion host beside the machines",
		look: func(l *lab, cluster, _ string) {
			if hosts := namesOf(l.listResources(), "microsoft.network/bastionhosts"); !slices.Contains(hosts, cluster+"-azure-bastion") {
				l.t.Errorf("bastion hosts %v, want %s-azure-bastion", hosts, cluster)
			}
		},
	},
	"azure-cni-v1":             {reason: "interfaces with addresses for pods"},
	"aad":                      {reason: "an API server that takes tokens of Microsoft Entra ID"},
	"dual-stack":               {reason: "nodes have addresses of both families", look: expectBothFamilies},
	"ipv6":                     {reason: "nodes have addresses of both families, their kubelets use the second", look: expectBothFamilies},
	"edgezone":                 {reason: "no availability zones", variables: map[string]string{"AZURE_LOCATION": "westus"}},
	"ephemeral":                {reason: "OS disks on the host"},
	"machinepool":              {reason: "workers in a scale set, which is rolled without losing one", look: rollPool},
	"machinepool-windows":      {reason: "scale sets of both operating systems", nodes: 3, look: expectWindows},
	"nvidia-gpu":               {reason: "workers with GPUs", variables: map[string]string{"AZURE_NODE_MACHINE_TYPE": "Standard_NC4as_T4_v3"}},
	"spot":                     {reason: "workers are spot machines"},
	"user-assigned-identity":   {reason: "an identity that the user brings"},
	"system-assigned-identity": {reason: "identities of the machines with roles of their own, which go with them"},
	"windows":                  {reason: "workers of both operating systems", nodes: 3, look: expectWindows},
	"windows-apiserver-ilb":    {reason: "both", gate: internalLoadBalancer, nodes: 3, look: expectWindows},
	"flatcar":                  {reason: "bootstrap data is an Ignition config"},
	"flatcar-sysext":           {reason: "the config also brings files of other hosts and masks units"},
	"topology": {reason: "clusterctl adds the class whose name is default",
		variables: map[string]string{"CLUSTER_CLASS_NAME": "default"}},
	"clusterclass": {
		reason: "a class of another name is applied first", class: "clusterclass", template: "topology",
		variables: map[string]string{"CLUSTER_CLASS_NAME": "mine"},
	},
}

const internalLoadBalancer = "APIServerILB"

// elsewhere are the templates that other stories are about.
var elsewhere = map[string]string{
	"default":              "TestDefaultFlavor",
	"aks":                  "TestAKSFlavor",
	"aks-topology":         "TestAKSTopology",
	"aks-clusterclass":     "TestAKSTopology",
	"aks-aso-topology":     "TestAKSTopology",
	"aks-aso-clusterclass": "TestAKSTopology",
	"aks-aso-maintenance":  "TestSecondFlavor",
	// It is aks-aso-maintenance without the windows, by test/integration/managed.
	"aks-aso": "TestManifestFlavors",
}

// clustersAtOnce is how many clusters come and go beside each other in the lab that they share.
const clustersAtOnce = 3

// TestEveryFlavor takes each template of self-managed clusters to its end state and away again.
func TestEveryFlavor(t *testing.T) {
	l := takeLab(t)
	expectEveryTemplate(l)
	l.startLab("--bare")
	l.liveAll("")
}

// TestInternalLoadBalancerFlavors takes those whose API server has a second load balancer.
func TestInternalLoadBalancerFlavors(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.startLab("--bare", "--feature-gates", internalLoadBalancer+"=true")
	l.liveAll(internalLoadBalancer)
}

// liveAll takes the flavors that need the gate, or those that need none.
func (l *lab) liveAll(gate string) {
	l.t.Helper()
	t := l.t
	names := make(chan string)
	go func() {
		defer close(names)
		for _, name := range slices.Sorted(maps.Keys(flavors)) {
			if flavors[name].gate == gate {
				names <- name
			}
		}
	}()
	var group sync.WaitGroup
	for range clustersAtOnce {
		group.Go(func() {
			for name := range names {
				t.Run(name, func(t *testing.T) { l.labFor(t, flavors[name].variables).playCluster(name, flavors[name]) })
			}
		})
	}
	group.Wait()
	if !t.Failed() {
		l.expectNothingLeft()
	}
}

// expectEveryTemplate compares the table with the folder.
func expectEveryTemplate(l *lab) {
	l.t.Helper()
	files, err := filepath.Glob(filepath.Join(l.root, "templates", "cluster-template*.yaml"))
	if err != nil {
		l.t.Fatal(err)
	}
	tested := slices.Sorted(maps.Keys(flavors))
	tested = append(tested, slices.Collect(maps.Keys(elsewhere))...)
	var there []string
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "cluster-template"), ".yaml")
		if name = strings.TrimPrefix(name, "-"); name == "" {
			name = "default"
		}
		there = append(there, name)
	}
	slices.Sort(tested)
	slices.Sort(there)
	if !slices.Equal(tested, there) {
		l.t.Errorf("templates/ has %v, the tests have %v", there, tested)
	}
}

// playCluster is the life of one cluster, which has the name of its row.
func (l *lab) playCluster(name string, f flavor) {
	template, nodes := name, 2
	if f.template != "" {
		template = f.template
	}
	if f.nodes != 0 {
		nodes = f.nodes
	}
	if f.class != "" {
		l.applyManifest(l.generateCluster(name, f.class, settings.KubernetesVersion, 1))
	}
	begin := time.Now()
	l.applyManifest(l.generateCluster(name, template, settings.KubernetesVersion, 1))
	// Waiting with a watch leaves the processors to the clusters beside this one.
	l.runProgram("kubectl", "wait", "cluster/"+name, "--for=condition=Available", "--timeout", patience.String())
	l.t.Logf("available after %.0f s", time.Since(begin).Seconds())
	kubeconfig := l.workloadKubeconfig(name)
	l.awaitNodes(name, kubeconfig, nodes)
	l.expectNoProblem(name)
	if f.look != nil {
		f.look(l, name, kubeconfig)
	}
	l.deleteCluster(name)
	for _, id := range l.listResources() {
		if strings.Contains(id+"/", "/resourcegroups/"+name+"/") {
			l.t.Errorf("%s is left in Azure after the cluster was deleted (%s)", id, f.reason)
		}
	}
}

// expectNoProblem waits until all machines run and no condition of any object of the cluster is other than it should be.
func (l *lab) expectNoProblem(cluster string) {
	l.t.Helper()
	kube, err := management.NewClient(l.loadSettings())
	if err != nil {
		l.t.Fatal(err)
	}
	l.eventually("no condition of the cluster's objects is other than it should be", func() (bool, string) {
		root, err := workload.LoadCluster(l.t.Context(), kube, management.Namespace, cluster)
		if err != nil {
			return false, err.Error()
		}
		if root == nil {
			return false, "the Cluster does not exist"
		}
		var problems []string
		root.Walk(func(o *workload.Object, _ int) {
			if o.Kind == "Machine" && o.Status != "Running" {
				problems = append(problems, fmt.Sprintf("Machine %s: %s", o.Name, o.Status))
			}
			for _, p := range o.Problems {
				problems = append(problems, fmt.Sprintf("%s %s, %s: %s %s", o.Kind, o.Name, p.Type, p.Reason, p.Message))
			}
		})
		return len(problems) == 0, strings.Join(problems, "\n")
	})
	l.moments.markStable(cluster)
}

// expectField compares one field of an object of the management cluster.
func (l *lab) expectField(object, path, want string) {
	l.t.Helper()
	if got := l.readField(object, path); got != want {
		l.t.Errorf("%s: %s is %q, want %q", object, path, got, want)
	}
}

func expectWindows(l *lab, cluster, kubeconfig string) {
	l.t.Helper()
	nodes := l.runProgram("kubectl", "--kubeconfig", kubeconfig, "get", "nodes", "-l", "kubernetes.io/os=windows", "-o", "name")
	if names := strings.Fields(nodes); len(names) != 1 {
		l.t.Errorf("Windows nodes %v of cluster %s, want 1", names, cluster)
	}
}

func expectBothFamilies(l *lab, cluster, kubeconfig string) {
	l.t.Helper()
	out := l.runProgram("kubectl", "--kubeconfig", kubeconfig, "get", "nodes", "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.status.addresses[?(@.type=="InternalIP")].address}{"\n"}{end}`)
	for line := range strings.Lines(out) {
		words := strings.Fields(line)
		fourth := slices.ContainsFunc(words[1:], func(a string) bool { return strings.Contains(a, ".") })
		sixth := slices.ContainsFunc(words[1:], func(a string) bool { return strings.Contains(a, ":") })
		if !fourth || !sixth {
			l.t.Errorf("node %s of cluster %s has the addresses %v, want both families", words[0], cluster, words[1:])
		}
	}
}
