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

// BuildCluster makes one of three control plane machines, one after the other as kubeadm needs it, and of workers.
func (w *World) BuildCluster(name string, workers int) {
	w.T.Helper()
	w.ApplyNetwork(name, nil)
	w.WaitUntil("the network is Ready",
		IsReadyFunc(w, &infrav1.AzureCluster{}, name, func(c *infrav1.AzureCluster) bool { return harness.IsReady(c) }))
	owner := &clusterv1.Cluster{}
	w.ReadObject(owner, name)
	harness.ChangeStatus(w.Stage, owner, func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	var names []string
	for i := range 3 {
		machine := fmt.Sprintf("%s-control-plane-%d", name, i)
		w.ApplyMachine(name, machine, harness.ControlPlane)
		w.WaitMachineProvisioned(machine)
		virtual.WaitForSignal(nil, booting)
		if i == 0 {
			for j := range workers {
				names = append(names, fmt.Sprintf("%s-md-0-%d", name, j))
				w.ApplyMachine(name, names[j], harness.Worker)
			}
		}
	}
	for _, machine := range names {
		w.WaitMachineProvisioned(machine)
	}
}

// ApplyNetwork asks for a self-managed cluster without machines; nil changes nothing about it.
func (w *World) ApplyNetwork(name string, change func(*infrav1.AzureCluster)) {
	w.T.Helper()
	azureCluster := w.AzureCluster(name)
	if change != nil {
		change(azureCluster)
	}
	defaults.FillAzureCluster(azureCluster)
	w.CreateCluster(azureCluster)
}

// BuildAKSCluster makes an AKS cluster with as many pools.
func (w *World) BuildAKSCluster(name string, pools int) {
	w.T.Helper()
	w.ApplyAKSCluster(name, pools)
	w.WaitUntil("the control plane is Ready",
		IsReadyFunc(w, &infrav1.AzureManagedControlPlane{}, name, func(c *infrav1.AzureManagedControlPlane) bool { return harness.IsReady(c) }))
	for i := range pools {
		w.WaitUntil("the pool is Ready",
			IsReadyFunc(w, &infrav1.AzureManagedMachinePool{}, fmt.Sprintf("%s-pool%d", name, i),
				func(p *infrav1.AzureManagedMachinePool) bool { return harness.IsReady(p) }))
	}
}

// ApplyAKSCluster asks for an AKS cluster with as many pools.
func (w *World) ApplyAKSCluster(name string, pools int) {
	w.T.Helper()
	controlPlane := w.ControlPlane(name)
	defaults.FillAzureManagedControlPlane(controlPlane)
	var list []harness.ManagedPool
	for i := range pools {
		mode := string(infrav1.NodePoolModeUser)
		if i == 0 {
			mode = string(infrav1.NodePoolModeSystem)
		}
		list = append(list, harness.ManagedPool{Name: fmt.Sprintf("pool%d", i), Mode: mode, Replicas: 2,
			Change: defaults.FillAzureManagedMachinePool})
	}
	w.CreateManagedCluster(controlPlane, list...)
}

// ApplyMachine makes a machine of a cluster.
func (w *World) ApplyMachine(cluster, name string, role harness.Role) {
	w.T.Helper()
	machine := w.AzureMachine(cluster, name)
	defaults.FillAzureMachine(machine, w.Azure.SubscriptionID)
	w.CreateMachine(machine, role, "")
}

// WaitMachineProvisioned waits until a machine is.
func (w *World) WaitMachineProvisioned(machine string) {
	w.T.Helper()
	w.WaitUntil(machine+" is provisioned",
		IsReadyFunc(w, &infrav1.AzureMachine{}, machine, func(m *infrav1.AzureMachine) bool { return harness.IsReady(m) }))
}
