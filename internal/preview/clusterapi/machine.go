package clusterapi

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// playMachine makes a Machine own its infrastructure, shows on it how far that is, and deletes it with the Machine.
func (p *player) playMachine(ctx context.Context, machine *clusterv1.Machine) error {
	infrastructure, err := p.readReference(ctx, machine.Namespace, machine.Spec.InfrastructureRef)
	if err != nil {
		return err
	}
	if !machine.DeletionTimestamp.IsZero() {
		return p.endOwner(ctx, machine, infrastructure)
	}
	if machine.Spec.InfrastructureRef.Kind != "AzureMachinePoolMachine" {
		if err := p.own(ctx, machine, infrastructure, machine.Spec.ClusterName); err != nil {
			return err
		}
	}
	before := machine.DeepCopy()
	if isProvisioned(infrastructure) {
		machine.Status.Initialization.InfrastructureProvisioned = new(true)
		if !machine.Status.NodeRef.IsDefined() {
			machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: machine.Name}
			conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineNodeReadyCondition, Status: metav1.ConditionTrue,
				Reason: clusterv1.MachineNodeReadyReason})
		}
	}
	return p.patchStatusIfChanged(ctx, before, machine)
}

// endOwner deletes the object owned by an owner that is being deleted. If owned is nil, because that object is gone, it removes the
// finalizers of the owner. Cluster API shows meanwhile that a Machine waits for its infrastructure.
func (p *player) endOwner(ctx context.Context, owner client.Object, owned *unstructured.Unstructured) error {
	if owned == nil {
		before := owner.DeepCopyObject().(client.Object)
		owner.SetFinalizers(nil)
		return p.patchIfChanged(ctx, before, owner)
	}
	if machine, is := owner.(*clusterv1.Machine); is {
		before := machine.DeepCopy()
		conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineDeletingCondition, Status: metav1.ConditionTrue,
			Reason: clusterv1.MachineDeletingWaitingForInfrastructureDeletionReason})
		if err := p.patchStatusIfChanged(ctx, before, machine); err != nil {
			return err
		}
	}
	if owned.GetDeletionTimestamp() != nil {
		return nil
	}
	return client.IgnoreNotFound(p.Delete(ctx, owned))
}

// deleteObject deletes an object, which stays until its finalizers are gone.
func (p *player) deleteObject(ctx context.Context, object client.Object) error {
	if !object.GetDeletionTimestamp().IsZero() {
		return nil
	}
	before := object.DeepCopyObject().(client.Object)
	if controllerutil.AddFinalizer(object, played) {
		if err := p.patchIfChanged(ctx, before, object); err != nil {
			return err
		}
	}
	return client.IgnoreNotFound(p.Delete(ctx, object))
}

// deleteCluster deletes the parts of a Cluster in the order of Cluster API: machines and pools, the control plane, the infrastructure.
func (p *player) deleteCluster(ctx context.Context, cluster *clusterv1.Cluster) error {
	waiting := false
	for i := range p.machines {
		if m := &p.machines[i]; m.Namespace == cluster.Namespace && m.Spec.ClusterName == cluster.Name {
			waiting = true
			if err := p.deleteObject(ctx, m); err != nil {
				return err
			}
		}
	}
	pools := &clusterv1.MachinePoolList{}
	if err := p.List(ctx, pools, client.InNamespace(cluster.Namespace)); err != nil {
		return err
	}
	for i := range pools.Items {
		if pools.Items[i].Spec.ClusterName == cluster.Name {
			waiting = true
			if err := p.deleteObject(ctx, &pools.Items[i]); err != nil {
				return err
			}
		}
	}
	for _, ref := range []clusterv1.ContractVersionedObjectReference{cluster.Spec.ControlPlaneRef, cluster.Spec.InfrastructureRef} {
		object, err := p.readReference(ctx, cluster.Namespace, ref)
		if err != nil || waiting {
			return err
		}
		if object == nil {
			continue
		}
		waiting = true
		if object.GetDeletionTimestamp() == nil {
			if err := client.IgnoreNotFound(p.Delete(ctx, object)); err != nil {
				return err
			}
		}
	}
	if waiting {
		return nil
	}
	return p.endOwner(ctx, cluster, nil)
}

// createMachine creates a Machine with its AzureMachine from a template. Both have the same name.
func (p *player) createMachine(ctx context.Context, name string, g *group) error {
	template := &infrav1.AzureMachineTemplate{}
	if err := p.Get(ctx, client.ObjectKey{Namespace: g.object.GetNamespace(), Name: g.template}, template); err != nil {
		return client.IgnoreNotFound(err) // It is waited for.
	}
	labels := maps.Clone(g.labels)
	labels[clusterv1.ClusterNameLabel] = g.cluster
	azureMachine := &infrav1.AzureMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: g.object.GetNamespace(), Name: name, Labels: maps.Clone(labels),
			Annotations: map[string]string{
				clusterv1.TemplateClonedFromNameAnnotation:      template.Name,
				clusterv1.TemplateClonedFromGroupKindAnnotation: "AzureMachineTemplate." + infrav1.GroupVersion.Group,
			},
		},
		Spec: *template.Spec.Template.Spec.DeepCopy(),
	}
	maps.Copy(azureMachine.Labels, template.Spec.Template.ObjectMeta.Labels)
	maps.Copy(azureMachine.Annotations, template.Spec.Template.ObjectMeta.Annotations)
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{Namespace: azureMachine.Namespace, Name: name, Labels: labels, Finalizers: []string{played}},
		Spec: clusterv1.MachineSpec{
			ClusterName: g.cluster, Version: g.version, FailureDomain: p.failureDomain(g),
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureMachine", Name: name},
			Bootstrap:         clusterv1.Bootstrap{DataSecretName: &name},
		},
	}
	if err := p.createBootstrapData(ctx, machine.Namespace, name, g.cluster); err != nil {
		return err
	}
	if err := controllerutil.SetControllerReference(g.object, machine, p.Scheme()); err != nil {
		return err
	}
	if err := p.Create(ctx, machine); err != nil {
		return err
	}
	if err := controllerutil.SetControllerReference(machine, azureMachine, p.Scheme()); err != nil {
		return err
	}
	return p.Create(ctx, azureMachine)
}

// failureDomain returns the failure domain of the next machine: that of the group, or for a control plane the one with the fewest machines.
func (p *player) failureDomain(g *group) string {
	if !g.controlPlane {
		return g.failureDomain
	}
	count := map[string]int{}
	var names []string
	for _, domain := range g.domains {
		if domain.ControlPlane != nil && *domain.ControlPlane {
			names = append(names, domain.Name)
		}
	}
	for _, m := range g.machines {
		count[m.Spec.FailureDomain]++
	}
	if len(names) == 0 {
		return ""
	}
	return slices.MinFunc(names, func(a, b string) int {
		if count[a] != count[b] {
			return count[a] - count[b]
		}
		return strings.Compare(a, b)
	})
}
