package clusters

import (
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// booting is how long a control plane machine takes to be a Node, from when its VM runs: the median of facts about kubeadm.
const booting = 90 * time.Second

// Cluster makes one of three control plane machines, one after the other as kubeadm needs it, and of workers.
func (w *World) Cluster(name string, workers int) {
	w.T.Helper()
	w.Network(name, nil)
	w.Until("the network is Ready", Ready(w, &infrav1.AzureCluster{}, name, func(c *infrav1.AzureCluster) bool { return harness.Ready(c) }))
	owner := &clusterv1.Cluster{}
	w.Get(owner, name)
	harness.ChangeStatus(w.Stage, owner, func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	var names []string
	for i := range 3 {
		machine := fmt.Sprintf("%s-control-plane-%d", name, i)
		w.Machine(name, machine, harness.ControlPlane)
		w.Provisioned(machine)
		virtual.Wait(nil, booting)
		if i == 0 {
			for j := range workers {
				names = append(names, fmt.Sprintf("%s-md-0-%d", name, j))
				w.Machine(name, names[j], harness.Worker)
			}
		}
	}
	for _, machine := range names {
		w.Provisioned(machine)
	}
}

// Network asks for a self-managed cluster without machines; nil changes nothing about it.
func (w *World) Network(name string, change func(*infrav1.AzureCluster)) {
	w.T.Helper()
	azureCluster := w.AzureCluster(name)
	if change != nil {
		change(azureCluster)
	}
	defaults.FillAzureCluster(azureCluster)
	w.CreateCluster(azureCluster)
}

// Managed makes an AKS cluster with as many pools.
func (w *World) Managed(name string, pools int) {
	w.T.Helper()
	w.AKS(name, pools)
	w.Until("the control plane is Ready", Ready(w, &infrav1.AzureManagedControlPlane{}, name, func(c *infrav1.AzureManagedControlPlane) bool { return harness.Ready(c) }))
	for i := range pools {
		w.Until("the pool is Ready", Ready(w, &infrav1.AzureManagedMachinePool{}, fmt.Sprintf("%s-pool%d", name, i), func(p *infrav1.AzureManagedMachinePool) bool { return harness.Ready(p) }))
	}
}

// AKS asks for an AKS cluster with as many pools.
func (w *World) AKS(name string, pools int) {
	w.T.Helper()
	controlPlane := w.ControlPlane(name)
	defaults.FillAzureManagedControlPlane(controlPlane)
	var list []harness.ManagedPool
	for i := range pools {
		mode := string(infrav1.NodePoolModeUser)
		if i == 0 {
			mode = string(infrav1.NodePoolModeSystem)
		}
		list = append(list, harness.ManagedPool{Name: fmt.Sprintf("pool%d", i), Mode: mode, Replicas: 2, Change: defaults.FillAzureManagedMachinePool})
	}
	w.CreateManagedCluster(controlPlane, list...)
}

// Machine makes a machine of a cluster.
func (w *World) Machine(cluster, name string, role harness.Role) {
	w.T.Helper()
	machine := w.AzureMachine(cluster, name)
	defaults.FillAzureMachine(machine, w.Azure.SubscriptionID)
	w.CreateMachine(machine, role, "")
}

// Provisioned waits until a machine is.
func (w *World) Provisioned(machine string) {
	w.T.Helper()
	w.Until(machine+" is provisioned", Ready(w, &infrav1.AzureMachine{}, machine, func(m *infrav1.AzureMachine) bool { return harness.Ready(m) }))
}
