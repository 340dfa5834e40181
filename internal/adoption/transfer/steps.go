package transfer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// deleteForMove keeps the webhook from refusing the deletion of the last system pool.
const deleteForMove = "clusterctl.cluster.x-k8s.io/delete-for-move"

// finalizers are those of the kinds of both families.
var finalizers = []string{infrav1.ClusterFinalizer, infrav1.ManagedControlPlaneFinalizer, infrav1.ASOManagedFinalizer, infrav1.ASOManagedControlPlaneFinalizer}

// adaptObjects gives the new objects the owner ID of the old ones, so that the resources in Azure stay the cluster's own, and the
// MachinePools that exist.
func adaptObjects(objects *adoption.ClusterObjects, cluster *clusterv1.Cluster, old members) error {
	made := newMembers(*objects)
	from, to := old.controlPlane, made.infrastructure
	if objects.ASO == nil {
		from, to = old.infrastructure, made.controlPlane
	}
	if from != nil {
		applied.Content{OwnerID: applied.ReadOwnerID(from.GetAnnotations()), Migration: &applied.Migration{}}.Store(to)
	}
	objects.Cluster = cluster.DeepCopy()
	objects.Cluster.Spec.InfrastructureRef, objects.Cluster.Spec.ControlPlaneRef = newReference(made.infrastructure), newReference(made.controlPlane)
	setOwner(made.infrastructure, cluster, "Cluster")
	setOwner(made.controlPlane, cluster, "Cluster")
	for i, pool := range made.pools {
		agentPool := arm.ID("/" + strings.TrimPrefix(pool.GetName(), cluster.Name+"-")).Name()
		machinePool := findMachinePool(old, agentPool)
		if machinePool == nil {
			return fmt.Errorf("the agent pool %s has no MachinePool. Create its objects, or delete it in Azure", agentPool)
		}
		managedBy, scaled := made.machinePools[i].Annotations[clusterv1.ReplicasManagedByAnnotation]
		adapted := machinePool.DeepCopy()
		if scaled {
			adapted.Annotations = maps.Clone(adapted.Annotations)
			if adapted.Annotations == nil {
				adapted.Annotations = map[string]string{}
			}
			adapted.Annotations[clusterv1.ReplicasManagedByAnnotation] = managedBy
		}
		pool.SetName(machinePool.Spec.Template.Spec.InfrastructureRef.Name)
		adapted.Spec.Template.Spec.InfrastructureRef = newReference(pool)
		setOwner(pool, machinePool, "MachinePool")
		if objects.ASO != nil {
			objects.ASO.Pools[i].MachinePool = adapted
		} else {
			objects.Pools[i].MachinePool = adapted
		}
	}
	return nil
}

// findMachinePool returns the MachinePool of an agent pool, nil if there is none.
func findMachinePool(old members, agentPool string) *clusterv1.MachinePool {
	for _, pool := range old.pools {
		if agentPoolName(pool, old) != agentPool {
			continue
		}
		for _, machinePool := range old.machinePools {
			if ref := machinePool.Spec.Template.Spec.InfrastructureRef; ref.Name == pool.GetName() && ref.Kind == kindOf(pool) {
				return machinePool
			}
		}
	}
	return nil
}

func newReference(object client.Object) clusterv1.ContractVersionedObjectReference {
	return clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kindOf(object), Name: object.GetName()}
}

// setOwner makes an object owned as Cluster API does.
func setOwner(object, owner client.Object, kind string) {
	object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: kind, Name: owner.GetName(),
		UID: owner.GetUID(), Controller: new(true), BlockOwnerDeletion: new(true)}})
}

// pauseCluster pauses the Cluster and waits until the manager has paused the old objects.
func (t *Transfer) pauseCluster(ctx context.Context, cluster *clusterv1.Cluster, old members) error {
	if err := t.patch(ctx, cluster, func() { cluster.Spec.Paused = new(true) }); err != nil {
		return err
	}
	deadline := time.NewTimer(t.Patience)
	defer deadline.Stop()
	for {
		waiting := ""
		for _, object := range old.all() {
			if err := t.Kubernetes.Get(ctx, client.ObjectKeyFromObject(object), object); client.IgnoreNotFound(err) != nil {
				return fmt.Errorf("get %s %s: %w", kindOf(object), object.GetName(), err)
			}
			with, _ := object.(interface{ GetConditions() []metav1.Condition })
			if with != nil && !meta.IsStatusConditionTrue(with.GetConditions(), clusterv1.PausedCondition) {
				waiting = kindOf(object) + " " + object.GetName()
			}
		}
		if waiting == "" {
			t.report("paused Cluster %s", t.Key)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-deadline.C:
			return fmt.Errorf("the manager has not paused %s. Check that it runs, and repeat the command", waiting)
		case <-time.After(t.Poll):
		}
	}
}

// changeReferences makes the Cluster and its MachinePools refer to the new objects.
func (t *Transfer) changeReferences(ctx context.Context, cluster *clusterv1.Cluster, made members) error {
	err := t.patch(ctx, cluster, func() {
		cluster.Spec.InfrastructureRef, cluster.Spec.ControlPlaneRef = newReference(made.infrastructure), newReference(made.controlPlane)
	})
	if err != nil {
		return err
	}
	for _, machinePool := range made.machinePools {
		i := slices.IndexFunc(made.pools, func(pool client.Object) bool {
			return pool.GetName() == machinePool.Spec.Template.Spec.InfrastructureRef.Name
		})
		if i < 0 {
			continue
		}
		err := t.patch(ctx, machinePool, func() {
			machinePool.Spec.Template.Spec.InfrastructureRef = newReference(made.pools[i])
			if by, ok := machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation]; ok && (by == "true" || by == "aks") {
				machinePool.Annotations[clusterv1.ReplicasManagedByAnnotation] = map[string]string{AzureManaged: "true", AzureASOManaged: "aks"}[t.To]
			}
		})
		if err != nil {
			return err
		}
	}
	t.report("changed the references of Cluster %s and its MachinePools", t.Key)
	return nil
}

// releaseObjects deletes the old objects without a deletion in Azure. Secrets that they own, such as kubeconfigs, get the new control
// plane as their owner.
func (t *Transfer) releaseObjects(ctx context.Context, old, made members) error {
	secrets := &corev1.SecretList{}
	if err := t.Kubernetes.List(ctx, secrets, client.InNamespace(t.Key.Namespace)); err != nil {
		return fmt.Errorf("list Secrets: %w", err)
	}
	for _, object := range old.all() {
		for i := range secrets.Items {
			secret := &secrets.Items[i]
			owner := slices.IndexFunc(secret.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == object.GetUID() })
			if owner < 0 {
				continue
			}
			if err := t.patch(ctx, secret, func() {
				reference := &secret.OwnerReferences[owner]
				reference.APIVersion, reference.Kind = infrav1.GroupVersion.String(), kindOf(made.controlPlane)
				reference.Name, reference.UID = made.controlPlane.GetName(), made.controlPlane.GetUID()
			}); err != nil {
				return err
			}
		}
		if err := t.releaseIdentities(ctx, object); err != nil {
			return err
		}
		err := t.patch(ctx, object, func() {
			for _, finalizer := range finalizers {
				controllerutil.RemoveFinalizer(object, finalizer)
			}
			annotations := maps.Clone(object.GetAnnotations())
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[deleteForMove] = ""
			object.SetAnnotations(annotations)
		})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err := t.Kubernetes.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete %s %s: %w", kindOf(object), object.GetName(), err)
		}
		t.report("released %s %s", kindOf(object), object.GetName())
	}
	return nil
}

// releaseIdentities removes the finalizers of an object from AzureClusterIdentities.
func (t *Transfer) releaseIdentities(ctx context.Context, object client.Object) error {
	list := &infrav1.AzureClusterIdentityList{}
	if err := t.Kubernetes.List(ctx, list); err != nil {
		return fmt.Errorf("list AzureClusterIdentities: %w", err)
	}
	for i := range list.Items {
		held := &list.Items[i]
		err := t.patch(ctx, held, func() {
			for _, prefix := range finalizers {
				controllerutil.RemoveFinalizer(held, identity.FinalizerKey(prefix, object.GetNamespace(), object.GetName()))
				controllerutil.RemoveFinalizer(held, identity.LegacyFinalizerKey(prefix, object.GetNamespace(), object.GetName()))
			}
		})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// resume lets the manager reconcile the new objects.
func (t *Transfer) resume(ctx context.Context, cluster *clusterv1.Cluster, made members) error {
	// The annotations of the objects are removed last, because a repetition recognizes an incomplete transfer by them.
	if err := t.patch(ctx, cluster, func() { cluster.Spec.Paused = nil }); err != nil {
		return err
	}
	for _, object := range made.all() {
		err := t.patch(ctx, object, func() {
			annotations := maps.Clone(object.GetAnnotations())
			delete(annotations, clusterv1.PausedAnnotation)
			object.SetAnnotations(annotations)
		})
		if err != nil {
			return err
		}
	}
	t.report("unpaused Cluster %s", t.Key)
	return nil
}

// patch changes an object, if that is a change.
func (t *Transfer) patch(ctx context.Context, object client.Object, change func()) error {
	before, _ := object.DeepCopyObject().(client.Object)
	change()
	if err := t.Kubernetes.Patch(ctx, object, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("patch %T %s: %w", object, object.GetName(), err)
	}
	return nil
}
