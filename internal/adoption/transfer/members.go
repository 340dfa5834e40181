package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
)

// members are the objects of one family that belong to a Cluster, and its MachinePools.
type members struct {
	infrastructure, controlPlane client.Object
	pools                        []client.Object
	machinePools                 []*clusterv1.MachinePool
}

func (m members) isEmpty() bool {
	return m.infrastructure == nil && m.controlPlane == nil && len(m.pools) == 0
}

// has reports whether an object of the kind and name of object is a member.
func (m members) has(object client.Object) bool {
	return slices.ContainsFunc(m.all(), func(member client.Object) bool {
		return kindOf(member) == kindOf(object) && member.GetName() == object.GetName()
	})
}

// all returns the objects: pools, control plane, infrastructure.
func (m members) all() []client.Object {
	out := append([]client.Object{}, m.pools...)
	for _, object := range []client.Object{m.controlPlane, m.infrastructure} {
		if object != nil {
			out = append(out, object)
		}
	}
	return out
}

// isHeld reports whether an object is paused by its annotation, as a transfer leaves it when it is interrupted.
func isHeld(m members) bool {
	for _, object := range m.all() {
		if _, held := object.GetAnnotations()[clusterv1.PausedAnnotation]; held {
			return true
		}
	}
	return false
}

func withPaused(annotations map[string]string) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[clusterv1.PausedAnnotation] = "true"
	return out
}

// findMembers returns the objects of a family: those that the Cluster and its MachinePools refer to, own, or have the label of.
func (t *Transfer) findMembers(ctx context.Context, cluster *clusterv1.Cluster, family string) (members, error) {
	out := members{}
	pools := &clusterv1.MachinePoolList{}
	if err := t.Kubernetes.List(ctx, pools, client.InNamespace(t.Key.Namespace)); err != nil {
		return out, fmt.Errorf("list MachinePools: %w", err)
	}
	for i := range pools.Items {
		if pools.Items[i].Spec.ClusterName == t.Key.Name {
			out.machinePools = append(out.machinePools, &pools.Items[i])
		}
	}
	lists := []client.ObjectList{&infrav1.AzureManagedClusterList{}, &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}}
	if family == AzureASOManaged {
		lists = []client.ObjectList{&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{}}
	}
	for i, list := range lists {
		if err := t.Kubernetes.List(ctx, list, client.InNamespace(t.Key.Namespace)); err != nil {
			return out, fmt.Errorf("list %T: %w", list, err)
		}
		items := reflect.ValueOf(list).Elem().FieldByName("Items")
		for j := range items.Len() {
			object, _ := items.Index(j).Addr().Interface().(client.Object)
			if !out.belongs(object, cluster) {
				continue
			}
			switch i {
			case 0:
				out.infrastructure = object
			case 1:
				out.controlPlane = object
			default:
				out.pools = append(out.pools, object)
			}
		}
	}
	return out, nil
}

// belongs reports whether an object is one of the Cluster's.
func (m members) belongs(object client.Object, cluster *clusterv1.Cluster) bool {
	if object.GetLabels()[clusterv1.ClusterNameLabel] == cluster.Name {
		return true
	}
	for _, owner := range object.GetOwnerReferences() {
		if owner.UID == cluster.UID {
			return true
		}
		for _, pool := range m.machinePools {
			if owner.UID == pool.UID {
				return true
			}
		}
	}
	kind := kindOf(object)
	refers := func(ref clusterv1.ContractVersionedObjectReference) bool {
		return ref.Kind == kind && ref.Name == object.GetName()
	}
	for _, pool := range m.machinePools {
		if refers(pool.Spec.Template.Spec.InfrastructureRef) {
			return true
		}
	}
	return refers(cluster.Spec.InfrastructureRef) || refers(cluster.Spec.ControlPlaneRef)
}

// kindOf returns the kind of an object of this provider.
func kindOf(object client.Object) string { return reflect.TypeOf(object).Elem().Name() }

// newMembers returns the new objects.
func newMembers(objects adoption.ClusterObjects) members {
	out := members{}
	if d := objects.ASO; d != nil {
		out.infrastructure, out.controlPlane = d.Infrastructure, d.ControlPlane
		for _, pool := range d.Pools {
			out.pools, out.machinePools = append(out.pools, pool.AzurePool), append(out.machinePools, pool.MachinePool)
		}
		return out
	}
	out.infrastructure, out.controlPlane = objects.Infrastructure, objects.ControlPlane
	for _, pool := range objects.Pools {
		out.pools, out.machinePools = append(out.pools, pool.AzurePool), append(out.machinePools, pool.MachinePool)
	}
	return out
}

// findDeclaredCluster returns the ID of the AKS cluster that a resource manifest declares.
func findDeclaredCluster(subscription string, old members) (arm.ID, error) {
	set, key, err := readSet(subscription, old)
	if err != nil {
		return "", err
	}
	manifest, ok := set.FirstOfType(key, types.ManagedCluster)
	if !ok {
		return "", errors.New("the AzureASOManagedControlPlane has no manifest of a ManagedCluster")
	}
	return set.ResourceID(manifest)
}

// readSet returns all resource manifests, and the key of the control plane in it.
func readSet(subscription string, old members) (set asoresource.Set, controlPlane string, err error) {
	var all []asoresource.Manifest
	for _, object := range old.all() {
		var resources []runtime.RawExtension
		switch object := object.(type) {
		case *infrav1.AzureASOManagedCluster:
			resources = object.Spec.Resources
		case *infrav1.AzureASOManagedControlPlane:
			resources, controlPlane = object.Spec.Resources, "AzureASOManagedControlPlane/"+object.Name
		case *infrav1.AzureASOManagedMachinePool:
			resources = object.Spec.Resources
		}
		manifests, errs := asoresource.ReadManifests(kindOf(object)+"/"+object.GetName(), resources)
		if len(errs) > 0 {
			return set, "", fmt.Errorf("%s %s: %w", kindOf(object), object.GetName(), errs.ToAggregate())
		}
		all = append(all, manifests...)
	}
	return asoresource.NewSet(subscription, all, false), controlPlane, nil
}

// agentPoolName returns the name in Azure of the agent pool of an object.
func agentPoolName(object client.Object, old members) string {
	switch pool := object.(type) {
	case *infrav1.AzureManagedMachinePool:
		if pool.Spec.Name != nil && *pool.Spec.Name != "" {
			return *pool.Spec.Name
		}
		return pool.Name
	case *infrav1.AzureASOManagedMachinePool:
		set, _, err := readSet("any", old)
		if err != nil {
			return ""
		}
		key := kindOf(pool) + "/" + pool.Name
		if manifest, ok := set.FirstOfType(key, types.AgentPool); ok {
			return manifest.AzureName()
		}
	}
	return ""
}
