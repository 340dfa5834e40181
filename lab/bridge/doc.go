// Package bridge makes a booted simulated VM a Node of a workload cluster.
//
// It follows the guests of the simulator and repeats the steps inside each VM: cloud-init or Ignition renders and
// writes the custom data, kubeadm init or join runs with the configuration found there, the kubelet registers.
// Bootstrap data that a real machine could not use (a missing CA file, an azure.json that names a security group which
// does not exist, a token of another cluster) ends in the phase Failed with the file, the key and the mistake; such a
// machine never joins.
//
// Workload clusters live in memory, in Cluster API's own API and etcd handlers
// (sigs.k8s.io/cluster-api/test/infrastructure/inmemory). Every control-plane VM gets an API server on loopback, with
// the serving certificate kubeadm would issue, which knows client certificates of the cluster's CA and bootstrap
// tokens; the simulator's load balancers lead to it. KubeadmControlPlane reaches etcd through port-forward as it does
// on Azure, with mutual TLS.
//
// A machine registers its Node like a kubelet, with the cores and memory of its size, and renews its Lease. The bridge
// also plays the programs that a user installs into a cluster and the in-memory cluster cannot run: cloud-node-manager
// (provider IDs, addresses and topology labels of Nodes) and the network plugin (Nodes are Ready at once). It plays the
// part of cloud-controller-manager for Nodes (their removal with the VM, the shutdown taint) while no program holds the
// Lease of one. No scheduler or controller manager runs, although both have a Lease: pods of Deployments do not appear.
//
// Managed clusters (AKS) have no machines that read bootstrap data. For each of them the simulator shows the CA and the
// VMs of its agent pools: the bridge serves one API server, which also takes tokens of the simulated Microsoft Entra
// ID, and makes a Node of each VM, with AKS's labels and taints. A cluster that is stopped does not answer. VMs of the
// user's own join it with a kubeconfig in a file, after kubeadm has written its configurations there.
//
// State is in memory only. A bridge that starts anew restores the machines that the simulator reports as Running;
// objects that users made in a workload cluster are lost. The bridge waits until errors of the simulator are over. It
// runs no command of the bootstrap data.
package bridge
