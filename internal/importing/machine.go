package importing

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// machine is a virtual machine of the cluster.
type machine struct {
	Resource
	machineBody
	name         string
	controlPlane bool
	interfaces   []machineInterface
	// subnets are those of the interfaces.
	subnets []string
	azure   *infrav1.AzureMachine
	machine *clusterv1.Machine
	// group is nil for a control-plane machine and for a machine that stands alone.
	group *group
}

// machineInterface is a network interface of a machine.
type machineInterface struct {
	Resource
	interfaceBody
}

// readMachines finds the virtual machines of the cluster, and their interfaces.
func (w *writer) readMachines() error {
	taken := map[string]bool{}
	for _, r := range w.estate.list(types.VirtualMachine) {
		body, err := decodeBody[machineBody](r)
		if err != nil {
			return err
		}
		if !w.isMember(r, body.head) || w.isPoolMember(body) {
			continue
		}
		m := &machine{Resource: r, machineBody: body}
		for _, nic := range body.Properties.NetworkProfile.NetworkInterfaces {
			found, ok := w.estate.find(nic.ID)
			if !ok {
				w.explain(r.ID, "", "its network interface "+arm.ID(nic.ID).Name()+" cannot be read"+w.unreadable(nic.ID)+", so it is not in the manifests")
				w.lose(m)
				m = nil
				break
			}
			of, err := decodeBody[interfaceBody](found)
			if err != nil {
				return err
			}
			m.interfaces = append(m.interfaces, machineInterface{found, of})
		}
		if m == nil {
			continue
		}
		for _, nic := range m.interfaces {
			for _, c := range nic.Properties.IPConfigurations[:min(1, len(nic.Properties.IPConfigurations))] {
				if c.Properties.Subnet != nil {
					m.subnets = append(m.subnets, c.Properties.Subnet.ID)
				}
			}
		}
		if m.name, err = objectName(r.ID.Name(), taken); err != nil {
			w.explain(r.ID, "", err.Error()+". It is not in the manifests")
			w.lose(m)
			continue
		}
		w.machines = append(w.machines, m)
	}
	return nil
}

// lose remembers a virtual machine without objects, unless its tag tells that it is a worker. Whether it is behind the load balancer of the
// API server may be unknown.
func (w *writer) lose(m *machine) {
	if role := m.tag(infrav1.RoleTag); m.controlPlane || role == "" || role == infrav1.RoleControlPlane {
		w.lost = append(w.lost, m.ID.Name())
	}
}

// isMember reports whether a machine belongs to the cluster: by the ownership tag, or without one by being in the group.
func (w *writer) isMember(r Resource, h head) bool {
	if !w.id.tagged {
		return strings.EqualFold(r.ID.ResourceGroup(), w.estate.Group) && len(clustersOf(h)) == 0
	}
	return w.id.owns(h)
}

// isPoolMember reports whether a virtual machine is an instance of a scale set that becomes a pool.
func (w *writer) isPoolMember(body machineBody) bool {
	set := body.Properties.VirtualMachineScaleSet
	if set == nil {
		return false
	}
	r, ok := w.estate.find(set.ID)
	if !ok {
		return false
	}
	of, err := decodeBody[scaleSetBody](r)
	return err == nil && w.isMember(r, of.head) && of.Properties.VirtualMachineProfile != nil
}

// findControlPlanes determines which machines are of the control plane: by their role tag, by the backend pool of the API server, or as the
// user names them.
func (w *writer) findControlPlanes() error {
	pools := map[string]bool{}
	for _, of := range []*balancer{w.balancers.apiServer, w.balancers.internal} {
		if of == nil {
			continue
		}
		if rule, ok := of.apiServerRule(); ok && rule.Properties.BackendAddressPool != nil {
			pools[strings.ToLower(rule.Properties.BackendAddressPool.ID)] = true
		}
	}
	for _, m := range w.machines {
		m.controlPlane = m.tag(infrav1.RoleTag) == infrav1.RoleControlPlane || slices.Contains(w.ControlPlanes, m.ID.Name())
		for _, nic := range m.interfaces {
			for _, c := range nic.Properties.IPConfigurations {
				for _, pool := range c.Properties.LoadBalancerBackendAddressPools {
					m.controlPlane = m.controlPlane || pools[strings.ToLower(pool.ID)]
				}
			}
		}
	}
	for _, name := range w.ControlPlanes {
		if !slices.ContainsFunc(w.machines, func(m *machine) bool { return m.ID.Name() == name }) {
			return fmt.Errorf("--control-plane-vm %s: the cluster has no virtual machine of this name", name)
		}
	}
	return nil
}

// writeMachines writes an AzureMachine and a Machine for each virtual machine whose names the kind can express.
func (w *writer) writeMachines() error {
	var kept []*machine
	for _, m := range w.machines {
		if why := w.inexpressible(m); why != "" {
			w.explain(m.ID, "", why)
			if m.controlPlane {
				w.lose(m)
			}
			continue
		}
		if err := w.writeMachine(m); err != nil {
			return err
		}
		kept = append(kept, m)
	}
	w.machines = kept
	return nil
}

// inexpressible returns the reason why no AzureMachine can describe a virtual machine, "" if one can: the names of interfaces and of their
// first configuration follow from the name of the machine.
func (w *writer) inexpressible(m *machine) string {
	if !strings.EqualFold(m.ID.ResourceGroup(), w.estate.Group) {
		return fmt.Sprintf("it is in resource group %s, and machines of the cluster are in %s. It stays as it is: replace it by a machine of the manifests", m.ID.ResourceGroup(), w.estate.Group)
	}
	const primary = "pipConfig"
	in := plan.MachineInput{ClusterInput: w.clusterInput(), AzureMachine: &infrav1.AzureMachine{}}
	in.AzureMachine.Spec.ProviderID = new(plan.ProviderID(m.ID))
	for i, nic := range m.interfaces {
		want := plan.NICID(in, plan.NICName(in, i, len(m.interfaces)))
		switch {
		case !nic.ID.Equal(want):
			return fmt.Sprintf("its network interface is %s, and that of an AzureMachine has to be %s in its resource group. The name of an interface cannot change. The machine stays as it is: replace it by a machine of the manifests", nic.ID.Name(), want.Name())
		case len(nic.Properties.IPConfigurations) == 0 || nic.Properties.IPConfigurations[0].Name != primary:
			return fmt.Sprintf("the first IP configuration of its network interface %s is not named %s, as that of an AzureMachine is. The machine stays as it is: replace it by a machine of the manifests", nic.ID.Name(), primary)
		case nic.Properties.IPConfigurations[0].Properties.Subnet == nil ||
			!strings.EqualFold(string(arm.ID(nic.Properties.IPConfigurations[0].Properties.Subnet.ID).Parent()), w.networkID):
			return fmt.Sprintf("its network interface %s is not in the virtual network of the cluster. The machine stays as it is", nic.ID.Name())
		}
	}
	if len(m.interfaces) == 0 {
		return "it has no network interface. It stays as it is"
	}
	return ""
}

// writeMachine writes the objects of one machine.
func (w *writer) writeMachine(m *machine) error {
	m.azure = &infrav1.AzureMachine{TypeMeta: newInfraType("AzureMachine"), ObjectMeta: w.newMeta(m.name)}
	m.azure.Finalizers = []string{infrav1.MachineFinalizer}
	m.machine = &clusterv1.Machine{TypeMeta: newCoreType("Machine"), ObjectMeta: w.newMeta(m.name)}
	providerID := plan.ProviderID(m.ID)
	m.machine.Spec = clusterv1.MachineSpec{ClusterName: w.id.name, ProviderID: providerID,
		InfrastructureRef: newReference("AzureMachine", m.name),
		// The machine has booted: its data are not needed again.
		Bootstrap: clusterv1.Bootstrap{DataSecretName: new("")}}
	spec, of := &m.azure.Spec, m.Properties
	spec.ProviderID = &providerID
	p := newProfile(w, m.ID, "properties")
	version := p.readVM(of.vmBody, m.Plan, &spec.VirtualMachineProfile, m.ID.Name())
	spec.VMSize = of.HardwareProfile.VMSize
	spec.AdditionalCapabilities = capabilities(of.AdditionalCapabilities)
	m.machine.Spec.Version = version
	if len(m.Zones) > 0 {
		m.machine.Spec.FailureDomain = m.Zones[0]
		spec.FailureDomain = new(m.Zones[0])
	}
	if set := of.VirtualMachineScaleSet; set != nil {
		spec.VirtualMachineScaleSetID = &set.ID
	}
	if allowed := of.OSProfile.AllowExtensionOperations; allowed != nil && !*allowed {
		spec.DisableExtensionOperations = new(true)
	}
	w.writeInterfaces(m)
	extensions, err := w.extensions(m.ID)
	if err != nil {
		return err
	}
	p.readExtensions(extensions, &spec.VirtualMachineProfile)
	if err := w.readIdentity(m.ID, m.Identity, &spec.ManagedIdentities); err != nil {
		return err
	}
	w.label(m)
	return nil
}

// label gives the objects of a control-plane machine its label. Cluster API gives it to the AzureMachine of the Machine.
func (w *writer) label(m *machine) {
	if !m.controlPlane {
		return
	}
	for _, meta := range []*metav1.ObjectMeta{&m.machine.ObjectMeta, &m.azure.ObjectMeta} {
		meta.Labels[clusterv1.MachineControlPlaneLabel] = ""
	}
}

// writeInterfaces writes the network interfaces of a machine.
func (w *writer) writeInterfaces(m *machine) {
	spec := &m.azure.Spec
	for i, nic := range m.interfaces {
		out := infrav1.NetworkInterface{AcceleratedNetworking: nic.Properties.EnableAcceleratedNetworking}
		for _, c := range nic.Properties.IPConfigurations {
			if c.Properties.PrivateIPAddressVersion != "IPv6" {
				out.PrivateIPConfigs++
			}
		}
		out.SubnetName = arm.ID(nic.Properties.IPConfigurations[0].Properties.Subnet.ID).Name()
		spec.NetworkInterfaces = append(spec.NetworkInterfaces, out)
		if i > 0 {
			continue
		}
		spec.DNSServers = nic.Properties.DNSSettings.DNSServers
		spec.EnableIPForwarding = nic.Properties.EnableIPForwarding != nil && *nic.Properties.EnableIPForwarding
		name := "pip-" + m.ID.Name()
		address := nic.Properties.IPConfigurations[0].Properties.PublicIPAddress
		switch {
		case address == nil:
			// The established provider creates the address of a control-plane machine and does not attach it.
			own, has := w.estate.find(string(arm.NewID(w.estate.Subscription, w.estate.Group, types.PublicIPAddress, name)))
			spec.AllocatePublicIP = has && m.controlPlane && w.ownsResource(own)
		case arm.ID(address.ID).Name() == name:
			spec.AllocatePublicIP = true
		default:
			w.explain(nic.ID, "properties.ipConfigurations[pipConfig].properties.publicIPAddress",
				"the public address of an AzureMachine is named "+name+". It stays as it is")
		}
	}
}

// ownsResource reports whether a resource belongs to the cluster by its tags.
func (w *writer) ownsResource(r Resource) bool {
	body, err := decodeBody[head](r)
	return err == nil && w.id.owns(body)
}

// extensions returns the extensions of a virtual machine.
func (w *writer) extensions(vm arm.ID) ([]extensionBody, error) {
	var out []extensionBody
	for _, r := range w.estate.list(types.VirtualMachineExtension) {
		if !r.ID.Parent().Equal(vm) {
			continue
		}
		body, err := decodeBody[extensionBody](r)
		if err != nil {
			return nil, err
		}
		body.Name = r.ID.Name()
		out = append(out, body)
	}
	return out, nil
}

func capabilities(of *capabilitiesBody) *infrav1.AdditionalCapabilities {
	if of == nil || of.UltraSSDEnabled == nil {
		return nil
	}
	return &infrav1.AdditionalCapabilities{UltraSSDEnabled: of.UltraSSDEnabled}
}

// readIdentity writes the managed identities of a machine or pool.
func (w *writer) readIdentity(id arm.ID, of identityBody, spec *infrav1.ManagedIdentities) error {
	spec.Identity = infrav1.VMIdentityNone
	if len(of.UserAssignedIdentities) > 0 {
		spec.Identity = infrav1.VMIdentityUserAssigned
		for _, identity := range sortedKeys(of.UserAssignedIdentities) {
			spec.UserAssignedIdentities = append(spec.UserAssignedIdentities, infrav1.UserAssignedIdentity{ProviderID: "azure://" + identity})
		}
		if strings.Contains(of.Type, "SystemAssigned") {
			w.explain(id, "identity.type", "the spec has a system-assigned identity or user-assigned ones. The system-assigned identity stays")
		}
		return nil
	}
	if !strings.Contains(of.Type, "SystemAssigned") {
		return nil
	}
	assignments := w.estate.RoleAssignments[of.PrincipalID]
	if len(assignments) == 0 {
		w.explain(id, "identity.type", "the system-assigned identity has no role assignment that can be read, and the spec would create one. It stays as it is")
		return nil
	}
	body, err := decodeBody[struct {
		Properties struct{ RoleDefinitionID, Scope string }
	}](assignments[0])
	if err != nil {
		return err
	}
	spec.Identity = infrav1.VMIdentitySystemAssigned
	spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: assignments[0].ID.Name(),
		DefinitionID: body.Properties.RoleDefinitionID, Scope: body.Properties.Scope}
	for _, other := range assignments[1:] {
		w.explain(other.ID, "", "the spec has one role of the identity of "+id.Name()+". It stays as it is")
	}
	return nil
}
