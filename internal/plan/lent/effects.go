package lent

import "strings"

// scope is the set of resources that a resource of a type can affect.
type scope int

const (
	// onlyNamed are the parents of the resource and the resources that its body names by ID.
	onlyNamed scope = iota
	// namedAndNetworks are the same, for a type that may also join networks and subnets of others. Joining a network takes
	// an address in it and changes nothing for its other members.
	namedAndNetworks
	// atAndBelowScope are all resources at or below the scope that the resource is assigned to.
	atAndBelowScope
	// unbounded means any resource: the type changes resources that it does not name by ID.
	unbounded
)

// typeEffect is the scope of a resource type and its reason.
type typeEffect struct {
	scope  scope
	reason string
}

// effects has every type that plans can contain, in lower case. Other types are denied.
// https://learn.microsoft.com/en-us/azure/templates/ has the properties of each.
var effects = toLowerKeys(map[string]typeEffect{
	"Microsoft.Authorization/locks": {onlyNamed,
		"a lock prevents changes of the resource that it is on, so that resource has to be the Cluster's"},
	"Microsoft.Authorization/roleAssignments": {atAndBelowScope, "a role gives its principal rights at its scope"},
	"Microsoft.Authorization/roleDefinitions": {atAndBelowScope, "a role can be assigned at its scopes, which its body names"},

	"Microsoft.Compute/availabilitySets": {onlyNamed, "it places VMs that name it"},
	"Microsoft.Compute/capacityReservationGroups": {onlyNamed,
		"it reserves capacity, and shares it with subscriptions that its body names"},
	"Microsoft.Compute/capacityReservationGroups/capacityReservations": {onlyNamed, "it reserves capacity for its group"},
	"Microsoft.Compute/diskAccesses":                                   {onlyNamed, "it is reached by private endpoints that name it"},
	"Microsoft.Compute/diskEncryptionSets":                             {onlyNamed, "it encrypts with a key of the vault that its body names"},
	"Microsoft.Compute/disks": {onlyNamed,
		"it has the content of what its body names: another disk, a snapshot, an image or a blob"},
	"Microsoft.Compute/galleries":        {onlyNamed, "it holds images and shares them"},
	"Microsoft.Compute/galleries/images": {onlyNamed, "it describes images of its gallery"},
	"Microsoft.Compute/galleries/images/versions": {onlyNamed,
		"it has the content of the disks, images and VMs that its body names"},
	"Microsoft.Compute/hostGroups":       {onlyNamed, "it holds hosts"},
	"Microsoft.Compute/hostGroups/hosts": {onlyNamed, "it runs VMs that name it"},
	"Microsoft.Compute/images": {onlyNamed,
		"it has the content of the VM, disks or blobs that its body names"},
	"Microsoft.Compute/proximityPlacementGroups": {onlyNamed, "it places VMs that name it"},
	"Microsoft.Compute/snapshots": {onlyNamed,
		"it has the content of the disk or snapshot that its body names"},
	"Microsoft.Compute/sshPublicKeys": {onlyNamed, "it holds a public key"},
	"Microsoft.Compute/virtualMachineScaleSets": {namedAndNetworks,
		"its VMs join networks, and act as the identities that its body names"},
	"Microsoft.Compute/virtualMachineScaleSets/extensions":      {onlyNamed, "it runs a program in the VMs of its scale set"},
	"Microsoft.Compute/virtualMachineScaleSets/virtualMachines": {namedAndNetworks, "it is a VM of its scale set"},
	"Microsoft.Compute/virtualMachines": {namedAndNetworks,
		"it joins networks by its interfaces, and acts as the identities that its body names"},
	"Microsoft.Compute/virtualMachines/extensions":  {onlyNamed, "it runs a program in its VM"},
	"Microsoft.Compute/virtualMachines/runCommands": {onlyNamed, "it runs a script in its VM"},

	"Microsoft.ContainerRegistry/registries": {namedAndNetworks,
		"it gives access to the subnets that its body names, and acts as its identities"},
	"Microsoft.ContainerService/aiManagers": {namedAndNetworks,
		"it joins networks, and acts as the identities that its body names"},
	"Microsoft.ContainerService/aiManagers/modelSources":                {onlyNamed, "it describes models of its manager"},
	"Microsoft.ContainerService/aiManagers/namespaces":                  {onlyNamed, "it is a part of its manager"},
	"Microsoft.ContainerService/aiManagers/namespaces/modelDeployments": {onlyNamed, "it runs a model in its namespace"},
	"Microsoft.ContainerService/fleets": {namedAndNetworks,
		"its hub joins networks, and acts as the identities that its body names"},
	"Microsoft.ContainerService/fleets/autoUpgradeProfiles": {onlyNamed, "it upgrades the members of its fleet"},
	"Microsoft.ContainerService/fleets/members": {onlyNamed,
		"it gives its fleet rights on the AKS cluster that its body names"},
	"Microsoft.ContainerService/fleets/updateRuns":              {onlyNamed, "it upgrades the members of its fleet"},
	"Microsoft.ContainerService/fleets/updateStrategies":        {onlyNamed, "it orders the members of its fleet"},
	"Microsoft.ContainerService/locations/aiModels":             {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/locations/guardrailsVersions":   {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/locations/meshRevisionProfiles": {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/locations/safeguardsVersions":   {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/maintenanceWindows":             {onlyNamed, "it is a schedule of maintenance windows for the AKS clusters that refer to it"},
	"Microsoft.ContainerService/managedClusters": {namedAndNetworks,
		"its nodes join networks, and it acts as the identities that its body names"},
	"Microsoft.ContainerService/managedClusters/agentPools":                 {namedAndNetworks, "its nodes join networks"},
	"Microsoft.ContainerService/managedClusters/agentPools/machines":        {namedAndNetworks, "it is a node of its pool"},
	"Microsoft.ContainerService/managedClusters/agentPools/upgradeProfiles": {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/managedClusters/alertConfigurations": {onlyNamed,
		"it sends alerts of its cluster to what its body names"},
	"Microsoft.ContainerService/managedClusters/identityBindings": {onlyNamed,
		"it lets pods of its cluster act as the identity that its body names"},
	"Microsoft.ContainerService/managedClusters/jwtAuthenticators":         {onlyNamed, "it lets users of an issuer into its cluster"},
	"Microsoft.ContainerService/managedClusters/loadBalancers":             {onlyNamed, "it places services of its cluster"},
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations": {onlyNamed, "it is a schedule of maintenance windows of its cluster"},
	"Microsoft.ContainerService/managedClusters/managedNamespaces":         {onlyNamed, "it is a namespace of its cluster"},
	"Microsoft.ContainerService/managedClusters/meshMemberships": {onlyNamed,
		"it joins its cluster to the mesh that its body names"},
	"Microsoft.ContainerService/managedClusters/meshUpgradeProfiles":        {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/managedClusters/privateEndpointConnections": {onlyNamed, "it accepts or refuses an endpoint of its cluster"},
	"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings": {onlyNamed,
		"it gives the resource that its body names rights in its cluster"},
	"Microsoft.ContainerService/managedClusters/upgradeProfiles": {onlyNamed, "it is only read"},
	"Microsoft.ContainerService/managedclustersnapshots": {onlyNamed,
		"it has the settings of the AKS cluster that its body names"},
	"Microsoft.ContainerService/preparedImageSpecifications": {onlyNamed,
		"its image is built as the identities that its body names"},
	"Microsoft.ContainerService/preparedImageSpecifications/versions": {onlyNamed, "it is a version of its image"},
	"Microsoft.ContainerService/snapshots": {onlyNamed,
		"it has the settings of the agent pool that its body names"},

	"Microsoft.Insights/dataCollectionEndpoints": {onlyNamed, "it receives data of the resources that name it"},
	"Microsoft.Insights/dataCollectionRuleAssociations": {onlyNamed,
		"it collects data of its parent resource by the rule that its body names"},
	"Microsoft.Insights/dataCollectionRules": {onlyNamed,
		"it writes data to the workspaces and accounts that its body names"},
	"Microsoft.KeyVault/vaults": {namedAndNetworks,
		"it gives access to the subnets that its body names"},
	"Microsoft.KeyVault/vaults/accessPolicies":                                      {onlyNamed, "it gives principals rights in its vault"},
	"Microsoft.KeyVault/vaults/keys":                                                {onlyNamed, "it is a key of its vault"},
	"Microsoft.KeyVault/vaults/secrets":                                             {onlyNamed, "it is a secret of its vault"},
	"Microsoft.KubernetesConfiguration/extensions":                                  {onlyNamed, "it runs a program in its AKS cluster"},
	"Microsoft.KubernetesConfiguration/fluxConfigurations":                          {onlyNamed, "it applies objects in its AKS cluster"},
	"Microsoft.KubernetesConfiguration/sourceControlConfigurations":                 {onlyNamed, "it applies objects in its AKS cluster"},
	"Microsoft.ManagedIdentity/identities":                                          {onlyNamed, "it is only read"},
	"Microsoft.ManagedIdentity/userAssignedIdentities":                              {onlyNamed, "it has no rights of itself"},
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials": {onlyNamed, "it lets an issuer sign in as its identity"},
	"Microsoft.Monitor/accounts":                                                    {onlyNamed, "it receives data of the resources that name it"},

	"Microsoft.Network/applicationSecurityGroups": {onlyNamed, "it groups interfaces that name it"},
	"Microsoft.Network/bastionHosts":              {namedAndNetworks, "it joins the subnet that its body names"},
	"Microsoft.Network/ddosProtectionPlans":       {onlyNamed, "it protects networks that name it"},
	"Microsoft.Network/loadBalancers": {namedAndNetworks,
		"its frontends join subnets, and its pools hold addresses of networks that its body names"},
	"Microsoft.Network/loadBalancers/backendAddressPools": {namedAndNetworks, "it holds addresses of networks that its body names"},
	"Microsoft.Network/loadBalancers/inboundNatRules":     {onlyNamed, "it is a rule of its load balancer"},
	"Microsoft.Network/natGateways": {onlyNamed,
		"subnets that name it use it, and it may change the network that its body names"},
	"Microsoft.Network/networkInterfaces":                   {namedAndNetworks, "it joins the subnet that its body names"},
	"Microsoft.Network/networkSecurityGroups":               {onlyNamed, "subnets and interfaces that name it use it"},
	"Microsoft.Network/networkSecurityGroups/securityRules": {onlyNamed, "it is a rule of its group"},
	"Microsoft.Network/privateDnsZones":                     {onlyNamed, "networks use it that are linked to it"},
	"Microsoft.Network/privateDnsZones/A":                   {onlyNamed, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/AAAA":                {onlyNamed, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/CNAME":               {onlyNamed, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/TXT":                 {onlyNamed, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/virtualNetworkLinks": {onlyNamed,
		"it changes DNS resolution in the network that its body names, for all that is connected to it"},
	"Microsoft.Network/privateEndpoints": {namedAndNetworks,
		"it joins a subnet, and connects to the service that its body names"},
	"Microsoft.Network/privateEndpoints/privateDnsZoneGroups": {onlyNamed, "it writes records into the zones that its body names"},
	"Microsoft.Network/privateLinkServices": {namedAndNetworks,
		"it joins subnets, and leads to the frontends that its body names"},
	"Microsoft.Network/publicIPAddresses":  {onlyNamed, "resources that refer to it use it"},
	"Microsoft.Network/publicIPPrefixes":   {onlyNamed, "resources that refer to it use it"},
	"Microsoft.Network/routeTables":        {onlyNamed, "subnets that name it use it"},
	"Microsoft.Network/routeTables/routes": {onlyNamed, "it is a route of its table"},
	"Microsoft.Network/virtualNetworks":    {onlyNamed, "resources that name it join it"},
	"Microsoft.Network/virtualNetworks/subnets": {namedAndNetworks,
		"it may be created in a network to join, with security group, route table and gateway that its body names"},
	"Microsoft.Network/virtualNetworks/virtualNetworkPeerings": {onlyNamed,
		"it changes the routes of its network and of the one that its body names"},

	"Microsoft.OperationalInsights/workspaces": {onlyNamed, "it receives data of the resources that name it"},
	"Microsoft.Resources/deployments":          {unbounded, "the template of a deployment creates resources in any group or subscription"},
	"Microsoft.Resources/resourceGroups":       {onlyNamed, "it holds resources"},
	"Microsoft.Resources/tags":                 {unbounded, "the tags of a resource mark its owner"},
	"Microsoft.Storage/storageAccounts":        {namedAndNetworks, "it gives access to the subnets that its body names"},
})

func toLowerKeys(types map[string]typeEffect) map[string]typeEffect {
	out := make(map[string]typeEffect, len(types))
	for name, row := range types {
		out[strings.ToLower(name)] = row
	}
	return out
}

// UnboundedReason returns why resources of a type may change resources that neither their ID nor their body names; "" if
// they do not. A manifest of such a type is refused with every identity.
func UnboundedReason(resourceType string) string {
	row, known := effects[strings.ToLower(resourceType)]
	switch {
	case !known:
		return "the provider does not know what resources of this type change"
	case row.scope == unbounded:
		return row.reason
	}
	return ""
}
