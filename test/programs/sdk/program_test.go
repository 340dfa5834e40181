package sdk_test

import (
	"context"
	"fmt"
	"path"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/arm"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/authorization/armauthorization/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v8"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/msi/armmsi"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v11"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources/v3"

	"sigs.k8s.io/cluster-api-provider-azure/test/programs/neighbor"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// program has the clients of a program that is written with the SDK.
type program struct {
	subscription string
	compute      *armcompute.ClientFactory
	network      *armnetwork.ClientFactory
	resources    *armresources.ClientFactory
	identities   *armmsi.ClientFactory
	roles        *armauthorization.ClientFactory
	aks          *armcontainerservice.ClientFactory
	// principal is the identity that the program creates.
	principal *string
}

func newProgram(c *neighbor.Cluster) (p *program, err error) {
	user := virtual.UserTransport{Scenario: c.Scenario}
	var credential azcore.TokenCredential = user
	options := &arm.ClientOptions{ClientOptions: policy.ClientOptions{Transport: user}}
	p = &program{subscription: c.Azure.SubscriptionID}
	if p.compute, err = armcompute.NewClientFactory(p.subscription, credential, options); err != nil {
		return nil, err
	}
	if p.network, err = armnetwork.NewClientFactory(p.subscription, credential, options); err != nil {
		return nil, err
	}
	if p.resources, err = armresources.NewClientFactory(p.subscription, credential, options); err != nil {
		return nil, err
	}
	if p.identities, err = armmsi.NewClientFactory(p.subscription, credential, options); err != nil {
		return nil, err
	}
	if p.roles, err = armauthorization.NewClientFactory(p.subscription, credential, options); err != nil {
		return nil, err
	}
	p.aks, err = armcontainerservice.NewClientFactory(p.subscription, credential, options)
	return p, err
}

func (p *program) listSteps() []step {
	return []step{
		{"armresources v3", p.useResources, []string{"PUT resourcegroups/" + otherGroup}},
		{"armmsi", p.useIdentities, []string{"PUT resourceGroups/" + otherGroup + "/Microsoft.ManagedIdentity/userAssignedIdentities/program"}},
		{"armauthorization v2", p.useRoles, []string{"PUT " + inGroup + "Microsoft.Authorization/roleAssignments/" + assignment}},
		{"armcompute v8", p.useCompute, []string{"PUT " + compute + "disks/data", "POST " + compute + "virtualMachines/" + neighbor.Machine +
			"/attachDetachDataDisks"}},
		{"armnetwork v11", p.useNetwork, []string{"PUT " + network + "publicIPAddresses/program", "PUT " + network + "networkInterfaces/program"}},
		{"armcontainerservice v8", p.useAKS, nil},
	}
}

func finish[T any](ctx context.Context, poller *runtime.Poller[T], err error) error {
	if err == nil {
		_, err = poller.PollUntilDone(ctx, nil)
	}
	return err
}

// listNames reads all pages of a list.
func listNames[P any](ctx context.Context, pager *runtime.Pager[P], names func(P) []string) (out []string, err error) {
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, names(page)...)
	}
	return out, nil
}

func namesOf[T any](items []*T, name func(*T) *string) (out []string) {
	for _, item := range items {
		out = append(out, *name(item))
	}
	return out
}

func (p *program) useResources(ctx context.Context) error {
	groups := p.resources.NewResourceGroupsClient()
	if _, err := groups.Get(ctx, neighbor.Group, nil); err != nil {
		return err
	}
	if _, err := groups.CreateOrUpdate(ctx, otherGroup, armresources.ResourceGroup{Location: new("eastus")}, nil); err != nil {
		return err
	}
	names, err := listNames(ctx, p.resources.NewClient().NewListByResourceGroupPager(neighbor.Group, nil),
		func(page armresources.ClientListByResourceGroupResponse) []string {
			return namesOf(page.Value, func(r *armresources.GenericResourceExpanded) *string { return r.Name })
		})
	if err != nil {
		return err
	}
	return expectNames("resources of the group", names, []string{neighbor.Machine, neighbor.Pool, "c1-vnet"})
}

func (p *program) useIdentities(ctx context.Context) error {
	made, err := p.identities.NewUserAssignedIdentitiesClient().CreateOrUpdate(ctx, otherGroup, "program", armmsi.Identity{Location: new("eastus")}, nil)
	if err != nil {
		return err
	}
	if made.Properties == nil || made.Properties.PrincipalID == nil {
		return errMissing
	}
	p.principal = made.Properties.PrincipalID
	return nil
}

// assignment is the name of a role assignment, and contributor the built-in role.
const (
	assignment  = "5f0c1a52-6f0e-4d0b-8a3c-0a4f3a1d2b3c"
	contributor = "b24988ac-6180-42a0-ab88-20f7382dd24c"
)

func (p *program) useRoles(ctx context.Context) error {
	scope := "/subscriptions/" + p.subscription + "/resourceGroups/" + neighbor.Group
	assignments := p.roles.NewRoleAssignmentsClient()
	if _, err := assignments.Create(ctx, scope, assignment, armauthorization.RoleAssignmentCreateParameters{
		Properties: &armauthorization.RoleAssignmentProperties{PrincipalID: p.principal, PrincipalType: new(armauthorization.PrincipalTypeServicePrincipal),
			RoleDefinitionID: new("/subscriptions/" + p.subscription + "/providers/Microsoft.Authorization/roleDefinitions/" + contributor)}}, nil); err != nil {
		return err
	}
	names, err := listNames(ctx, assignments.NewListForScopePager(scope, nil), func(page armauthorization.RoleAssignmentsClientListForScopeResponse) []string {
		return namesOf(page.Value, func(r *armauthorization.RoleAssignment) *string { return r.Name })
	})
	if err != nil {
		return err
	}
	return expectNames("role assignments", names, []string{assignment})
}

// useCompute attaches a disk to the machine, which stays attached when the cluster is deleted, and reads VMs and the scale set.
func (p *program) useCompute(ctx context.Context) error {
	poller, err := p.compute.NewDisksClient().BeginCreateOrUpdate(ctx, neighbor.Group, "data", armcompute.Disk{Location: new("eastus"),
		SKU: &armcompute.DiskSKU{Name: new(armcompute.DiskStorageAccountTypesPremiumLRS)}, Properties: &armcompute.DiskProperties{
			CreationData: &armcompute.CreationData{CreateOption: new(armcompute.DiskCreateOptionEmpty)}, DiskSizeGB: new(int32(8))}}, nil)
	if err := finish(ctx, poller, err); err != nil {
		return err
	}
	disk := "/subscriptions/" + p.subscription + "/resourceGroups/" + neighbor.Group + "/providers/Microsoft.Compute/disks/data"
	vms := p.compute.NewVirtualMachinesClient()
	attached, err := vms.BeginAttachDetachDataDisks(ctx, neighbor.Group, neighbor.Machine, armcompute.AttachDetachDataDisksRequest{
		DataDisksToAttach: []*armcompute.DataDisksToAttach{{DiskID: &disk}}}, nil)
	if err := finish(ctx, attached, err); err != nil {
		return err
	}
	vm, err := vms.Get(ctx, neighbor.Group, neighbor.Machine,
		&armcompute.VirtualMachinesClientGetOptions{Expand: new(armcompute.InstanceViewTypesInstanceView)})
	if err != nil {
		return err
	}
	if len(vm.Properties.StorageProfile.DataDisks) != 1 || len(vm.Properties.InstanceView.Statuses) == 0 {
		return fmt.Errorf("the machine: %w", errMissing)
	}
	set, err := p.compute.NewVirtualMachineScaleSetsClient().Get(ctx, neighbor.Group, neighbor.Pool, nil)
	if err != nil {
		return err
	}
	instances, err := listNames(ctx, p.compute.NewVirtualMachineScaleSetVMsClient().NewListPager(neighbor.Group, neighbor.Pool, nil),
		func(page armcompute.VirtualMachineScaleSetVMsClientListResponse) []string {
			return namesOf(page.Value, func(v *armcompute.VirtualMachineScaleSetVM) *string { return v.InstanceID })
		})
	if err == nil && int64(len(instances)) != *set.SKU.Capacity {
		err = fmt.Errorf("%d instances: %w", len(instances), errMissing)
	}
	return err
}

// useNetwork creates an interface in the subnet of the nodes, with a public address.
func (p *program) useNetwork(ctx context.Context) error {
	vnet, err := p.network.NewVirtualNetworksClient().Get(ctx, neighbor.Group, "c1-vnet", nil)
	if err != nil {
		return err
	}
	var subnet *string
	for _, s := range vnet.Properties.Subnets {
		if path.Base(*s.ID) == "c1-node-subnet" {
			subnet = s.ID
		}
	}
	if subnet == nil {
		return fmt.Errorf("the subnet: %w", errMissing)
	}
	poller, err := p.network.NewPublicIPAddressesClient().BeginCreateOrUpdate(ctx, neighbor.Group, "program", armnetwork.PublicIPAddress{
		Location: new("eastus"), SKU: &armnetwork.PublicIPAddressSKU{Name: new(armnetwork.PublicIPAddressSKUNameStandard)},
		Properties: &armnetwork.PublicIPAddressPropertiesFormat{PublicIPAllocationMethod: new(armnetwork.IPAllocationMethodStatic)}}, nil)
	if err := finish(ctx, poller, err); err != nil {
		return err
	}
	address := path.Dir(path.Dir(*vnet.ID)) + "/publicIPAddresses/program"
	created, err := p.network.NewInterfacesClient().BeginCreateOrUpdate(ctx, neighbor.Group, "program", armnetwork.Interface{Location: new("eastus"),
		Properties: &armnetwork.InterfacePropertiesFormat{IPConfigurations: []*armnetwork.InterfaceIPConfiguration{{Name: new("first"),
			Properties: &armnetwork.InterfaceIPConfigurationPropertiesFormat{Subnet: &armnetwork.Subnet{ID: subnet},
				PublicIPAddress: &armnetwork.PublicIPAddress{ID: &address}}}}}}, nil)
	return finish(ctx, created, err)
}

func (p *program) useAKS(ctx context.Context) error {
	names, err := listNames(ctx, p.aks.NewManagedClustersClient().NewListPager(nil), func(page armcontainerservice.ManagedClustersClientListResponse) []string {
		return namesOf(page.Value, func(m *armcontainerservice.ManagedCluster) *string { return m.Name })
	})
	if err == nil && len(names) != 0 {
		err = fmt.Errorf("AKS clusters %q, want none", names)
	}
	return err
}
