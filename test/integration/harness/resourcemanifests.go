package harness

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// OperatorSecret is the Secret that the documents of a stage name as their credential.
const OperatorSecret = "operator-credential"

// ASOCluster is an AKS cluster of documents, as the flavor aks-aso has it. Tests change its objects before they create it.
type ASOCluster struct {
	Infrastructure *infrav1.AzureASOManagedCluster
	ControlPlane   *infrav1.AzureASOManagedControlPlane
	Pools          []*infrav1.AzureASOManagedMachinePool
}

// ParseManifest returns a document in YAML, with the credential of the stage.
func (s *Stage) ParseManifest(text string) runtime.RawExtension {
	s.T.Helper()
	text = strings.Replace(text, "metadata:", "metadata:\n  annotations:\n    serviceoperator.azure.com/credential-from: "+OperatorSecret, 1)
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		s.T.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

// BuildASOCluster returns an AKS cluster of documents with these agent pools, the first of them for the system.
func (s *Stage) BuildASOCluster(name string, pools ...string) *ASOCluster {
	s.T.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: s.Namespace, Name: name} }
	out := &ASOCluster{
		Infrastructure: &infrav1.AzureASOManagedCluster{ObjectMeta: meta(name)},
		ControlPlane:   &infrav1.AzureASOManagedControlPlane{ObjectMeta: meta(name)},
	}
	out.Infrastructure.Spec.Resources = []runtime.RawExtension{s.ParseManifest(`
apiVersion: resources.azure.com/v1api20200601
kind: ResourceGroup
metadata:
  name: ` + name + `
spec:
  location: eastus
`)}
	out.ControlPlane.Spec.Version = ManagedVersion
	out.ControlPlane.Spec.Resources = []runtime.RawExtension{s.ParseManifest(`
apiVersion: containerservice.azure.com/v1api20251001
kind: ManagedCluster
metadata:
  name: ` + name + `
spec:
  location: eastus
  owner: {name: ` + name + `}
  dnsPrefix: ` + name + `
  identity: {type: SystemAssigned}
  networkProfile: {networkPlugin: azure}
  servicePrincipalProfile: {clientId: msi}
`)}
	for i, pool := range pools {
		mode := infrav1.NodePoolModeUser
		if i == 0 {
			mode = infrav1.NodePoolModeSystem
		}
		object := &infrav1.AzureASOManagedMachinePool{ObjectMeta: meta(name + "-" + pool)}
		object.Spec.Resources = []runtime.RawExtension{s.ParseManifest(`
apiVersion: containerservice.azure.com/v1api20251001
kind: ManagedClustersAgentPool
metadata:
  name: ` + name + "-" + pool + `
spec:
  azureName: ` + pool + `
  owner: {name: ` + name + `}
  mode: ` + mode + `
  type: VirtualMachineScaleSets
  vmSize: Standard_D2s_v3
`)}
		out.Pools = append(out.Pools, object)
	}
	return out
}

// CreateManifests applies an AKS cluster of documents with its credential and two machines in each pool, and plays Cluster API's part
// then.
func (s *Stage) CreateManifests(c *ASOCluster) {
	s.T.Helper()
	s.CreateOperatorSecret(OperatorSecret)
	name := c.ControlPlane.Name
	s.CreateObject(c.Infrastructure)
	s.CreateObject(c.ControlPlane)
	for _, pool := range c.Pools {
		s.CreateASOPool(name, pool, 2)
	}
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Finalizers: []string{played}},
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef: contractReference("AzureASOManagedCluster", c.Infrastructure.Name),
			ControlPlaneRef:   contractReference("AzureASOManagedControlPlane", name),
		},
	}
	s.CreateObject(cluster)
	s.setOwner(cluster, c.Infrastructure)
	s.setOwner(cluster, c.ControlPlane)
}

// CreateOperatorSecret makes a Secret with the stage's credential as the Azure Service Operator reads it.
func (s *Stage) CreateOperatorSecret(name string) {
	s.T.Helper()
	s.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}, Data: map[string][]byte{
		"AZURE_SUBSCRIPTION_ID": []byte(s.Azure.SubscriptionID), "AZURE_TENANT_ID": []byte(s.Azure.TenantID),
		"AZURE_CLIENT_ID": []byte(s.Azure.ClientID), "AZURE_CLIENT_SECRET": []byte(s.Azure.ClientSecret),
	}})
}

// WaitManifestsReady waits for an AKS cluster of documents and its pools.
func (s *Stage) WaitManifestsReady(c *ASOCluster) *infrav1.AzureASOManagedControlPlane {
	s.T.Helper()
	controlPlane := WaitFor(s, &infrav1.AzureASOManagedControlPlane{}, c.ControlPlane.Name, "ready",
		func(o *infrav1.AzureASOManagedControlPlane) bool {
			return o.Status.Ready && IsReady(o)
		})
	for _, pool := range c.Pools {
		WaitFor(s, &infrav1.AzureASOManagedMachinePool{}, pool.Name, "ready", func(o *infrav1.AzureASOManagedMachinePool) bool {
			return o.Status.Ready && IsReady(o)
		})
	}
	WaitFor(s, &infrav1.AzureASOManagedCluster{}, c.Infrastructure.Name, "ready", func(o *infrav1.AzureASOManagedCluster) bool {
		return o.Status.Ready && IsReady(o)
	})
	return controlPlane
}

// DeleteManifests deletes an AKS cluster of documents in the order of Cluster API.
func (s *Stage) DeleteManifests(c *ASOCluster) {
	s.T.Helper()
	name := c.ControlPlane.Name
	s.deleteObject(&clusterv1.Cluster{}, name)
	for _, pool := range c.Pools {
		s.DeleteASOPool(pool.Name)
	}
	s.deleteObject(&infrav1.AzureASOManagedControlPlane{}, name)
	s.WaitGone(&infrav1.AzureASOManagedControlPlane{}, name)
	s.deleteObject(&infrav1.AzureASOManagedCluster{}, name)
	s.WaitGone(&infrav1.AzureASOManagedCluster{}, name)
	s.removeFinalizer(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// CreateASOPool creates a pool of resource manifests with its MachinePool.
func (s *Stage) CreateASOPool(cluster string, pool *infrav1.AzureASOManagedMachinePool, replicas int32) {
	s.T.Helper()
	s.CreateObject(pool)
	machinePool := &clusterv1.MachinePool{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: pool.Name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster},
			Finalizers: []string{played}},
		Spec: clusterv1.MachinePoolSpec{
			ClusterName: cluster, Replicas: new(replicas),
			Template: clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{
				ClusterName: cluster, Version: ManagedVersion,
				InfrastructureRef: contractReference("AzureASOManagedMachinePool", pool.Name),
				Bootstrap:         clusterv1.Bootstrap{DataSecretName: new("")},
			}},
		},
	}
	s.CreateObject(machinePool)
	s.setOwner(machinePool, pool)
}

// DeleteASOPool deletes one pool.
func (s *Stage) DeleteASOPool(name string) {
	s.T.Helper()
	s.deleteObject(&clusterv1.MachinePool{}, name)
	s.deleteObject(&infrav1.AzureASOManagedMachinePool{}, name)
	s.WaitGone(&infrav1.AzureASOManagedMachinePool{}, name)
	s.removeFinalizer(&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// PlayManifests plays Cluster API's part for a Cluster of documents of a manifest, and for its pools.
func (s *Stage) PlayManifests(name string, pools ...string) *ASOCluster {
	s.T.Helper()
	out := &ASOCluster{
		Infrastructure: &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
		ControlPlane:   &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: name}},
	}
	for _, pool := range pools {
		object := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}
		s.ownObjects(&clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}, object)
		out.Pools = append(out.Pools, object)
	}
	s.ownObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}, out.ControlPlane, out.Infrastructure)
	return out
}
