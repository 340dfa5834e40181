package cloudconfig

import (
	"cmp"
	"encoding/json"
	"fmt"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Fixed values of the configuration.
const (
	vmType                       = "vmss"
	maximumLoadBalancerRuleCount = 250
)

// Input is the input of azure.json.
type Input struct {
	plan.ClusterInput

	// Identity is the kind of identity of the machines.
	Identity infrav1.VMIdentity

	// TenantID, ClientID and ClientSecret are those of the cluster's AzureClusterIdentity. The secret is "" for kinds of
	// identities without one.
	TenantID, ClientID, ClientSecret string

	// UserAssignedClientID is the client ID of the first user-assigned identity of the machines.
	UserAssignedClientID string
}

// config is azure.json. The fields are in the order of the file. The keys are those of
// https://cloud-provider-azure.sigs.k8s.io/install/configs/
type config struct {
	Cloud                        string `json:"cloud"`
	TenantID                     string `json:"tenantId"`
	SubscriptionID               string `json:"subscriptionId"`
	AADClientID                  string `json:"aadClientId,omitempty"`
	AADClientSecret              string `json:"aadClientSecret,omitempty"`
	ResourceGroup                string `json:"resourceGroup"`
	SecurityGroupName            string `json:"securityGroupName"`
	SecurityGroupResourceGroup   string `json:"securityGroupResourceGroup"`
	Location                     string `json:"location"`
	ExtendedLocationType         string `json:"extendedLocationType,omitempty"`
	ExtendedLocationName         string `json:"extendedLocationName,omitempty"`
	VMType                       string `json:"vmType"`
	VNetName                     string `json:"vnetName"`
	VNetResourceGroup            string `json:"vnetResourceGroup"`
	SubnetName                   string `json:"subnetName"`
	RouteTableName               string `json:"routeTableName"`
	LoadBalancerSKU              string `json:"loadBalancerSku"`
	LoadBalancerName             string `json:"loadBalancerName"`
	MaximumLoadBalancerRuleCount int    `json:"maximumLoadBalancerRuleCount"`
	UseManagedIdentityExtension  bool   `json:"useManagedIdentityExtension"`
	UseInstanceMetadata          bool   `json:"useInstanceMetadata"`
	EnableVMSSFlexNodes          bool   `json:"enableVmssFlexNodes,omitempty"`
	UserAssignedIdentityID       string `json:"userAssignedIdentityID,omitempty"`
	rateLimit
	RouteRateLimit                  *rateLimit `json:"routeRateLimit,omitempty"`
	SubnetsRateLimit                *rateLimit `json:"subnetsRateLimit,omitempty"`
	InterfaceRateLimit              *rateLimit `json:"interfaceRateLimit,omitempty"`
	RouteTableRateLimit             *rateLimit `json:"routeTableRateLimit,omitempty"`
	LoadBalancerRateLimit           *rateLimit `json:"loadBalancerRateLimit,omitempty"`
	PublicIPAddressRateLimit        *rateLimit `json:"publicIPAddressRateLimit,omitempty"`
	SecurityGroupRateLimit          *rateLimit `json:"securityGroupRateLimit,omitempty"`
	VirtualMachineRateLimit         *rateLimit `json:"virtualMachineRateLimit,omitempty"`
	StorageAccountRateLimit         *rateLimit `json:"storageAccountRateLimit,omitempty"`
	DiskRateLimit                   *rateLimit `json:"diskRateLimit,omitempty"`
	SnapshotRateLimit               *rateLimit `json:"snapshotRateLimit,omitempty"`
	VirtualMachineScaleSetRateLimit *rateLimit `json:"virtualMachineScaleSetRateLimit,omitempty"`
	VirtualMachineSizesRateLimit    *rateLimit `json:"virtualMachineSizesRateLimit,omitempty"`
	AvailabilitySetRateLimit        *rateLimit `json:"availabilitySetRateLimit,omitempty"`
	backOff
}

// BuildAzureJSON returns azure.json for control-plane machines and for workers, which are the same today. The error is a
// user-assigned identity that does not exist in Azure, or an unknown name of a rate limit.
func BuildAzureJSON(in Input) (controlPlane, worker []byte, err error) {
	spec := in.AzureCluster.Spec
	out := config{
		Cloud:                        cmp.Or(spec.AzureEnvironment, infrav1.PublicCloud),
		TenantID:                     in.TenantID,
		SubscriptionID:               in.SubscriptionID,
		AADClientID:                  in.ClientID,
		AADClientSecret:              in.ClientSecret,
		ResourceGroup:                plan.ResourceGroup(in.ClusterInput),
		SecurityGroupResourceGroup:   plan.VNetResourceGroup(in.ClusterInput),
		Location:                     plan.Location(in.ClusterInput),
		VMType:                       vmType,
		VNetName:                     plan.VNetName(in.ClusterInput),
		VNetResourceGroup:            plan.VNetResourceGroup(in.ClusterInput),
		LoadBalancerSKU:              string(infrav1.SKUStandard),
		MaximumLoadBalancerRuleCount: maximumLoadBalancerRuleCount,
		UseInstanceMetadata:          true,
		EnableVMSSFlexNodes:          in.Features.MachinePool,
	}
	if location := spec.ExtendedLocation; location != nil {
		out.ExtendedLocationType, out.ExtendedLocationName = location.Type, location.Name
	}
	for _, subnet := range spec.NetworkSpec.Subnets {
		if subnet.Role == infrav1.SubnetNode || subnet.Role == infrav1.SubnetCluster {
			out.SubnetName, out.SecurityGroupName, out.RouteTableName = subnet.Name, subnet.SecurityGroup.Name, subnet.RouteTable.Name
			break
		}
	}
	if lb := spec.NetworkSpec.NodeOutboundLB; lb != nil {
		out.LoadBalancerName = lb.Name
	}
	if err := out.setIdentity(in); err != nil {
		return nil, nil, err
	}
	if overrides := spec.CloudProviderConfigOverrides; overrides != nil {
		if err := out.applyOverrides(overrides); err != nil {
			return nil, nil, err
		}
	}
	raw, err := json.MarshalIndent(out, "", "    ")
	if err != nil {
		return nil, nil, fmt.Errorf("azure.json: %w", err)
	}
	return raw, raw, nil
}

// setIdentity chooses how cloud-provider-azure signs in: as the cluster's identity, or as the machine's.
func (c *config) setIdentity(in Input) error {
	switch in.Identity {
	case infrav1.VMIdentitySystemAssigned, infrav1.VMIdentityUserAssigned:
		c.AADClientID, c.AADClientSecret = "", ""
		c.UseManagedIdentityExtension = true
	}
	if in.Identity == infrav1.VMIdentityUserAssigned {
		if in.UserAssignedClientID == "" {
			return fmt.Errorf("spec.userAssignedIdentities: the first identity has no client ID: check that it exists")
		}
		c.UserAssignedIdentityID = in.UserAssignedClientID
	}
	return nil
}
