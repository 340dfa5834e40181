package aksengine

import (
	"slices"
	"strconv"
	"strings"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	controlplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

const (
	// addressesOfMachine is the default of ipAddressCount with Azure CNI:
	// https://github.com/Azure/aks-engine/blob/master/docs/topics/features.md
	addressesOfMachine = 31
	// osDiskGB is the size in the flavors of this provider. aks-engine documents no default.
	osDiskGB = 128
)

// chooseEtcdDisk returns the default of etcdDiskSizeGB, which depends on the number of machines:
// https://github.com/Azure/aks-engine/blob/master/docs/topics/clusterdefinitions.md#kubernetesconfig
func (c *conversion) chooseEtcdDisk() int32 {
	machines := c.properties.get("masterProfile", "count").number()
	for _, pool := range c.pools {
		machines += pool.from.get("count").number()
	}
	switch {
	case machines > 20:
		return 2048
	case machines > 10:
		return 1024
	case machines > 3:
		return 512
	}
	return 256
}

// addControlPlane adds the KubeadmControlPlane and the AzureMachineTemplate of its machines.
func (c *conversion) addControlPlane() {
	name := c.Name + "-control-plane"
	from := c.properties.get("masterProfile")
	template := &infrav1.AzureMachineTemplate{TypeMeta: newInfraType("AzureMachineTemplate"), ObjectMeta: c.newMeta(name)}
	target := "AzureMachineTemplate " + name + ": spec.template.spec."
	spec := &template.Spec.Template.Spec
	kubelet := c.readMachine(from, &spec.VirtualMachineProfile, target, false)
	spec.ManagedIdentities = c.kube.identity
	spec.AdditionalTags = readTags(from.get("customVMTags"), target+"additionalTags")
	spec.EnableIPForwarding = c.network.plugin == pluginKubenet
	c.fillNameServers(spec)
	size := c.properties.get("orchestratorProfile", "kubernetesConfig", "etcdDiskSizeGB").carryNumber(target+"dataDisks[0].diskSizeGB",
		1, 32767)
	if size == nil {
		size = new(c.chooseEtcdDisk())
	}
	spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "etcddisk", DiskSizeGB: *size, Lun: new(int32(0))}}

	out := &controlplanev1.KubeadmControlPlane{TypeMeta: newType(controlPlaneGroup, "KubeadmControlPlane"), ObjectMeta: c.newMeta(name)}
	count := from.get("count")
	out.Spec.Replicas = count.carryNumber("KubeadmControlPlane "+name+": spec.replicas", 1, 9)
	if n := out.Spec.Replicas; n != nil && *n%2 == 0 {
		count.report("A control plane has an odd number of machines.", "Set spec.replicas of the KubeadmControlPlane to an odd number.")
		out.Spec.Replicas = nil
	}
	if out.Spec.Replicas == nil {
		out.Spec.Replicas = new(int32(1))
	}
	out.Spec.Version = c.KubernetesVersion
	out.Spec.MachineTemplate.Spec.InfrastructureRef = newReference(infrav1.GroupVersion.Group, "AzureMachineTemplate", name)
	out.Spec.KubeadmConfigSpec = c.newControlPlaneConfig(name, kubelet)
	apiServer := &out.Spec.KubeadmConfigSpec.ClusterConfiguration.APIServer
	for _, san := range from.get("subjectAltNames").list() {
		text := san.carryText("KubeadmControlPlane " + name + ": spec.kubeadmConfigSpec.clusterConfiguration.apiServer.certSANs")
		if text != "" && !slices.Contains(apiServer.CertSANs, text) {
			apiServer.CertSANs = append(apiServer.CertSANs, text)
		}
	}
	if strings.EqualFold(from.get("availabilityProfile").text(), "VirtualMachineScaleSets") {
		from.get("availabilityProfile").report("Control-plane machines are single VMs, which KubeadmControlPlane replaces one by one.",
			"There is nothing to do. The machines are spread over zones or in an availability set.")
	} else {
		from.get("availabilityProfile").replace("Control-plane machines are spread over zones, or in an availability set in a region without zones.")
	}
	c.add(template, out)
}

// newControlPlaneConfig returns the configuration of kubeadm for control-plane machines.
func (c *conversion) newControlPlaneConfig(name string, kubelet kubelet) bootstrapv1.KubeadmConfigSpec {
	out := bootstrapv1.KubeadmConfigSpec{}
	out.Files = []bootstrapv1.File{azureJSON(name, "control-plane-azure.json", "/etc/kubernetes/azure.json")}
	apiServer := []bootstrapv1.Arg{newArgument("service-account-issuer", "https://kubernetes.default.svc.cluster.local")}
	manager := []bootstrapv1.Arg{newArgument("allocate-node-cidrs", "false"), newArgument("cloud-provider", "external"),
		newArgument("cluster-name", c.Name)}
	if c.network.plugin == pluginKubenet {
		setArgument(&manager, "allocate-node-cidrs", "true")
		setArgument(&manager, "cluster-cidr", c.network.pods)
		setArgument(&manager, "configure-cloud-routes", "true")
	}
	for _, argument := range c.kube.apiServer {
		setArgument(&apiServer, argument.Name, *argument.Value)
	}
	for _, argument := range c.kube.controllerManager {
		setArgument(&manager, argument.Name, *argument.Value)
	}
	config := &out.ClusterConfiguration
	config.APIServer.ExtraArgs, config.ControllerManager.ExtraArgs, config.Scheduler.ExtraArgs = apiServer, manager, c.kube.scheduler
	config.Etcd.Local.DataDir = "/var/lib/etcddisk/etcd"
	config.Etcd.Local.ExtraArgs = []bootstrapv1.Arg{newArgument("quota-backend-bytes", "8589934592")}
	const disk = "/dev/disk/azure/scsi1/lun0"
	out.DiskSetup = bootstrapv1.DiskSetup{
		Filesystems: []bootstrapv1.Filesystem{{Device: disk, Filesystem: "ext4", Label: "etcd_disk",
			ExtraOpts: []string{"-E", "lazy_itable_init=1,lazy_journal_init=1"}}},
		Partitions: []bootstrapv1.Partition{{Device: disk, Layout: new(true), Overwrite: new(false), TableType: "gpt"}},
	}
	out.Mounts = []bootstrapv1.MountPoints{{"LABEL=etcd_disk", "/var/lib/etcddisk"}}
	timeouts := bootstrapv1.Timeouts{ControlPlaneComponentHealthCheckSeconds: new(int32(1200))}
	out.InitConfiguration.NodeRegistration, out.InitConfiguration.Timeouts = newRegistration(kubelet, false), timeouts
	out.JoinConfiguration.NodeRegistration, out.JoinConfiguration.Timeouts = newRegistration(kubelet, false), timeouts
	out.Users = c.login.users(false)
	if c.network.isPrivate {
		// A control-plane machine cannot reach itself through the internal load balancer.
		const line = " ]; then echo '127.0.0.1 apiserver."
		out.PreKubeadmCommands = []string{"if [ -f /run/kubeadm/kubeadm.yaml" + line + c.Name + ".capz.io apiserver' >> /etc/hosts; fi"}
		out.PostKubeadmCommands = []string{"if [ -f /run/kubeadm/kubeadm-join-config.yaml" + line + c.Name + ".capz.io apiserver' >> /etc/hosts; fi"}
	}
	return out
}

// azureJSON returns the file with the configuration of cloud-provider-azure.
func azureJSON(object, key, path string) bootstrapv1.File {
	return bootstrapv1.File{Path: path, Owner: "root:root", Permissions: "0644",
		ContentFrom: bootstrapv1.FileSource{Secret: bootstrapv1.SecretFileSource{Name: object + "-azure-json", Key: key}}}
}

// newRegistration returns how a machine registers its Node.
func newRegistration(k kubelet, windows bool) bootstrapv1.NodeRegistrationOptions {
	out := bootstrapv1.NodeRegistrationOptions{Name: `{{ ds.meta_data["local_hostname"] }}`,
		KubeletExtraArgs: []bootstrapv1.Arg{newArgument("cloud-provider", "external")}}
	for _, argument := range k.arguments {
		setArgument(&out.KubeletExtraArgs, argument.Name, *argument.Value)
	}
	if windows {
		out.CRISocket = "npipe:////./pipe/containerd-containerd"
	}
	if len(k.taints) > 0 {
		out.Taints = &k.taints
	}
	return out
}

// fillNameServers sets the DNS servers of a machine's interface.
func (c *conversion) fillNameServers(spec *infrav1.AzureMachineSpec) {
	if server := c.properties.get("linuxProfile", "customNodesDNS",
		"dnsServer").carryText("dnsServers of the AzureMachineTemplates"); server != "" {
		spec.DNSServers = []string{server}
	}
}

// podAddresses returns how many addresses the interface of a machine has, 0 if pods do not have addresses of the network.
func (c *conversion) podAddresses(from *value, target string) int {
	count := from.get("ipAddressCount")
	if c.network.plugin != pluginAzure {
		count.report("Pods have addresses of their own range with this network plug-in.", "There is nothing to do.")
		return 0
	}
	if n := count.carryNumber(target+"networkInterfaces[0].privateIPConfigs", 1, 256); n != nil {
		return int(*n)
	}
	return addressesOfMachine
}

// limitPods makes the number of pods fit the addresses of the interface.
func limitPods(k *kubelet, addresses int) {
	if addresses > 1 && !slices.ContainsFunc(k.arguments, func(a bootstrapv1.Arg) bool { return a.Name == "max-pods" }) {
		setArgument(&k.arguments, "max-pods", strconv.Itoa(addresses-1))
	}
}
