package importing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// pool is a scale set of the cluster.
type pool struct {
	Resource
	scaleSetBody
	name    string
	subnets []string
	azure   *infrav1.AzureMachinePool
	machine *clusterv1.MachinePool
}

// readPools finds the scale sets of the cluster.
func (w *writer) readPools() error {
	taken := map[string]bool{}
	for _, r := range w.estate.list(types.ScaleSet) {
		body, err := decodeBody[scaleSetBody](r)
		if err != nil {
			return err
		}
		if !w.isMember(r, body.head) {
			continue
		}
		if body.Properties.VirtualMachineProfile == nil {
			w.explain(r.ID, "", "it has no template for virtual machines, so it cannot become a machine pool. Machines in it refer to it, and it stays as it is")
			continue
		}
		p := &pool{Resource: r, scaleSetBody: body}
		for _, nic := range body.Properties.VirtualMachineProfile.NetworkProfile.NetworkInterfaceConfigurations {
			for _, c := range nic.Properties.IPConfigurations[:min(1, len(nic.Properties.IPConfigurations))] {
				if c.Properties.Subnet != nil {
					p.subnets = append(p.subnets, c.Properties.Subnet.ID)
				}
			}
		}
		if p.name, err = objectName(r.ID.Name(), taken); err != nil {
			w.explain(r.ID, "", err.Error()+". It is not in the manifests")
			continue
		}
		w.pools = append(w.pools, p)
	}
	return nil
}

// isInstance reports whether an ID is that of an instance of a pool.
func (w *writer) isInstance(id arm.ID) bool {
	return slices.ContainsFunc(w.pools, func(p *pool) bool { return id.IsWithin(p.ID) })
}

var minutes = regexp.MustCompile(`^PT(\d{1,3})M$`)

// writePools writes an AzureMachinePool and a MachinePool for each scale set that the kind can express.
func (w *writer) writePools() error {
	var kept []*pool
	for _, p := range w.pools {
		if why := w.inexpressiblePool(p); why != "" {
			w.explain(p.ID, "", why)
			continue
		}
		if err := w.writePool(p); err != nil {
			return err
		}
		kept = append(kept, p)
	}
	w.pools = kept
	return nil
}

// inexpressiblePool returns the reason why no AzureMachinePool can describe a scale set, "" if one can.
func (w *writer) inexpressiblePool(p *pool) string {
	switch {
	case !strings.EqualFold(p.ID.ResourceGroup(), w.estate.Group):
		return "it is in resource group " + p.ID.ResourceGroup() + ", and pools of the cluster are in " + w.estate.Group + ". It stays as it is"
	case slices.ContainsFunc(p.subnets, func(id string) bool { return !strings.EqualFold(string(arm.ID(id).Parent()), w.networkID) }):
		return "it is not in the virtual network of the cluster. It stays as it is"
	}
	return ""
}

// writePool writes the objects of one pool.
func (w *writer) writePool(p *pool) error {
	of := p.Properties
	p.azure = &infrav1.AzureMachinePool{TypeMeta: newInfraType("AzureMachinePool"), ObjectMeta: w.newMeta(p.name)}
	p.azure.Finalizers = []string{infrav1.MachinePoolFinalizer}
	spec := &p.azure.Spec
	spec.Location, spec.ProviderID = plan.NormalizeRegion(p.Location), plan.ProviderID(p.ID)
	spec.OrchestrationMode, spec.PlatformFaultDomainCount = infrav1.OrchestrationMode(of.OrchestrationMode), of.PlatformFaultDomainCount
	if spec.OrchestrationMode == "" {
		spec.OrchestrationMode = infrav1.UniformOrchestration
	}
	if spec.OrchestrationMode == infrav1.UniformOrchestration && len(p.Zones) > 1 {
		spec.ZoneBalance = of.ZoneBalance
	}
	template := &spec.Template
	profile := newProfile(w, p.ID, "properties.virtualMachineProfile")
	version := profile.readVM(of.VirtualMachineProfile.vmBody, p.Plan, &template.VirtualMachineProfile, p.ID.Name())
	template.VMSize, template.AdditionalCapabilities = p.SKU.Name, capabilities(of.AdditionalCapabilities)
	for _, nic := range of.VirtualMachineProfile.NetworkProfile.NetworkInterfaceConfigurations {
		out := infrav1.NetworkInterface{AcceleratedNetworking: nic.Properties.EnableAcceleratedNetworking}
		for i, c := range nic.Properties.IPConfigurations {
			if c.Properties.PrivateIPAddressVersion != "IPv6" {
				out.PrivateIPConfigs++
			}
			if i == 0 && c.Properties.Subnet != nil {
				out.SubnetName = arm.ID(c.Properties.Subnet.ID).Name()
			}
		}
		template.NetworkInterfaces = append(template.NetworkInterfaces, out)
	}
	if n := of.VirtualMachineProfile.ScheduledEventsProfile.TerminateNotificationProfile; n != nil && n.Enable {
		if match := minutes.FindStringSubmatch(n.NotBeforeTimeout); match != nil {
			timeout, _ := strconv.Atoi(match[1]) // At most three digits.
			template.TerminateNotificationTimeout = &timeout
		}
	}
	profile.readExtensions(of.VirtualMachineProfile.ExtensionProfile.Extensions, &template.VirtualMachineProfile)
	if err := w.readIdentity(p.ID, p.Identity, &spec.ManagedIdentities); err != nil {
		return err
	}
	spec.AdditionalTags = w.machineTags(p.head)

	p.machine = &clusterv1.MachinePool{TypeMeta: newCoreType("MachinePool"), ObjectMeta: w.newMeta(p.name)}
	p.machine.Spec = clusterv1.MachinePoolSpec{ClusterName: w.id.name, Replicas: p.SKU.Capacity, FailureDomains: sorted(p.Zones)}
	p.machine.Spec.Template.Spec = clusterv1.MachineSpec{ClusterName: w.id.name, Version: version,
		InfrastructureRef: newReference("AzureMachinePool", p.name), Bootstrap: w.bootstrapOf(p.name)}
	return nil
}

// bootstrapOf returns the bootstrap data of machines that are added later: a Secret of the user.
func (w *writer) bootstrapOf(name string) clusterv1.Bootstrap {
	return clusterv1.Bootstrap{DataSecretName: new(name + "-bootstrap")}
}
