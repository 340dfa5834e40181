package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// getResource returns the Reader with one GET per resource.
func getResource(ctx context.Context, c *client.Client, id arm.ID, _ observe.ReadOptions) (json.RawMessage, error) {
	row, err := types.ForID(id)
	if err != nil {
		return nil, err
	}
	response, err := c.Get(ctx, id, row.APIVersion, nil)
	if arm.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// readInto decodes a resource into out and reports whether it exists.
func (f *Facts) readInto(ctx context.Context, caller Caller, id arm.ID, out any) (bool, error) {
	body, err := f.read(ctx, caller, id)
	if err != nil || len(body) == 0 {
		return false, err
	}
	if err := json.Unmarshal(body, out); err != nil {
		return false, arm.AddSubject("GET "+id.ShortName(), err)
	}
	return true, nil
}

// ReadClusterVNet returns the current state of the cluster's virtual network.
func (f *Facts) ReadClusterVNet(ctx context.Context, caller Caller, in plan.ClusterInput) (plan.VNetFact, error) {
	tag, owned := plan.OwnerTag(in)
	return f.ReadVNet(ctx, caller, plan.VNetID(in), tag, owned)
}

// ReadVNet returns the current state of a virtual network, and whether it carries the ownership tag.
func (f *Facts) ReadVNet(ctx context.Context, caller Caller, id arm.ID, tagKey, tagValue string) (plan.VNetFact, error) {
	var vnet struct {
		Location   string            `json:"location"`
		Tags       map[string]string `json:"tags"`
		Properties struct {
			AddressSpace struct {
				AddressPrefixes []string `json:"addressPrefixes"`
			} `json:"addressSpace"`
			Subnets []struct {
				Name       string `json:"name"`
				Properties struct {
					AddressPrefix   string   `json:"addressPrefix"`
					AddressPrefixes []string `json:"addressPrefixes"`
				} `json:"properties"`
			} `json:"subnets"`
		} `json:"properties"`
	}
	exists, err := f.readInto(ctx, caller, id, &vnet)
	if err != nil || !exists {
		return plan.VNetFact{}, err
	}
	fact := plan.VNetFact{
		Exists: true, Location: plan.NormalizeRegion(vnet.Location),
		AddressPrefixes: vnet.Properties.AddressSpace.AddressPrefixes, Subnets: map[string][]string{},
	}
	for key, value := range vnet.Tags {
		// Azure keeps the case of tag keys and ignores it in comparisons.
		if strings.EqualFold(key, tagKey) {
			fact.Owned = value == tagValue
		}
	}
	for _, subnet := range vnet.Properties.Subnets {
		prefixes := subnet.Properties.AddressPrefixes
		if len(prefixes) == 0 && subnet.Properties.AddressPrefix != "" {
			prefixes = []string{subnet.Properties.AddressPrefix}
		}
		fact.Subnets[strings.ToLower(subnet.Name)] = prefixes
	}
	return fact, nil
}

// readInternalFrontends returns the names of the frontends of the internal load balancer of the API server by address. It returns
// nil if the feature gate for it is off.
func (f *Facts) readInternalFrontends(ctx context.Context, caller Caller, in plan.ClusterInput) (map[string]string, error) {
	lb := in.AzureCluster.Spec.NetworkSpec.APIServerLB
	if lb == nil || lb.Type == infrav1.Internal || !in.Features.APIServerILB {
		return nil, nil
	}
	var balancer struct {
		Properties struct {
			Frontends []struct {
				Name       string `json:"name"`
				Properties struct {
					PrivateIPAddress string `json:"privateIPAddress"`
				} `json:"properties"`
			} `json:"frontendIPConfigurations"`
		} `json:"properties"`
	}
	exists, err := f.readInto(ctx, caller, plan.LoadBalancerID(in, plan.InternalAPIServerLBName(lb)), &balancer)
	if err != nil || !exists {
		return nil, err
	}
	names := map[string]string{}
	for _, frontend := range balancer.Properties.Frontends {
		names[plan.NormalizeAddress(frontend.Properties.PrivateIPAddress)] = frontend.Name
	}
	return names, nil
}

// readVM returns whether the machine's VM exists, the principal of its system-assigned identity, and its power state. fresh asks for the
// power state as it is now.
func (f *Facts) readVM(ctx context.Context, caller Caller, in plan.MachineInput, fresh bool) (exists bool, principal, power string, err error) {
	var vm struct {
		Identity struct {
			PrincipalID string `json:"principalId"`
		} `json:"identity"`
		Properties struct {
			InstanceView json.RawMessage `json:"instanceView"`
		} `json:"properties"`
	}
	id := plan.VMID(in)
	exists, err = f.readInto(ctx, caller, id, &vm)
	view := vm.Properties.InstanceView
	// The answer to a write has no instance view. A list may be outdated, and a machine that seems deleted would be replaced.
	hidden := exists && fresh || exists && len(view) == 0 && (in.AzureMachine.Spec.SpotVMOptions != nil || wasLastSeenStopped(in.AzureMachine))
	if gone := !exists && in.AzureMachine.Spec.ProviderID != nil; err == nil && (hidden || gone) {
		row, typeErr := types.ForID(id)
		if typeErr != nil {
			return false, "", "", typeErr
		}
		response, getErr := caller.Client.Get(ctx, id, row.APIVersion, row.GetQuery)
		if arm.IsNotFound(getErr) {
			return false, "", "", nil
		}
		if getErr != nil {
			return false, "", "", getErr
		}
		exists, err = true, json.Unmarshal(response.Body, &vm)
		view = vm.Properties.InstanceView
	}
	if err != nil {
		return false, "", "", arm.AddSubject("GET "+id.ShortName(), err)
	}
	return exists, vm.Identity.PrincipalID, plan.PowerState(view), nil
}

// isAddressDetached reports whether the first interface of a control-plane machine exists without the machine's public address. Only
// machines that may have been migrated are checked.
func (f *Facts) isAddressDetached(ctx context.Context, caller Caller, in plan.MachineInput) (bool, error) {
	if !in.ControlPlane || !in.AzureMachine.Spec.AllocatePublicIP || applied.ReadDifferences(in.AzureMachine.Annotations).IsCreatedHere() {
		return false, nil
	}
	var nic struct {
		Properties struct {
			IPConfigurations []struct {
				Properties struct {
					PublicIPAddress json.RawMessage `json:"publicIPAddress"`
				} `json:"properties"`
			} `json:"ipConfigurations"`
		} `json:"properties"`
	}
	name := plan.NICName(in, 0, max(1, len(in.AzureMachine.Spec.NetworkInterfaces)))
	exists, err := f.readInto(ctx, caller, plan.NICID(in, name), &nic)
	for _, configuration := range nic.Properties.IPConfigurations {
		exists = exists && len(configuration.Properties.PublicIPAddress) == 0
	}
	return exists, err
}

// wasLastSeenStopped reports whether the VM was stopped when it was last read. Only a read with the power state proves that it was
// started again.
func wasLastSeenStopped(azureMachine *infrav1.AzureMachine) bool {
	running := meta.FindStatusCondition(azureMachine.Status.Conditions, infrav1.VMRunningCondition)
	return running != nil && running.Reason == infrav1.VMStoppedReason
}

// isEmptyExcept reports whether an availability set exists and contains no other VM.
func (f *Facts) isEmptyExcept(ctx context.Context, caller Caller, set, vm arm.ID) (bool, error) {
	var observed struct {
		Properties struct {
			VirtualMachines []struct {
				ID arm.ID `json:"id"`
			} `json:"virtualMachines"`
		} `json:"properties"`
	}
	exists, err := f.readInto(ctx, caller, set, &observed)
	for _, member := range observed.Properties.VirtualMachines {
		exists = exists && member.ID.Equal(vm)
	}
	return exists, err
}

// reserveSSHPort returns the front-end port of the machine's inbound NAT rule, 0 if it has none.
func (f *Facts) reserveSSHPort(ctx context.Context, caller Caller, in plan.MachineInput) (int32, error) {
	rule, ok := machineNATRule(in)
	if !ok {
		return 0, nil
	}
	type portRule struct {
		Name       string `json:"name"`
		Properties struct {
			FrontendPort int32 `json:"frontendPort"`
		} `json:"properties"`
	}
	var balancer struct {
		Properties struct {
			InboundNATRules    []portRule `json:"inboundNatRules"`
			LoadBalancingRules []portRule `json:"loadBalancingRules"`
		} `json:"properties"`
	}
	if _, err := f.readInto(ctx, caller, rule.Parent(), &balancer); err != nil {
		return 0, err
	}
	taken := map[int32]string{}
	for _, port := range in.AzureCluster.Spec.NetworkSpec.AdditionalAPIServerLBPorts {
		taken[port.Port] = ""
	}
	for _, other := range balancer.Properties.LoadBalancingRules {
		taken[other.Properties.FrontendPort] = ""
	}
	for _, other := range balancer.Properties.InboundNATRules {
		taken[other.Properties.FrontendPort] = other.Name
	}
	return f.ports.reservePort(rule.Parent(), rule.Name(), taken), nil
}

// ReleaseMachine releases the port that MachineFacts reserved. Call it once the machine's NAT rule is deleted. Repeated calls, and
// calls for machines without a reservation, have no effect.
func (f *Facts) ReleaseMachine(in plan.MachineInput) {
	if rule, ok := machineNATRule(in); ok {
		f.ports.releasePort(rule.Parent(), rule.Name())
	}
}

// machineNATRule returns the inbound NAT rule of the machine. ok is false if it has none. Only control-plane machines behind a
// public load balancer have one.
func machineNATRule(in plan.MachineInput) (id arm.ID, ok bool) {
	id, ok = plan.NATRuleID(in)
	return id, ok && in.ControlPlane && in.AzureCluster.Spec.NetworkSpec.APIServerLB.Type != infrav1.Internal
}

// ReadUserAssignedClientID returns the client ID of a user-assigned managed identity, for azure.json. providerID is its resource ID,
// with or without "azure://", in any subscription. An invalid ID or an absent identity is a *field.Error on
// path.
func (f *Facts) ReadUserAssignedClientID(ctx context.Context, caller Caller, path *field.Path,
	providerID string) (string, error) {
	id, err := arm.ParseID(providerID)
	if err != nil || !strings.EqualFold(id.Type(), types.UserAssignedIdentity) {
		return "", field.Invalid(path, providerID,
			"is not the ID of a user-assigned identity: want azure:///subscriptions/<id>/resourceGroups/<name>/providers/"+types.UserAssignedIdentity+"/<name>")
	}
	var identity struct {
		Properties struct {
			ClientID string `json:"clientId"`
		} `json:"properties"`
	}
	exists, err := f.readInto(ctx, caller, id, &identity)
	switch {
	case err != nil:
		return "", fmt.Errorf("client ID of the user-assigned identity: %w", err)
	case !exists:
		return "", field.Invalid(path, providerID, "the identity does not exist in Azure. Create it, or choose another identity")
	case identity.Properties.ClientID == "":
		return "", fmt.Errorf("client ID of the user-assigned identity: Azure shows none for %s", id)
	}
	return identity.Properties.ClientID, nil
}
