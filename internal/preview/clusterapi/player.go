package clusterapi

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// played is the finalizer that keeps owners until the objects that they own are gone, as the finalizers of Cluster API do.
const played = "plan/played"

// placeholder is the bootstrap data of new machines.
const placeholder = "#cloud-config\n# placeholder of a plan\n"

// player does one round.
type player struct {
	client.Client
	clusters []clusterv1.Cluster
	machines []clusterv1.Machine
}

// PlayRound does the next actions of Cluster API. It may be repeated at any time.
func PlayRound(ctx context.Context, c client.Client) error {
	p := &player{Client: c}
	clusters, machines := &clusterv1.ClusterList{}, &clusterv1.MachineList{}
	if err := c.List(ctx, clusters); err != nil {
		return err
	}
	if err := c.List(ctx, machines); err != nil {
		return err
	}
	p.clusters, p.machines = clusters.Items, machines.Items
	for i := range p.clusters {
		if err := p.playCluster(ctx, &p.clusters[i]); err != nil {
			return err
		}
	}
	for i := range p.machines {
		if err := p.playMachine(ctx, &p.machines[i]); err != nil {
			return err
		}
	}
	if err := p.playPools(ctx); err != nil {
		return err
	}
	if err := p.playPoolMachines(ctx); err != nil {
		return err
	}
	return p.playGroups(ctx)
}

// playCluster makes a Cluster own its infrastructure and its control plane, and shows on it how far they are.
func (p *player) playCluster(ctx context.Context, cluster *clusterv1.Cluster) error {
	if !cluster.DeletionTimestamp.IsZero() {
		return p.deleteCluster(ctx, cluster)
	}
	infrastructure, err := p.readReference(ctx, cluster.Namespace, cluster.Spec.InfrastructureRef)
	if err != nil {
		return err
	}
	controlPlane, err := p.readReference(ctx, cluster.Namespace, cluster.Spec.ControlPlaneRef)
	if err != nil {
		return err
	}
	for _, object := range []*unstructured.Unstructured{infrastructure, controlPlane} {
		if err := p.own(ctx, cluster, object, cluster.Name); err != nil {
			return err
		}
		if err := p.playManager(ctx, object); err != nil {
			return err
		}
	}
	before := cluster.DeepCopy()
	if !cluster.Spec.ControlPlaneEndpoint.IsValid() {
		for _, object := range []*unstructured.Unstructured{infrastructure, controlPlane} {
			if object == nil {
				continue
			}
			host, _, _ := unstructured.NestedString(object.Object, "spec", "controlPlaneEndpoint", "host")
			port, _, _ := unstructured.NestedInt64(object.Object, "spec", "controlPlaneEndpoint", "port")
			if host != "" && port > 0 {
				cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: host, Port: int32(port)}
			}
		}
	}
	if err := p.patchIfChanged(ctx, before, cluster); err != nil {
		return err
	}
	before = cluster.DeepCopy()
	if isProvisioned(infrastructure) {
		cluster.Status.Initialization.InfrastructureProvisioned = new(true)
		cluster.Status.FailureDomains = failureDomains(infrastructure)
	}
	if p.hasControlPlane(cluster, controlPlane) {
		cluster.Status.Initialization.ControlPlaneInitialized = new(true)
		conditions.Set(cluster, metav1.Condition{Type: clusterv1.ClusterControlPlaneInitializedCondition, Status: metav1.ConditionTrue,
			Reason: clusterv1.ClusterControlPlaneInitializedReason})
	}
	if cluster.Status.Phase == "" {
		cluster.Status.Phase = string(clusterv1.ClusterPhaseProvisioning)
	}
	return p.patchStatusIfChanged(ctx, before, cluster)
}

// externallyManageable are the kinds whose objects another program may manage, and the field of status.initialization in which it shows that
// it has done its part.
var externallyManageable = map[string]string{"AzureCluster": "provisioned", "AzureManagedCluster": "provisioned",
	"AzureASOManagedCluster": "provisioned", "AzureManagedControlPlane": "controlPlaneInitialized"}

// playManager shows on an object that another program manages that the program has done its part.
func (p *player) playManager(ctx context.Context, object *unstructured.Unstructured) error {
	if !isAwaited(object) {
		return nil
	}
	before := object.DeepCopy()
	if err := unstructured.SetNestedField(object.Object, true, "status", "initialization", externallyManageable[object.GetKind()]); err != nil {
		return err
	}
	return p.patchStatusIfChanged(ctx, before, object)
}

// isAwaited reports whether another program manages an object and has not done its part.
func isAwaited(object *unstructured.Unstructured) bool {
	if object == nil || object.GroupVersionKind().Group != infrav1.GroupVersion.Group || externallyManageable[object.GetKind()] == "" ||
		!annotations.IsExternallyManaged(object) {
		return false
	}
	done, _, _ := unstructured.NestedBool(object.Object, "status", "initialization", externallyManageable[object.GetKind()])
	return !done
}

// hasControlPlane reports whether the control plane of a Cluster answers: an AKS cluster by its status, a KubeadmControlPlane with its first
// machine, and one of another kind when it can have machines.
func (p *player) hasControlPlane(cluster *clusterv1.Cluster, controlPlane *unstructured.Unstructured) bool {
	if isUnknownControlPlane(cluster) && isTrue(cluster.Status.Initialization.InfrastructureProvisioned) {
		return true
	}
	if controlPlane != nil {
		if initialized, _, _ := unstructured.NestedBool(controlPlane.Object, "status", "initialization", "controlPlaneInitialized"); initialized {
			return true
		}
	}
	for i := range p.machines {
		m := &p.machines[i]
		if _, is := m.Labels[clusterv1.MachineControlPlaneLabel]; is && m.Namespace == cluster.Namespace && m.Spec.ClusterName == cluster.Name &&
			m.Status.Initialization.InfrastructureProvisioned != nil {
			return true
		}
	}
	return false
}

// readReference returns an object that another one refers to, or nil.
func (p *player) readReference(ctx context.Context, namespace string, ref clusterv1.ContractVersionedObjectReference) (
	*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	switch {
	case ref.APIGroup == infrav1.GroupVersion.Group:
		object.SetGroupVersionKind(infrav1.GroupVersion.WithKind(ref.Kind))
	case isKubeadm(ref):
		object.SetGroupVersionKind(kubernetes.ControlPlaneKind)
	default:
		return nil, nil
	}
	err := p.Get(ctx, client.ObjectKey{Namespace: namespace, Name: ref.Name}, object)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("get %s %s: %w", ref.Kind, ref.Name, err)
	}
	return object, nil
}

func isKubeadm(ref clusterv1.ContractVersionedObjectReference) bool {
	return ref.APIGroup == kubernetes.ControlPlaneKind.Group && ref.Kind == kubernetes.ControlPlaneKind.Kind
}

// isUnknownControlPlane reports whether the control plane of a Cluster is of a kind whose machines are not played.
func isUnknownControlPlane(cluster *clusterv1.Cluster) bool {
	ref := cluster.Spec.ControlPlaneRef
	return ref.IsDefined() && ref.APIGroup != infrav1.GroupVersion.Group && !isKubeadm(ref)
}

// own makes an object owned, and gives it the label of the Cluster.
func (p *player) own(ctx context.Context, owner client.Object, object *unstructured.Unstructured, cluster string) error {
	if object == nil {
		return nil
	}
	before := object.DeepCopy()
	if err := p.setOwner(owner, object); err != nil {
		return err
	}
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterv1.ClusterNameLabel] = cluster
	object.SetLabels(labels)
	return p.patchIfChanged(ctx, before, object)
}

// setOwner adds the owner reference of Cluster API. A Cluster without a topology is an owner only, so that another program can be the controller. Other
// owners are the controller, unless an object has one.
func (p *player) setOwner(owner client.Object, object *unstructured.Unstructured) error {
	cluster, isCluster := owner.(*clusterv1.Cluster)
	switch {
	case isCluster && !cluster.Spec.Topology.IsDefined():
		return controllerutil.SetOwnerReference(owner, object, p.Scheme())
	case metav1.GetControllerOf(object) == nil:
		return controllerutil.SetControllerReference(owner, object, p.Scheme())
	}
	return nil
}

func (p *player) patchIfChanged(ctx context.Context, before, object client.Object) error {
	return p.patch(ctx, before, object, func(patch client.Patch) error { return p.Patch(ctx, object, patch) })
}

func (p *player) patchStatusIfChanged(ctx context.Context, before, object client.Object) error {
	return p.patch(ctx, before, object, func(patch client.Patch) error { return p.Status().Patch(ctx, object, patch) })
}

func (p *player) patch(_ context.Context, before, object client.Object, send func(client.Patch) error) error {
	patch := client.MergeFrom(before)
	data, err := patch.Data(object)
	if err != nil || string(data) == "{}" {
		return err
	}
	return client.IgnoreNotFound(send(patch))
}

// isProvisioned reports whether the contract's status of an infrastructure cluster or machine shows that it is provisioned.
func isProvisioned(object *unstructured.Unstructured) bool {
	if object == nil {
		return false
	}
	provisioned, _, _ := unstructured.NestedBool(object.Object, "status", "initialization", "provisioned")
	return provisioned
}

// failureDomains returns the failure domains in the status of an infrastructure cluster.
func failureDomains(object *unstructured.Unstructured) (out []clusterv1.FailureDomain) {
	list, _, _ := unstructured.NestedSlice(object.Object, "status", "failureDomains")
	for _, each := range list {
		domain, _ := each.(map[string]any)
		name, _ := domain["name"].(string)
		if name == "" {
			continue
		}
		controlPlane, has := domain["controlPlane"].(bool)
		out = append(out, clusterv1.FailureDomain{Name: name, ControlPlane: new(!has || controlPlane)})
	}
	return out
}

// createBootstrapData creates the Secret with placeholder data for new machines, unless it exists.
func (p *player) createBootstrapData(ctx context.Context, namespace, name, cluster string) error {
	err := p.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: cluster}},
		Data:       map[string][]byte{"value": []byte(placeholder), "format": []byte("cloud-config")},
	})
	return client.IgnoreAlreadyExists(err)
}
