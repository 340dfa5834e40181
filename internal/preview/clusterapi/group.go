package clusterapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// group is a KubeadmControlPlane or a MachineDeployment with its Machines.
type group struct {
	object       client.Object
	cluster      string
	controlPlane bool
	replicas     int
	template     string
	version      string
	labels       map[string]string
	// failureDomain is that of a MachineDeployment; domains are those of the Cluster.
	failureDomain string
	domains       []clusterv1.FailureDomain
	// ready is set if the group may create machines: the infrastructure exists, and workers can join.
	ready       bool
	initialized bool
	machines    []*clusterv1.Machine
}

// playGroups creates and replaces the Machines of control planes and MachineDeployments.
func (p *player) playGroups(ctx context.Context) error {
	groups, err := p.listGroups(ctx)
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := p.playGroup(ctx, g); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) listGroups(ctx context.Context) (out []*group, err error) {
	controlPlanes := &unstructured.UnstructuredList{}
	controlPlanes.SetGroupVersionKind(kubernetes.ControlPlaneKind.GroupVersion().WithKind(kubernetes.ControlPlaneKind.Kind + "List"))
	if err := p.List(ctx, controlPlanes); err != nil {
		return nil, err
	}
	for i := range controlPlanes.Items {
		if g := p.controlPlaneGroup(&controlPlanes.Items[i]); g != nil {
			out = append(out, g)
		}
	}
	deployments := &clusterv1.MachineDeploymentList{}
	if err := p.List(ctx, deployments); err != nil {
		return nil, err
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.Spec.Template.Spec.InfrastructureRef.Kind != "AzureMachineTemplate" || !d.DeletionTimestamp.IsZero() {
			continue
		}
		g := &group{object: d, cluster: d.Spec.ClusterName, replicas: 1, template: d.Spec.Template.Spec.InfrastructureRef.Name,
			version: d.Spec.Template.Spec.Version, failureDomain: d.Spec.Template.Spec.FailureDomain,
			labels: map[string]string{clusterv1.MachineDeploymentNameLabel: d.Name}}
		maps.Copy(g.labels, d.Spec.Template.Labels)
		if d.Spec.Replicas != nil {
			g.replicas = int(*d.Spec.Replicas)
		}
		p.completeGroup(g, func(m *clusterv1.Machine) bool { return m.Labels[clusterv1.MachineDeploymentNameLabel] == d.Name })
		out = append(out, g)
	}
	return out, nil
}

// controlPlaneGroup returns the group of a KubeadmControlPlane, or nil if no Cluster refers to it.
func (p *player) controlPlaneGroup(object *unstructured.Unstructured) *group {
	g := &group{object: object, controlPlane: true, replicas: 1, labels: map[string]string{clusterv1.MachineControlPlaneLabel: "",
		clusterv1.MachineControlPlaneNameLabel: object.GetName()}}
	for i := range p.clusters {
		if c := &p.clusters[i]; c.Namespace == object.GetNamespace() && c.Spec.ControlPlaneRef.Kind == kubernetes.ControlPlaneKind.Kind &&
			c.Spec.ControlPlaneRef.Name == object.GetName() {
			g.cluster = c.Name
		}
	}
	if g.cluster == "" || object.GetDeletionTimestamp() != nil {
		return nil
	}
	if replicas, found, _ := unstructured.NestedInt64(object.Object, "spec", "replicas"); found {
		g.replicas = int(replicas)
	}
	g.version, _, _ = unstructured.NestedString(object.Object, "spec", "version")
	for _, path := range [][]string{{"spec", "machineTemplate", "spec", "infrastructureRef", "name"},
		{"spec", "machineTemplate", "infrastructureRef", "name"}} {
		if name, found, _ := unstructured.NestedString(object.Object, path...); found {
			g.template = name
		}
	}
	p.completeGroup(g, func(m *clusterv1.Machine) bool {
		_, is := m.Labels[clusterv1.MachineControlPlaneLabel]
		return is
	})
	return g
}

// completeGroup adds the Cluster's part and the Machines that belong to a group.
func (p *player) completeGroup(g *group, has func(*clusterv1.Machine) bool) {
	for i := range p.clusters {
		if c := &p.clusters[i]; c.Namespace == g.object.GetNamespace() && c.Name == g.cluster {
			g.initialized = isTrue(c.Status.Initialization.ControlPlaneInitialized)
			g.ready = isTrue(c.Status.Initialization.InfrastructureProvisioned) && (g.controlPlane || g.initialized) && c.DeletionTimestamp.IsZero()
			g.domains = c.Status.FailureDomains
		}
	}
	for i := range p.machines {
		if m := &p.machines[i]; m.Namespace == g.object.GetNamespace() && m.Spec.ClusterName == g.cluster && has(m) {
			g.machines = append(g.machines, m)
		}
	}
	slices.SortFunc(g.machines, func(a, b *clusterv1.Machine) int {
		if byAge := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.Name, b.Name)
	})
}

func isTrue(value *bool) bool { return value != nil && *value }

// playGroup creates a missing Machine, or one in place of an outdated Machine, or deletes one that is too many. A control plane does
// not grow beyond one Machine until that is initialized.
func (p *player) playGroup(ctx context.Context, g *group) error {
	if !g.ready {
		return nil
	}
	var current, outdated []*clusterv1.Machine
	for _, m := range g.machines {
		is, err := p.isOutdated(ctx, g, m)
		switch {
		case err != nil:
			return err
		case !m.DeletionTimestamp.IsZero():
			if g.controlPlane {
				return nil // One change of a control plane at a time.
			}
		case is:
			outdated = append(outdated, m)
		default:
			current = append(current, m)
		}
	}
	for _, m := range current {
		if g.controlPlane && m.Status.Initialization.InfrastructureProvisioned == nil {
			return nil
		}
	}
	wanted := g.replicas
	if g.controlPlane && !g.initialized {
		wanted = min(max(1, len(current)+len(outdated)), g.replicas)
	}
	provisioned := 0
	for _, m := range current {
		if m.Status.Initialization.InfrastructureProvisioned != nil {
			provisioned++
		}
	}
	switch {
	case len(current)+len(outdated) < wanted, len(outdated) > 0 && len(current) < wanted && len(current)+len(outdated) <= wanted:
		return p.createMachine(ctx, p.newName(g), g)
	case len(outdated) > 0 && provisioned == len(current):
		return p.deleteObject(ctx, outdated[0])
	case len(outdated) == 0 && len(current) > wanted:
		return p.deleteObject(ctx, current[0])
	}
	return nil
}

// newName returns a placeholder for the name of a new Machine: Cluster API draws five letters by lot.
func (p *player) newName(g *group) string {
	for n := len(g.machines); ; n++ {
		name := fmt.Sprintf("%s-new-%d", g.object.GetName(), n)
		if !slices.ContainsFunc(p.machines, func(m clusterv1.Machine) bool { return m.Name == name }) {
			return name
		}
	}
}

// isOutdated reports whether a Machine is from another template, or has another version, than its group has now.
func (p *player) isOutdated(ctx context.Context, g *group, m *clusterv1.Machine) (bool, error) {
	if g.version != "" && m.Spec.Version != "" && g.version != m.Spec.Version {
		return true, nil
	}
	azureMachine := &infrav1.AzureMachine{}
	if err := p.Get(ctx, client.ObjectKey{Namespace: m.Namespace, Name: m.Spec.InfrastructureRef.Name}, azureMachine); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	from := azureMachine.Annotations[clusterv1.TemplateClonedFromNameAnnotation]
	return from != "" && g.template != "" && from != g.template, nil
}
