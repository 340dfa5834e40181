package harness

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// ManagedVersion is the Kubernetes version of AKS clusters.
const ManagedVersion = "v1.33.2"

// ManagedPool is a pool of an AKS cluster as a test wants it.
type ManagedPool struct {
	Name     string
	Mode     string
	Replicas int32
	// Change changes the AzureManagedMachinePool before it is created; nil for none.
	Change func(*infrav1.AzureManagedMachinePool)
}

// ControlPlane returns an AzureManagedControlPlane as the flavor aks has it.
func (s *Stage) ControlPlane(name string) *infrav1.AzureManagedControlPlane {
	return &infrav1.AzureManagedControlPlane{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: infrav1.AzureManagedControlPlaneSpec{
			AzureManagedControlPlaneClassSpec: infrav1.AzureManagedControlPlaneClassSpec{
				SubscriptionID:    s.Azure.SubscriptionID,
				Location:          "eastus",
				ResourceGroupName: name,
				Version:           ManagedVersion,
				IdentityRef:       IdentityRef(),
			},
		},
	}
}

// TryCreateManagedCluster applies an AKS cluster in the order of the flavor: AzureManagedCluster, control plane, for every pool a
// MachinePool with an AzureManagedMachinePool, and then the Cluster. It then plays Cluster API's part, and returns the API server's
// error for the control plane.
func (s *Stage) TryCreateManagedCluster(controlPlane *infrav1.AzureManagedControlPlane, pools ...ManagedPool) error {
	s.T.Helper()
	name := controlPlane.Name
	if err := s.TryCreate(controlPlane); err != nil {
		return err
	}
	azureCluster := &infrav1.AzureManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
	s.CreateObject(azureCluster)
	for _, pool := range pools {
		s.CreateManagedPool(name, pool)
	}
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Finalizers: []string{played}},
		Spec: clusterv1.ClusterSpec{
			ClusterNetwork:    clusterv1.ClusterNetwork{Services: clusterv1.NetworkRanges{CIDRBlocks: []string{"192.168.0.0/16"}}},
			InfrastructureRef: contractReference("AzureManagedCluster", name),
			ControlPlaneRef:   contractReference("AzureManagedControlPlane", name),
		},
	}
	s.CreateObject(cluster)
	s.setOwner(cluster, azureCluster)
	s.setOwner(cluster, controlPlane)
	return nil
}

// CreateManagedCluster is TryCreateManagedCluster that has to succeed.
func (s *Stage) CreateManagedCluster(controlPlane *infrav1.AzureManagedControlPlane, pools ...ManagedPool) {
	s.T.Helper()
	if err := s.TryCreateManagedCluster(controlPlane, pools...); err != nil {
		s.T.Fatalf("create AzureManagedControlPlane %s: %v", controlPlane.Name, err)
	}
}

// CreateManagedPool applies a pool of an AKS cluster.
func (s *Stage) CreateManagedPool(cluster string, pool ManagedPool) {
	s.T.Helper()
	azurePool := &infrav1.AzureManagedMachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: cluster + "-" + pool.Name},
		Spec: infrav1.AzureManagedMachinePoolSpec{
			AzureManagedMachinePoolClassSpec: infrav1.AzureManagedMachinePoolClassSpec{Name: &pool.Name, Mode: pool.Mode, SKU: "Standard_D2s_v3"},
		},
	}
	if pool.Change != nil {
		pool.Change(azurePool)
	}
	s.CreateObject(azurePool)
	machinePool := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: azurePool.Name,
			Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}, Finalizers: []string{played}},
		Spec: clusterv1.MachinePoolSpec{
			ClusterName: cluster, Replicas: &pool.Replicas,
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: cluster, Version: ManagedVersion,
				InfrastructureRef: contractReference("AzureManagedMachinePool", azurePool.Name),
				Bootstrap:         clusterv1.Bootstrap{DataSecretName: new("")},
			}},
		},
	}
	s.CreateObject(machinePool)
	s.setOwner(machinePool, azurePool)
}

// WaitControlPlaneReady waits for the control plane of an AKS cluster.
func (s *Stage) WaitControlPlaneReady(name string) *infrav1.AzureManagedControlPlane {
	s.T.Helper()
	return WaitFor(s, &infrav1.AzureManagedControlPlane{}, name, "ready", func(c *infrav1.AzureManagedControlPlane) bool {
		// A reconciliation reads the workload cluster last.
		return c.Status.Initialization.ControlPlaneInitialized != nil && *c.Status.Initialization.ControlPlaneInitialized && IsReady(c) &&
			FindCondition(c, infrav1.ClusterInfoReadyCondition).Status != ""
	})
}

// WaitPoolReady waits for a pool to have this many machines.
func (s *Stage) WaitPoolReady(name string, machines int) *infrav1.AzureManagedMachinePool {
	s.T.Helper()
	return WaitFor(s, &infrav1.AzureManagedMachinePool{}, name, "ready", func(p *infrav1.AzureManagedMachinePool) bool {
		return p.Status.Ready && IsReady(p) &&
			len(p.Spec.ProviderIDList) == machines
	})
}

// WaitManagedClusterReady waits for the control plane of an AKS cluster, which it returns, and for all machines of these
// pools.
func (s *Stage) WaitManagedClusterReady(name string, pools ...ManagedPool) *infrav1.AzureManagedControlPlane {
	s.T.Helper()
	controlPlane := s.WaitControlPlaneReady(name)
	for _, pool := range pools {
		s.WaitPoolReady(name+"-"+pool.Name, int(pool.Replicas))
	}
	return controlPlane
}

// DeleteManagedPool deletes a MachinePool, and the AzureManagedMachinePool of the same name.
func (s *Stage) DeleteManagedPool(name string) {
	s.T.Helper()
	s.EndManagedPool(PlayedPool{MachinePool: name, AzurePool: name})
}

// DeleteManagedCluster deletes an AKS cluster whose objects have its name, with its pools.
func (s *Stage) DeleteManagedCluster(name string, pools ...string) {
	s.T.Helper()
	var played []PlayedPool
	for _, pool := range pools {
		played = append(played, PlayedPool{MachinePool: name + "-" + pool, AzurePool: name + "-" + pool})
	}
	s.EndManagedCluster(name, name, name, played...)
}

// SecretData reads a Secret of the stage and guards its values: they must not show up anywhere.
func (s *Stage) SecretData(name string) map[string][]byte {
	s.T.Helper()
	secret := &corev1.Secret{}
	s.ReadObject(secret, name)
	for _, value := range secret.Data {
		for _, found := range credential.FindAllSubmatch(value, -1) {
			s.secrets = append(s.secrets, string(found[1]))
		}
	}
	return secret.Data
}

// credential matches the secret by which a user of a kubeconfig authenticates.
var credential = regexp.MustCompile(`(?:client-key-data|token): (\S{20,})`)
