package importing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// controlPlane are the objects with which Cluster API adopts the control-plane machines.
type controlPlane struct {
	object   *controlplanev1.KubeadmControlPlane
	template *infrav1.AzureMachineTemplate
	configs  []*bootstrapv1.KubeadmConfig
}

// listControlPlanes returns the control-plane machines that have objects.
func (w *writer) listControlPlanes() (out []*machine) {
	for _, m := range w.machines {
		if m.controlPlane {
			out = append(out, m)
		}
	}
	return out
}

// whyAlone returns the reason why no KubeadmControlPlane can adopt the control-plane machines without a replacement, "" if one can.
func (w *writer) whyAlone(machines []*machine) string {
	first := machines[0].machine.Spec.Version
	external := w.KubeadmConfig != nil && w.KubeadmConfig.ClusterConfiguration.Etcd.External.IsDefined()
	switch other := slices.IndexFunc(machines, func(m *machine) bool { return m.machine.Spec.Version != first }); {
	case len(w.lost) > 0:
		// Members of etcd without a Machine are removed:
		// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/controlplane/kubeadm/reconcilers/kubeadmcontrolplane/kubeadmcontrolplane_controller.go#L1265
		return fmt.Sprintf("the manifests lack the machines %s, and a KubeadmControlPlane removes members of etcd that have no Machine", joinNames(w.lost))
	case first == "":
		return "their images do not name the version of Kubernetes, and a KubeadmControlPlane replaces machines without a version. Import again with --kubernetes-version"
	case other >= 0:
		return fmt.Sprintf("%s has %s and %s has %s, and a KubeadmControlPlane replaces machines that do not have its version. End the upgrade, and import again",
			machines[0].name, first, machines[other].name, cmp.Or(machines[other].machine.Spec.Version, "no known version"))
	case !isVersion(first):
		return fmt.Sprintf("%q is not a version of Kubernetes. Import again with --kubernetes-version", first)
	case len(machines)%2 == 0 && !external:
		return fmt.Sprintf("they are %d, and a KubeadmControlPlane with etcd on its machines has an odd number of them. Name the others with --control-plane-vm", len(machines))
	}
	return ""
}

func isVersion(text string) bool {
	_, err := version.ParseSemantic(text)
	return err == nil && strings.HasPrefix(text, "v")
}

// writeControlPlane writes a KubeadmControlPlane that adopts the control-plane machines and replaces none of them. It adopts a Machine that
// has the label of control planes, no controller, and a KubeadmConfig. It then replaces a Machine with another version, with another
// KubeadmConfig than its own for a machine that joins, or made from another template.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/controlplane/kubeadm/pkg/filters.go#L54
func (w *writer) writeControlPlane() error {
	machines := w.listControlPlanes()
	if len(machines) == 0 || w.whyAlone(machines) != "" {
		return nil
	}
	name := w.id.name + "-control-plane"
	out := &controlPlane{object: &controlplanev1.KubeadmControlPlane{ObjectMeta: w.newMeta(name)},
		template: &infrav1.AzureMachineTemplate{TypeMeta: newInfraType("AzureMachineTemplate"), ObjectMeta: w.newMeta(name)}}
	out.template.Spec.Template.Spec = templateSpec(machines[0])
	for _, m := range machines[1:] {
		if !sameSpec(machines[0], m) {
			w.addStep(fmt.Sprintf("The control-plane machines %s and %s have different settings. They stay as they are, and machines that are added later have those of %s, which the AzureMachineTemplate %s has.",
				machines[0].name, m.name, machines[0].name, name))
			break
		}
	}
	group := controlplanev1.GroupVersion
	out.object.APIVersion, out.object.Kind = group.String(), "KubeadmControlPlane"
	spec := &out.object.Spec
	spec.Replicas, spec.Version = new(int32(len(machines))), machines[0].machine.Spec.Version
	spec.MachineTemplate.Spec.InfrastructureRef = newReference("AzureMachineTemplate", name)
	if spec.KubeadmConfigSpec = joiningConfig(name, out.template.Spec.Template.Spec.DataDisks); w.KubeadmConfig != nil {
		spec.KubeadmConfigSpec = *w.KubeadmConfig.DeepCopy()
	}
	for _, m := range machines {
		config := &bootstrapv1.KubeadmConfig{ObjectMeta: w.newMeta(m.name)}
		config.APIVersion, config.Kind = bootstrapv1.GroupVersion.String(), "KubeadmConfig"
		// The controller's cache has the KubeadmConfigs with this label only.
		config.Labels[clusterv1.MachineControlPlaneLabel] = ""
		config.Spec = *machineConfig(spec.KubeadmConfigSpec.DeepCopy(), spec.Version)
		out.configs = append(out.configs, config)
		// The empty name stays beside the reference: the machine has booted, so no data are made for it.
		m.machine.Spec.Bootstrap.ConfigRef = clusterv1.ContractVersionedObjectReference{APIGroup: bootstrapv1.GroupVersion.Group,
			Kind: "KubeadmConfig", Name: m.name}
		m.azure.Annotations = clonedFrom(name)
	}
	w.control = out
	w.cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: group.Group, Kind: "KubeadmControlPlane", Name: name}
	return nil
}

// clonedFrom returns the annotations of an AzureMachine that was made from a template.
func clonedFrom(template string) map[string]string {
	return map[string]string{clusterv1.TemplateClonedFromNameAnnotation: template,
		clusterv1.TemplateClonedFromGroupKindAnnotation: "AzureMachineTemplate." + infrav1.GroupVersion.Group}
}

// joiningConfig returns what a machine needs to join, as the flavors have it. It has no clusterConfiguration: then an upgrade leaves the one
// in the ConfigMap kubeadm-config of the cluster as it is, which machines read when they join.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/controlplane/kubeadm/reconcilers/kubeadmcontrolplane/update.go#L62
func joiningConfig(template string, disks []infrav1.DataDisk) (out bootstrapv1.KubeadmConfigSpec) {
	out.Files = []bootstrapv1.File{{Path: "/etc/kubernetes/azure.json", Owner: "root:root", Permissions: "0644", ContentFrom: bootstrapv1.FileSource{
		Secret: bootstrapv1.SecretFileSource{Name: template + "-azure-json", Key: "control-plane-azure.json"}}}}
	registration := &out.JoinConfiguration.NodeRegistration
	registration.Name = `{{ ds.meta_data["local_hostname"] }}`
	registration.KubeletExtraArgs = []bootstrapv1.Arg{{Name: "cloud-provider", Value: new("external")}}
	for _, disk := range disks {
		if disk.NameSuffix != "etcddisk" || disk.Lun == nil {
			continue
		}
		device := fmt.Sprintf("/dev/disk/azure/scsi1/lun%d", *disk.Lun)
		out.DiskSetup.Filesystems = []bootstrapv1.Filesystem{{Device: device, Filesystem: "ext4", Label: "etcd_disk",
			ExtraOpts: []string{"-E", "lazy_itable_init=1,lazy_journal_init=1"}}}
		out.DiskSetup.Partitions = []bootstrapv1.Partition{{Device: device, Layout: new(true), Overwrite: new(false), TableType: "gpt"}}
		out.Mounts = []bootstrapv1.MountPoints{{"LABEL=etcd_disk", "/var/lib/etcddisk"}}
	}
	return out
}

// machineConfig returns the configuration of a machine of a control plane with the configuration spec, as the controller computes it for a
// machine that joins. The machine that began the cluster has it, too: the controller compares it in both ways.
// https://github.com/kubernetes-sigs/cluster-api/blob/v1.14.2/controlplane/kubeadm/pkg/desiredstate/desired_state.go#L208
func machineConfig(spec *bootstrapv1.KubeadmConfigSpec, kubernetes string) *bootstrapv1.KubeadmConfigSpec {
	spec.InitConfiguration = bootstrapv1.InitConfiguration{}
	if spec.JoinConfiguration.ControlPlane == nil {
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	const localMode = "ControlPlaneKubeletLocalMode"
	of := version.MustParseSemantic(kubernetes)
	gates := &spec.ClusterConfiguration.FeatureGates
	if _, set := (*gates)[localMode]; !set && of.Major() == 1 && of.Minor() >= 31 && of.Minor() < 36 {
		if *gates == nil {
			*gates = map[string]bool{}
		}
		(*gates)[localMode] = true
	}
	return spec
}

// addControlPlaneSteps adds the steps for the control plane.
func (w *writer) addControlPlaneSteps(add func(why string, commands ...string)) {
	machines := w.listControlPlanes()
	if len(machines) == 0 {
		return
	}
	if w.control == nil {
		add(fmt.Sprintf("The control-plane machines stand alone and no KubeadmControlPlane adopts them: %s.", w.whyAlone(machines)))
		return
	}
	name := w.control.object.Name
	why := fmt.Sprintf("The KubeadmControlPlane %s adopts the control-plane machines and replaces none of them, because the KubeadmConfig of each machine equals its kubeadmConfigSpec.", name)
	if w.KubeadmConfig == nil {
		why += " Azure does not show how kubeadm was configured, so the kubeadmConfigSpec has only what the machines of the flavors need to join. It is used for machines that are added later: compare it with the first command, and import again with --kubeadm-control-plane if machines need more."
	} else {
		why += " It is the one that you passed. Compare it with the first command, because Cluster API writes its clusterConfiguration to the cluster with the next upgrade."
	}
	why += " The second command lists the nodes of the control plane. They have to be those of the Machines in the manifests: Cluster API removes other members from etcd."
	add(why, "kubectl --kubeconfig admin.conf --namespace kube-system get configmap kubeadm-config --output yaml",
		"kubectl --kubeconfig admin.conf get nodes --selector node-role.kubernetes.io/control-plane")
}
