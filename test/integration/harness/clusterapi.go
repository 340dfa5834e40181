package harness

import (
	"encoding/base64"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// KubernetesVersion is the version of the machines.
const KubernetesVersion = "v1.34.2"

// played is the finalizer by which the harness, in Cluster API's place, keeps a Cluster or Machine until the objects that it owns are
// gone.
const played = "integration-test/played"

// CreateIdentity makes the stage's AzureClusterIdentity, a service principal that the simulator knows, and its Secret.
func (s *Stage) CreateIdentity() {
	s.T.Helper()
	s.CreateCredential(s.Azure.ClientSecret)
	s.CreateObject(s.NewIdentity())
}

// CreateCredential makes the Secret of the stage's identity.
func (s *Stage) CreateCredential(clientSecret string) {
	s.T.Helper()
	s.CreateObject(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: IdentityName},
		Data:       map[string][]byte{"clientSecret": []byte(clientSecret)},
	})
}

// NewIdentity returns the stage's AzureClusterIdentity, which every namespace may use.
func (s *Stage) NewIdentity() *infrav1.AzureClusterIdentity {
	return &infrav1.AzureClusterIdentity{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: IdentityName},
		Spec: infrav1.AzureClusterIdentitySpec{
			Type: infrav1.ServicePrincipal, TenantID: s.Azure.TenantID, ClientID: s.Azure.ClientID,
			ClientSecret:      corev1.SecretReference{Namespace: s.Namespace, Name: IdentityName},
			AllowedNamespaces: &infrav1.AllowedNamespaces{},
		},
	}
}

// IdentityRef refers to the stage's identity.
func IdentityRef() *corev1.ObjectReference {
	return &corev1.ObjectReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureClusterIdentity", Name: IdentityName}
}

// AzureCluster returns the default AzureCluster as the templates have it: without the label of its Cluster, which Cluster API sets later.
func (s *Stage) AzureCluster(name string) *infrav1.AzureCluster {
	return &infrav1.AzureCluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name},
		Spec: infrav1.AzureClusterSpec{
			AzureClusterClassSpec: infrav1.AzureClusterClassSpec{
				SubscriptionID: s.Azure.SubscriptionID,
				Location:       "eastus",
				IdentityRef:    IdentityRef(),
			},
			ResourceGroup:       name,
			ControlPlaneEnabled: true,
			NetworkSpec:         infrav1.NetworkSpec{Vnet: infrav1.VnetSpec{Name: name + "-vnet"}},
		},
	}
}

// TryCreateCluster applies an AzureCluster with a Cluster that refers to it, and plays Cluster API's part then. It returns the API
// server's error for the AzureCluster.
func (s *Stage) TryCreateCluster(azureCluster *infrav1.AzureCluster) error {
	s.T.Helper()
	if err := s.TryCreate(azureCluster); err != nil {
		return err
	}
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: azureCluster.Name, Finalizers: []string{played}},
		Spec: clusterv1.ClusterSpec{
			ClusterNetwork:    clusterv1.ClusterNetwork{Pods: clusterv1.NetworkRanges{CIDRBlocks: []string{"192.168.0.0/16"}}},
			InfrastructureRef: contractReference("AzureCluster", azureCluster.Name),
		},
	}
	s.CreateObject(cluster)
	s.setOwner(cluster, azureCluster)
	return nil
}

// CreateCluster is TryCreateCluster that has to succeed.
func (s *Stage) CreateCluster(azureCluster *infrav1.AzureCluster) {
	s.T.Helper()
	if err := s.TryCreateCluster(azureCluster); err != nil {
		s.T.Fatalf("create AzureCluster %s: %v", azureCluster.Name, err)
	}
}

// WaitClusterProvisioned waits for the AzureCluster and writes Cluster API's fields into the Cluster. Connections of private endpoints may wait
// for their approval.
func (s *Stage) WaitClusterProvisioned(name string) *infrav1.AzureCluster {
	s.T.Helper()
	azureCluster := WaitFor(s, &infrav1.AzureCluster{}, name, "provisioned", func(c *infrav1.AzureCluster) bool {
		return c.Status.Initialization.Provisioned != nil && *c.Status.Initialization.Provisioned &&
			(IsReady(c) || FindCondition(c, infrav1.ReadyCondition).Reason == infrav1.WaitingForApprovalReason)
	})
	s.CopyInfrastructure(name)
	return azureCluster
}

// CopyInfrastructure copies endpoint and failure domains of a provisioned AzureCluster to its Cluster of the same name, as Cluster API does.
func (s *Stage) CopyInfrastructure(name string) {
	s.T.Helper()
	azureCluster, cluster := &infrav1.AzureCluster{}, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.ReadObject(azureCluster, name)
	if provisioned := azureCluster.Status.Initialization.Provisioned; provisioned == nil || !*provisioned {
		s.T.Fatalf("AzureCluster %s is not provisioned", name)
	}
	ChangeObject(s, cluster, func(c *clusterv1.Cluster) {
		c.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: azureCluster.Spec.ControlPlaneEndpoint.Host,
			Port: azureCluster.Spec.ControlPlaneEndpoint.Port}
	})
	ChangeStatus(s, cluster, func(c *clusterv1.Cluster) {
		c.Status.FailureDomains = azureCluster.Status.FailureDomains.Domains
		c.Status.Initialization.InfrastructureProvisioned = new(true)
	})
}

// Role is the purpose of a machine.
type Role string

// The roles.
const (
	ControlPlane Role = "control-plane"
	Worker       Role = "worker"
)

// SSHKey is a public key without an owner.
const SSHKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl capi"

// AzureMachine returns an AzureMachine as the templates have it. It has a key, because to make an RSA key, as the webhook would,
// takes the processor nearly as long as all reconciliations of the machine.
func (s *Stage) AzureMachine(cluster, name string) *infrav1.AzureMachine {
	return &infrav1.AzureMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}},
		Spec: infrav1.AzureMachineSpec{VirtualMachineProfile: infrav1.VirtualMachineProfile{
			VMSize: "Standard_D2s_v3", SSHPublicKey: base64.StdEncoding.EncodeToString([]byte(SSHKey)),
			OSDisk: infrav1.OSDisk{OSType: "Linux", DiskSizeGB: new(int32(128)),
				ManagedDisk: &infrav1.ManagedDiskParameters{StorageAccountType: "Premium_LRS"}},
		}},
	}
}

// TryCreateMachine applies an AzureMachine with a Machine, zone "" for none, that refers to it, and plays the parts of Cluster API and
// a bootstrap provider then. It returns the API server's error for the AzureMachine.
func (s *Stage) TryCreateMachine(azureMachine *infrav1.AzureMachine, role Role, zone string) error {
	s.T.Helper()
	labels := map[string]string{clusterv1.ClusterNameLabel: azureMachine.Labels[clusterv1.ClusterNameLabel]}
	if role == ControlPlane {
		labels[clusterv1.MachineControlPlaneLabel] = ""
		azureMachine.Labels[clusterv1.MachineControlPlaneLabel] = ""
	}
	if err := s.TryCreate(azureMachine); err != nil {
		return err
	}
	s.createMachine(azureMachine, labels, zone, "cloud-config")
	return nil
}

// CreateMachine is TryCreateMachine that has to succeed.
func (s *Stage) CreateMachine(azureMachine *infrav1.AzureMachine, role Role, zone string) {
	s.T.Helper()
	if err := s.TryCreateMachine(azureMachine, role, zone); err != nil {
		s.T.Fatalf("create AzureMachine %s: %v", azureMachine.Name, err)
	}
}

// WaitMachineProvisioned waits for the AzureMachine.
func (s *Stage) WaitMachineProvisioned(name string) *infrav1.AzureMachine {
	s.T.Helper()
	return WaitFor(s, &infrav1.AzureMachine{}, name, "provisioned", func(m *infrav1.AzureMachine) bool {
		return m.Status.Initialization.Provisioned != nil && *m.Status.Initialization.Provisioned && IsReady(m) && m.Spec.ProviderID != nil
	})
}

// DeleteMachine deletes a Machine in the order of Cluster API.
func (s *Stage) DeleteMachine(name string) {
	s.T.Helper()
	s.deleteObject(&clusterv1.Machine{}, name)
	s.deleteObject(&infrav1.AzureMachine{}, name)
	s.WaitGone(&infrav1.AzureMachine{}, name)
	s.removeFinalizer(&clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

// DeleteCluster deletes a Cluster with its machines in the order of Cluster API: Cluster, machines, infrastructure.
func (s *Stage) DeleteCluster(name string, machines ...string) {
	s.T.Helper()
	s.deleteObject(&clusterv1.Cluster{}, name)
	for _, machine := range machines {
		s.DeleteMachine(machine)
	}
	s.deleteObject(&infrav1.AzureCluster{}, name)
	s.WaitGone(&infrav1.AzureCluster{}, name)
	s.removeFinalizer(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}})
}

func (s *Stage) deleteObject(object client.Object, name string) {
	s.T.Helper()
	s.ReadObject(object, name)
	ctx, cancel := s.withPatience()
	defer cancel()
	if err := s.Client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
		s.T.Fatalf("delete %T %s: %v", object, name, err)
	}
}

// removeFinalizer takes the harness's finalizer away.
func (s *Stage) removeFinalizer(object client.Object) {
	s.T.Helper()
	ChangeObject(s, object, func(o client.Object) { controllerutil.RemoveFinalizer(o, played) })
}

// setOwner makes owner own object and sets the label of the Cluster, in one patch, as Cluster API does once it has seen the reference. A Cluster
// without a topology does not become the controller of its objects, so that users can set another one.
func (s *Stage) setOwner(owner, object client.Object) {
	s.T.Helper()
	cluster, isCluster := owner.(*clusterv1.Cluster)
	ChangeObject(s, object, func(o client.Object) {
		labels := map[string]string{}
		maps.Copy(labels, o.GetLabels())
		labels[clusterv1.ClusterNameLabel] = clusterOf(owner)
		o.SetLabels(labels)
		var err error
		if isCluster && !cluster.Spec.Topology.IsDefined() {
			err = controllerutil.SetOwnerReference(owner, o, s.Client.Scheme())
		} else {
			err = controllerutil.SetControllerReference(owner, o, s.Client.Scheme())
		}
		if err != nil {
			s.T.Fatal(err)
		}
	})
}

// clusterOf returns the name of the Cluster that owner is or belongs to.
func clusterOf(owner client.Object) string {
	switch owner := owner.(type) {
	case *clusterv1.Machine:
		return owner.Spec.ClusterName
	case *clusterv1.MachinePool:
		return owner.Spec.ClusterName
	}
	return owner.GetName()
}

func contractReference(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
}

// Conditioned is an object with conditions.
type Conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// FindCondition returns the condition of this type, or a zero one.
func FindCondition(object Conditioned, conditionType string) metav1.Condition {
	for _, condition := range object.GetConditions() {
		if condition.Type == conditionType {
			return condition
		}
	}
	return metav1.Condition{}
}

// IsReady reports whether the Ready condition is True.
func IsReady(object Conditioned) bool {
	return FindCondition(object, infrav1.ReadyCondition).Status == metav1.ConditionTrue
}
