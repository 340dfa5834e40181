package importing

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

// Options are the choices of the user.
type Options struct {
	// Cluster is the name of the Cluster. It may be empty if the resources carry the ownership tag of one cluster.
	Cluster string
	// Namespace is that of all objects.
	Namespace string
	// Identity is the name of the AzureClusterIdentity.
	Identity string
	// OwnerID is the ID from which the owner tag of the resources is computed.
	OwnerID string
	// Environment is the Azure cloud, "" for the public one.
	Environment string
	// EndpointHost and EndpointPort are the address of the API server, if it is not to be that which Azure shows.
	EndpointHost string
	EndpointPort int32
	// ControlPlanes are names of virtual machines of the control plane that Azure does not show to be such.
	ControlPlanes []string
	// KubernetesVersion is the version of machines whose image does not name it.
	KubernetesVersion string
	// KubeadmConfig is the kubeadmConfigSpec of the KubeadmControlPlane with which the control plane was made, nil if the user has none.
	KubeadmConfig *bootstrapv1.KubeadmConfigSpec
	// Features are the feature gates of the manager.
	Features plan.Features
}

// Result is the import of one cluster.
type Result struct {
	// Objects are those to apply, in order.
	Objects []client.Object
	// Tags are those that resources need before the objects are applied.
	Tags []TagChange
	// Steps are the other steps of the user, in order.
	Steps []Step
	// Findings have one entry for each property and resource in Azure.
	Findings []Finding
}

// Step is a step of the user.
type Step struct {
	// Why is the reason for the step and its effect.
	Why string `json:"why"`
	// Commands do it. Values in capital letters are to be replaced.
	Commands []string `json:"commands,omitempty"`
}

// writer writes the objects of one cluster.
type writer struct {
	Options
	estate  Estate
	id      identity
	cluster *clusterv1.Cluster
	azure   *infrav1.AzureCluster

	machines []*machine
	pools    []*pool
	groups   []*group
	// lost are the virtual machines without objects that are of the control plane, or may be.
	lost []string
	// control is nil if the control-plane machines stand alone.
	control *controlPlane
	// network is that of the machines.
	network   networkBody
	networkID string
	balancers balancers
	// protected are extensions with protected settings.
	protected []string
	// reasons are the reasons why a resource or a property is not carried.
	reasons map[reasonKey]string
	steps   []Step
}

// Write writes the objects of the cluster in the estate.
func Write(e Estate, o Options) (*Result, error) {
	id, err := e.identify(o.Cluster)
	if err != nil {
		return nil, err
	}
	w := &writer{Options: o, estate: e, id: id, reasons: map[reasonKey]string{}}
	w.newCluster()
	for _, step := range []func() error{
		w.readMachines, w.readPools, w.findNetwork, w.findBalancers, w.nameAzureCluster, w.findControlPlanes, w.writeSubnets, w.writeBalancers,
		w.writePrivateDNS, w.writeBastion, w.writePeerings, w.writePrivateEndpoints, w.writeEndpoint, w.writeClusterTags,
		w.writeMachines, w.writePools, w.writeGroups, w.writeControlPlane,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	out := &Result{Objects: w.listObjects()}
	if out.Tags, err = w.listTagChanges(); err != nil {
		return nil, err
	}
	if out.Findings, err = w.listFindings(); err != nil {
		return nil, err
	}
	out.Steps = w.listSteps(out.Tags)
	return out, nil
}

// newCluster begins the Cluster and the AzureCluster.
func (w *writer) newCluster() {
	w.cluster = &clusterv1.Cluster{TypeMeta: newCoreType("Cluster"), ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.id.name}}
	// Nothing may happen before all objects and Secrets exist: Cluster API would generate certificates and machines.
	w.cluster.Spec.Paused = new(true)
	w.azure = &infrav1.AzureCluster{TypeMeta: newInfraType("AzureCluster"), ObjectMeta: w.newMeta(w.id.name)}
	w.cluster.Spec.InfrastructureRef = newReference("AzureCluster", w.id.name)
	w.azure.Finalizers = []string{infrav1.ClusterFinalizer}
	spec := &w.azure.Spec
	spec.SubscriptionID, spec.ResourceGroup, spec.AzureEnvironment = w.estate.Subscription, w.estate.Group, w.Environment
	spec.ControlPlaneEnabled = w.id.tagged
	spec.IdentityRef = &corev1.ObjectReference{APIVersion: infrav1.GroupVersion.String(), Kind: "AzureClusterIdentity", Name: w.Identity,
		Namespace: w.Namespace}
	if w.OwnerID != "" {
		applied.Content{OwnerID: w.OwnerID}.Store(w.azure)
	}
}

// ownerTag returns the value of the owner tag of the cluster's resources.
func (w *writer) ownerTag() string {
	holder := w.azure.DeepCopy()
	holder.Namespace = cmp.Or(holder.Namespace, metav1.NamespaceDefault)
	return ownership.OwnerTagValue(holder, w.id.name)
}

func (w *writer) newMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.Namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: w.id.name}}
}

func newInfraType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: infrav1.GroupVersion.String(), Kind: kind}
}

func newCoreType(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: kind}
}

func newReference(kind, name string) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: name}
}

// addStep adds a step of the user.
func (w *writer) addStep(why string, commands ...string) {
	w.steps = append(w.steps, Step{Why: why, Commands: commands})
}

// namespaceFlag returns the flag of kubectl for the namespace.
func (w *writer) namespaceFlag() string {
	if w.Namespace == "" {
		return ""
	}
	return fmt.Sprintf(" --namespace %s", w.Namespace)
}
