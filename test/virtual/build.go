package virtual

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// booting is how long a control plane machine takes to be a Node, from when its VM runs: the median of facts about kubeadm.
const booting = 90 * time.Second

// BuildCluster makes one of three control plane machines, one after the other as kubeadm needs it, and of workers.
func (s *Scenario) BuildCluster(name string, workers int) {
	s.T.Helper()
	s.ApplyNetwork(name, nil)
	s.WaitReady(&infrav1.AzureCluster{}, name)
	s.CopyInfrastructure(name)
	var names []string
	for i := range 3 {
		machine := fmt.Sprintf("%s-control-plane-%d", name, i)
		s.ApplyMachine(name, machine, harness.ControlPlane)
		s.WaitMachineProvisioned(machine)
		WaitForSignal(nil, booting)
		if i == 0 {
			for j := range workers {
				names = append(names, fmt.Sprintf("%s-md-0-%d", name, j))
				s.ApplyMachine(name, names[j], harness.Worker)
			}
		}
	}
	for _, machine := range names {
		s.WaitMachineProvisioned(machine)
	}
}

// ApplyNetwork asks for a self-managed cluster without machines; nil changes nothing about it.
func (s *Scenario) ApplyNetwork(name string, change func(*infrav1.AzureCluster)) {
	s.T.Helper()
	azureCluster := s.AzureCluster(name)
	if change != nil {
		change(azureCluster)
	}
	defaults.FillAzureCluster(azureCluster)
	s.CreateCluster(azureCluster)
}

// BuildAKSCluster makes an AKS cluster with as many pools.
func (s *Scenario) BuildAKSCluster(name string, pools int) {
	s.T.Helper()
	s.ApplyAKSCluster(name, pools)
	s.WaitReady(&infrav1.AzureManagedControlPlane{}, name)
	for i := range pools {
		s.WaitReady(&infrav1.AzureManagedMachinePool{}, fmt.Sprintf("%s-pool%d", name, i))
	}
}

// ApplyAKSCluster asks for an AKS cluster with as many pools.
func (s *Scenario) ApplyAKSCluster(name string, pools int) {
	s.T.Helper()
	controlPlane := s.ControlPlane(name)
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
	s.CreateManagedCluster(controlPlane, list...)
}

// ApplyMachine makes a machine of a cluster.
func (s *Scenario) ApplyMachine(cluster, name string, role harness.Role) {
	s.T.Helper()
	machine := s.AzureMachine(cluster, name)
	defaults.FillAzureMachine(machine, s.Azure.SubscriptionID)
	s.CreateMachine(machine, role, "")
}

// ApplyPool makes a pool of a self-managed cluster.
func (s *Scenario) ApplyPool(cluster, name string, replicas int32) {
	s.T.Helper()
	pool := s.AzureMachinePool(cluster, name)
	// The API server fills in these defaults of the schema.
	pool.Spec.OrchestrationMode = infrav1.UniformOrchestration
	pool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{
		Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
		RollingUpdate: &infrav1.MachineRollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(1)), MaxUnavailable: new(intstr.FromInt32(0)),
			DeletePolicy: infrav1.OldestDeletePolicyType},
	}
	defaults.FillAzureMachinePool(pool, "")
	s.CreatePool(pool, replicas)
}

// WaitMachineProvisioned waits until a machine is.
func (s *Scenario) WaitMachineProvisioned(machine string) {
	s.T.Helper()
	s.WaitReady(&infrav1.AzureMachine{}, machine)
}
