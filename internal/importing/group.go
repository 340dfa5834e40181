package importing

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// group is a set of equal worker machines that become a MachineDeployment.
type group struct {
	name       string
	machines   []*machine
	template   *infrav1.AzureMachineTemplate
	set        *clusterv1.MachineSet
	deployment *clusterv1.MachineDeployment
}

var (
	// machineSuffix is the part of a name that distinguishes machines: five characters that Cluster API draws by lot, or a number.
	machineSuffix = regexp.MustCompile(`-([a-z0-9]{5}|[0-9]{1,4})$`)
	// setSuffix is the part that distinguishes MachineSets: letters of k8s.io/apimachinery/pkg/util/rand.
	setSuffix = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5,10}$`)
)

// writeGroups gathers worker machines with one name but for its end, and one spec, in MachineDeployments.
func (w *writer) writeGroups() error {
	byName := map[string][]*machine{}
	for _, m := range w.machines {
		tags := w.machineTags(m.head)
		m.azure.Spec.AdditionalTags = tags
		if name := w.groupName(m); name != "" && !m.controlPlane {
			byName[name] = append(byName[name], m)
		}
	}
	for _, name := range sortedKeys(byName) {
		members := byName[name]
		if i := slices.IndexFunc(members, func(m *machine) bool { return !sameSpec(members[0], m) }); i >= 0 {
			w.addStep(fmt.Sprintf("The machines %s and %s have names of one MachineDeployment and different settings, so %d machines of this name stand alone. Group them by hand if you want them in one MachineDeployment.",
				members[0].name, members[i].name, len(members)))
			continue
		}
		w.groups = append(w.groups, w.newGroup(name, members))
	}
	return nil
}

// groupName returns the name of the MachineDeployment of a machine: from its availability set, else from its own name; "" for none.
func (w *writer) groupName(m *machine) string {
	if set := m.Properties.AvailabilitySet; set != nil {
		name, is := strings.CutPrefix(arm.ID(set.ID).Name(), w.id.name+"_")
		name, ends := strings.CutSuffix(name, "-as")
		if is && ends && validation.IsDNS1123Label(name) == nil && strings.HasPrefix(m.name, name) {
			return name
		}
		return ""
	}
	if !machineSuffix.MatchString(m.name) {
		return ""
	}
	name := machineSuffix.ReplaceAllString(m.name, "")
	return setSuffix.ReplaceAllString(name, "")
}

// sameSpec reports whether two machines can come from one template.
func sameSpec(a, b *machine) bool {
	return a.machine.Spec.Version == b.machine.Spec.Version && equality.Semantic.DeepEqual(templateSpec(a), templateSpec(b))
}

// templateSpec returns the spec of a machine without the parts of this one machine.
func templateSpec(m *machine) infrav1.AzureMachineSpec {
	out := *m.azure.Spec.DeepCopy()
	out.ProviderID, out.FailureDomain = nil, nil
	if out.Identity == infrav1.VMIdentitySystemAssigned {
		// The name of the assignment is that of one principal.
		out.SystemAssignedIdentityRole.Name = ""
	}
	return out
}

// newGroup writes the objects of a MachineDeployment with its machines. Cluster API adopts machines and MachineSets by their labels; the set
// needs the label machine-template-hash, and the template of the deployment, or else it would be rolled out.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/core/reconcilers/machinedeployment/machinedeployment_rollout_planner.go#L217
func (w *writer) newGroup(name string, members []*machine) *group {
	const hash = "imported"
	g := &group{name: name, machines: members}
	setName := name + "-" + hash
	g.template = &infrav1.AzureMachineTemplate{TypeMeta: newInfraType("AzureMachineTemplate"), ObjectMeta: w.newMeta(setName)}
	g.template.Spec.Template.Spec = templateSpec(members[0])
	deployment := map[string]string{clusterv1.ClusterNameLabel: w.id.name, clusterv1.MachineDeploymentNameLabel: name}
	set := map[string]string{clusterv1.MachineDeploymentUniqueLabel: hash}
	for key, value := range deployment {
		set[key] = value
	}
	spec := clusterv1.MachineSpec{ClusterName: w.id.name, Version: members[0].machine.Spec.Version, Bootstrap: w.bootstrapOf(name),
		InfrastructureRef: newReference("AzureMachineTemplate", setName)}
	if zone := members[0].machine.Spec.FailureDomain; !slices.ContainsFunc(members, func(m *machine) bool { return m.machine.Spec.FailureDomain != zone }) {
		spec.FailureDomain = zone
	}
	g.set = &clusterv1.MachineSet{TypeMeta: newCoreType("MachineSet"), ObjectMeta: w.newMeta(setName)}
	g.set.Labels = set
	g.set.Spec = clusterv1.MachineSetSpec{ClusterName: w.id.name, Replicas: new(int32(len(members))),
		Selector: metav1.LabelSelector{MatchLabels: set},
		Template: clusterv1.MachineTemplateSpec{ObjectMeta: clusterv1.ObjectMeta{Labels: set}, Spec: spec}}
	g.deployment = &clusterv1.MachineDeployment{TypeMeta: newCoreType("MachineDeployment"), ObjectMeta: w.newMeta(name)}
	g.deployment.Spec = clusterv1.MachineDeploymentSpec{ClusterName: w.id.name, Replicas: new(int32(len(members))),
		Selector: metav1.LabelSelector{MatchLabels: deployment},
		Template: clusterv1.MachineTemplateSpec{ObjectMeta: clusterv1.ObjectMeta{Labels: deployment}, Spec: spec}}
	for _, m := range members {
		m.group = g
		for key, value := range set {
			m.machine.Labels[key], m.azure.Labels[key] = value, value
		}
		m.machine.Labels[clusterv1.MachineSetNameLabel] = setName
		m.azure.Annotations = clonedFrom(setName)
	}
	return g
}
