package aksengine

import (
	"fmt"
	"strings"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// pool is one of agentPoolProfiles.
type pool struct {
	from *value
	name string
	// isDeployment is true for a MachineDeployment, false for a MachinePool.
	isDeployment, isWindows bool
}

// availabilitySet is the availabilityProfile of a pool of single VMs.
const availabilitySet = "AvailabilitySet"

// addPool adds the objects of a pool.
func (c *conversion) addPool(p pool) {
	profile := p.from.get("availabilityProfile")
	switch {
	case p.isDeployment:
		profile.carry("the MachineDeployment " + p.name)
	case c.network.plugin == pluginKubenet:
		profile.report("Scale sets do not forward packets, which kubenet needs. The pool is a MachineDeployment.",
			"Keep the MachineDeployment, or choose another network plug-in.")
		p.isDeployment = true
	default:
		profile.carryChoice("the MachinePool "+p.name, "VirtualMachineScaleSets", availabilitySet)
	}
	p.from.get("osType").carryChoice("osDisk.osType of "+p.name, infrav1.LinuxOS, infrav1.WindowsOS)
	if p.isWindows {
		c.network.labels["windows"] = "enabled"
	}
	if p.isDeployment {
		c.addDeployment(p)
		return
	}
	c.addMachinePool(p)
}

// newConfig returns the configuration of kubeadm for the machines of a pool.
func (c *conversion) newConfig(p pool, k kubelet) bootstrapv1.KubeadmConfigSpec {
	path := "/etc/kubernetes/azure.json"
	if p.isWindows {
		path = "c:/k/azure.json"
	}
	out := bootstrapv1.KubeadmConfigSpec{Files: []bootstrapv1.File{azureJSON(p.name, "worker-node-azure.json", path)}}
	out.JoinConfiguration.NodeRegistration = newRegistration(k, p.isWindows)
	out.Users = c.login.users(p.isWindows)
	if p.isWindows {
		out.PostKubeadmCommands = []string{"nssm set kubelet start SERVICE_AUTO_START"}
	}
	return out
}

// readLabels adds the labels of the Nodes of a pool.
func readLabels(from *value, k *kubelet, name string) {
	labels := from.get("customNodeLabels")
	if labels.isEmpty() {
		return
	}
	var kept []string
	for _, key := range labels.keys {
		label := labels.fields[key]
		if label.isEmpty() {
			continue
		}
		pair := label.key + "=" + label.text()
		if _, all := allowedLabels(pair); !all || strings.ContainsAny(pair, ", ") {
			label.report("A kubelet does not start with labels of kubernetes.io that it may not set.",
				"Set the label in spec.template.metadata.labels of the MachineDeployment or MachinePool.")
			continue
		}
		if label.carryText("nodeRegistration of "+name+": kubeletExtraArgs.node-labels") != "" {
			kept = append(kept, pair)
		}
	}
	for _, argument := range k.arguments {
		if argument.Name == "node-labels" {
			kept = append([]string{*argument.Value}, kept...)
		}
	}
	if len(kept) > 0 {
		setArgument(&k.arguments, "node-labels", strings.Join(kept, ","))
	}
}

// newMachineSpec returns the template of the Machines of a pool.
func (c *conversion) newMachineSpec(p pool, configKind, infraKind string) clusterv1.MachineTemplateSpec {
	out := clusterv1.MachineTemplateSpec{Spec: clusterv1.MachineSpec{ClusterName: c.Name, Version: c.KubernetesVersion}}
	out.Spec.Bootstrap.ConfigRef = newReference(bootstrapGroup, configKind, p.name)
	out.Spec.InfrastructureRef = newReference(infrav1.GroupVersion.Group, infraKind, p.name)
	return out
}

func (c *conversion) replicas(p pool, kind string) *int32 {
	if n := p.from.get("count").carryNumber(kind+" "+p.name+": spec.replicas", 0, 1000); n != nil {
		return n
	}
	return new(int32(1))
}

// addDeployment adds a pool of single VMs.
func (c *conversion) addDeployment(p pool) {
	template := &infrav1.AzureMachineTemplate{TypeMeta: newInfraType("AzureMachineTemplate"), ObjectMeta: c.newMeta(p.name)}
	target := "AzureMachineTemplate " + p.name + ": spec.template.spec."
	spec := &template.Spec.Template.Spec
	k := c.readMachine(p.from, &spec.VirtualMachineProfile, target, p.isWindows)
	readDataDisks(p.from, &spec.VirtualMachineProfile, target)
	readLabels(p.from, &k, p.name)
	spec.ManagedIdentities = c.kube.identity
	spec.AdditionalTags = readTags(p.from.get("customVMTags"), target+"additionalTags")
	spec.EnableIPForwarding = c.network.plugin == pluginKubenet
	spec.SpotVMOptions = readSpot(p.from, target)
	c.fillNameServers(spec)
	if p.isWindows {
		template.Spec.Template.ObjectMeta.Annotations = map[string]string{"runtime": "containerd"}
	}
	config := &bootstrapv1.KubeadmConfigTemplate{TypeMeta: newType(bootstrapGroup, "KubeadmConfigTemplate"), ObjectMeta: c.newMeta(p.name)}
	config.Spec.Template.Spec = c.newConfig(p, k)
	out := &clusterv1.MachineDeployment{TypeMeta: newType(coreGroup, "MachineDeployment"), ObjectMeta: c.newMeta(p.name)}
	out.Spec.ClusterName, out.Spec.Replicas = c.Name, c.replicas(p, "MachineDeployment")
	out.Spec.Selector.MatchLabels = map[string]string{}
	out.Spec.Template = c.newMachineSpec(p, "KubeadmConfigTemplate", "AzureMachineTemplate")
	switch zones := p.from.get("availabilityZones"); len(zones.list()) {
	case 0:
	case 1:
		out.Spec.Template.Spec.FailureDomain = zones.list()[0].carryText("MachineDeployment " + p.name + ": spec.template.spec.failureDomain")
	default:
		zones.report("A MachineDeployment has machines in one zone.",
			"Create a MachineDeployment per zone, with spec.template.spec.failureDomain, or a MachinePool.")
	}
	p.from.get("platformFaultDomainCount").report("The provider chooses it for availability sets.", "There is nothing to do.")
	c.add(template, config, out)
}

// addMachinePool adds a pool in a scale set.
func (c *conversion) addMachinePool(p pool) {
	pool := &infrav1.AzureMachinePool{TypeMeta: newInfraType("AzureMachinePool"), ObjectMeta: c.newMeta(p.name)}
	target := "AzureMachinePool " + p.name + ": spec.template."
	spec := &pool.Spec
	k := c.readMachine(p.from, &spec.Template.VirtualMachineProfile, target, p.isWindows)
	readDataDisks(p.from, &spec.Template.VirtualMachineProfile, target)
	readLabels(p.from, &k, p.name)
	spec.Location, spec.ManagedIdentities = c.Location, c.kube.identity
	spec.AdditionalTags = readTags(p.from.get("customVMTags"), "AzureMachinePool "+p.name+": spec.additionalTags")
	spec.Template.SpotVMOptions = readSpot(p.from, target)
	if p.isWindows {
		pool.Annotations = map[string]string{"runtime": "containerd"}
	}
	if n := p.from.get("platformFaultDomainCount").carryNumber("AzureMachinePool "+p.name+": spec.platformFaultDomainCount", 1,
		5); n != nil {
		spec.PlatformFaultDomainCount = n
	}
	config := &bootstrapv1.KubeadmConfig{TypeMeta: newType(bootstrapGroup, "KubeadmConfig"), ObjectMeta: c.newMeta(p.name)}
	config.Spec = c.newConfig(p, k)
	out := &clusterv1.MachinePool{TypeMeta: newType(coreGroup, "MachinePool"), ObjectMeta: c.newMeta(p.name)}
	out.Spec.ClusterName, out.Spec.Replicas = c.Name, c.replicas(p, "MachinePool")
	out.Spec.Template = c.newMachineSpec(p, "KubeadmConfig", "AzureMachinePool")
	for _, zone := range p.from.get("availabilityZones").list() {
		if name := zone.carryText("MachinePool " + p.name + ": spec.failureDomains"); name != "" {
			out.Spec.FailureDomains = append(out.Spec.FailureDomains, name)
		}
	}
	c.add(config, pool, out)
}

// readSpot reads whether machines are spot VMs.
func readSpot(from *value, target string) *infrav1.SpotVMOptions {
	priority, eviction := from.get("scaleSetPriority"), from.get("scaleSetEvictionPolicy")
	switch strings.ToLower(priority.text()) {
	case "low", "spot":
		priority.carry(target + "spotVMOptions")
	default:
		const regular = "The machines are not spot VMs, which is the default."
		priority.replace(regular)
		eviction.replace(regular)
		return nil
	}
	// Delete is the default of aks-engine: https://github.com/Azure/aks-engine/blob/master/docs/topics/clusterdefinitions.md#agentpoolprofiles
	out := &infrav1.SpotVMOptions{EvictionPolicy: new(infrav1.SpotEvictionPolicyDelete)}
	if text := eviction.carryChoice(target+"spotVMOptions.evictionPolicy", string(infrav1.SpotEvictionPolicyDelete),
		string(infrav1.SpotEvictionPolicyDeallocate)); text != "" {
		out.EvictionPolicy = new(infrav1.SpotEvictionPolicy(text))
	}
	return out
}

// addScaling carries the bounds of the add-on cluster-autoscaler over to the first pool, which is the one that aks-engine scales.
func (c *conversion) addScaling() {
	for _, addon := range c.properties.get("orchestratorProfile", "kubernetesConfig", "addons").list() {
		if addon.get("name").text() != "cluster-autoscaler" || !addon.get("enabled").isTrue() || len(c.pools) == 0 {
			continue
		}
		annotations := map[string]string{}
		for key, annotation := range map[string]string{"min-nodes": clusterv1.AutoscalerMinSizeAnnotation,
			"max-nodes": clusterv1.AutoscalerMaxSizeAnnotation} {
			if text := addon.get("config", key).carryText(fmt.Sprintf("annotation %s of %s", annotation, c.pools[0].name)); text != "" {
				annotations[annotation] = text
			}
		}
		for _, object := range c.result.Objects {
			switch object := object.(type) {
			case *clusterv1.MachineDeployment:
				if object.Name == c.pools[0].name && len(annotations) > 0 {
					object.Annotations = annotations
				}
			case *clusterv1.MachinePool:
				if object.Name == c.pools[0].name && len(annotations) > 0 {
					object.Annotations = annotations
				}
			}
		}
	}
}
