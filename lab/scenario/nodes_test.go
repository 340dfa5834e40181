package scenario

import (
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
)

// nodesScheme has the kinds whose objects tell which nodes there are.
var nodesScheme = runtime.NewScheme()

func init() {
	utilruntime.Must(corev1.AddToScheme(nodesScheme))
	utilruntime.Must(clusterv1.AddToScheme(nodesScheme))
}

// readList lists objects of the cluster that a kubeconfig leads to. Stories look for nodes again and again, and each start of kubectl
// takes as much processor time as dozens of such requests.
func (l *lab) readList(kubeconfig string, list client.ObjectList, options ...client.ListOption) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	c, err := client.New(config, client.Options{Scheme: nodesScheme})
	if err != nil {
		return err
	}
	return c.List(l.t.Context(), list, options...)
}

// listOfCluster lists the objects of a cluster in the management cluster.
func (l *lab) listOfCluster(cluster string, list client.ObjectList) {
	l.t.Helper()
	if err := l.readList(filepath.Join(l.dir, "kubeconfig"), list, client.InNamespace(management.Namespace),
		client.MatchingLabels{clusterv1.ClusterNameLabel: cluster}); err != nil {
		l.t.Fatal(err)
	}
}

// listReadyNodes returns the nodes of the workload cluster that are Ready.
func (l *lab) listReadyNodes(kubeconfig string) ([]corev1.Node, error) {
	var list corev1.NodeList
	if err := l.readList(kubeconfig, &list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list.Items, func(node corev1.Node) bool {
		return !slices.ContainsFunc(node.Status.Conditions, func(condition corev1.NodeCondition) bool {
			return condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue
		})
	}), nil
}

// readyNodes returns the names of the workload cluster's nodes that are Ready, sorted.
func (l *lab) readyNodes(kubeconfig string) (names []string, err error) {
	nodes, err := l.listReadyNodes(kubeconfig)
	for _, node := range nodes {
		names = append(names, node.Name)
	}
	slices.Sort(names)
	return names, err
}

// machineNodes returns the names of the nodes that the machines of a cluster have, sorted.
func (l *lab) machineNodes(cluster string) (names []string) {
	l.t.Helper()
	var machines clusterv1.MachineList
	l.listOfCluster(cluster, &machines)
	for _, machine := range machines.Items {
		if machine.Status.NodeRef.IsDefined() {
			names = append(names, machine.Status.NodeRef.Name)
		}
	}
	slices.Sort(names)
	return names
}

// poolNodes returns the Ready nodes of each agent pool, by the label that AKS gives them, with the kubelet's version.
func (l *lab) poolNodes(kubeconfig string) (pools map[string][]string, versions map[string]string, err error) {
	nodes, err := l.listReadyNodes(kubeconfig)
	pools, versions = map[string][]string{}, map[string]string{}
	for _, node := range nodes {
		if pool := node.Labels["kubernetes.azure.com/agentpool"]; pool != "" {
			pools[pool] = append(pools[pool], node.Name)
			versions[node.Name] = node.Status.NodeInfo.KubeletVersion
		}
	}
	return pools, versions, err
}

// namedNodes returns the nodes that the MachinePools of a cluster name, sorted, by agent pool: a label names the pool
// of a topology, the name of the MachinePool does elsewhere.
func (l *lab) namedNodes(cluster string) map[string][]string {
	l.t.Helper()
	var machinePools clusterv1.MachinePoolList
	l.listOfCluster(cluster, &machinePools)
	out := map[string][]string{}
	for _, machinePool := range machinePools.Items {
		pool := machinePool.Labels[clusterv1.ClusterTopologyMachinePoolNameLabel]
		if pool == "" {
			pool = strings.TrimPrefix(machinePool.Name, cluster+"-")
		}
		out[pool] = nil
		for _, node := range machinePool.Status.NodeRefs {
			out[pool] = append(out[pool], node.Name)
		}
		slices.Sort(out[pool])
	}
	return out
}
