package lent

import "strings"

// reach is how far the effects of a resource type go.
type reach int

const (
	// named effects reach what the resource is below and what its body names by ID, and nothing else.
	named reach = iota
	// joined effects are named ones of a type that may also join networks and subnets of others. Whoever joins a network gets an address
	// in it and changes nothing for those who are in it.
	joined
	// rights reach everything at or below the scope that the resource is below.
	rights
	// anything may be reached: the type changes resources that it names otherwise than by ID, or not at all.
	anything
)

// effect is how far the effects of a resource type go and why.
type effect struct {
	reaches reach
	reason  string
}

// effects has every type that plans can have, in lower case. A type that is not in it is denied.
// https://learn.microsoft.com/en-us/azure/templates/ has the properties of each.
var effects = lower(map[string]effect{
	"Microsoft.Authorization/locks":           {named, "a lock keeps what it is on from being changed, so it has to be below what is the Cluster's"},
	"Microsoft.Authorization/roleAssignments": {rights, "a role gives its principal rights at its scope"},
	"Microsoft.Authorization/roleDefinitions": {rights, "a role can be assigned at its scopes, which its body names"},

	"Microsoft.Compute/availabilitySets":                               {named, "it places VMs that name it"},
	"Microsoft.Compute/capacityReservationGroups":                      {named, "it reserves capacity, and shares it with subscriptions that its body names"},
	"Microsoft.Compute/capacityReservationGroups/capacityReservations": {named, "it reserves capacity for its group"},
	"Microsoft.Compute/diskAccesses":                                   {named, "it is reached by private endpoints that name it"},
	"Microsoft.Compute/diskEncryptionSets":                             {named, "it encrypts with a key of the vault that its body names"},
	"Microsoft.Compute/disks":                                          {named, "it has the content of what its body names: another disk, a snapshot, an image or a blob"},
	"Microsoft.Compute/galleries":                                      {named, "it holds images and shares them"},
	"Microsoft.Compute/galleries/images":                               {named, "it describes images of its gallery"},
	"Microsoft.Compute/galleries/images/versions":                      {named, "it has the content of the disks, images and VMs that its body names"},
	"Microsoft.Compute/hostGroups":                                     {named, "it holds hosts"},
	"Microsoft.Compute/hostGroups/hosts":                               {named, "it runs VMs that name it"},
	"Microsoft.Compute/images":                                         {named, "it has the content of the VM, disks or blobs that its body names"},
	"Microsoft.Compute/proximityPlacementGroups":                       {named, "it places VMs that name it"},
	"Microsoft.Compute/snapshots":                                      {named, "it has the content of the disk or snapshot that its body names"},
	"Microsoft.Compute/sshPublicKeys":                                  {named, "it holds a public key"},
	"Microsoft.Compute/virtualMachineScaleSets":                        {joined, "its VMs join networks, and act as the identities that its body names"},
	"Microsoft.Compute/virtualMachineScaleSets/extensions":             {named, "it runs a program in the VMs of its scale set"},
	"Microsoft.Compute/virtualMachineScaleSets/virtualMachines":        {joined, "it is a VM of its scale set"},
	"Microsoft.Compute/virtualMachines":                                {joined, "it joins networks by its interfaces, and acts as the identities that its body names"},
	"Microsoft.Compute/virtualMachines/extensions":                     {named, "it runs a program in its VM"},
	"Microsoft.Compute/virtualMachines/runCommands":                    {named, "it runs a script in its VM"},

	"Microsoft.ContainerRegistry/registries":                                {joined, "it lets subnets in that its body names, and acts as its identities"},
	"Microsoft.ContainerService/aiManagers":                                 {joined, "it joins networks, and acts as the identities that its body names"},
	"Microsoft.ContainerService/aiManagers/modelSources":                    {named, "it describes models of its manager"},
	"Microsoft.ContainerService/aiManagers/namespaces":                      {named, "it is a part of its manager"},
	"Microsoft.ContainerService/aiManagers/namespaces/modelDeployments":     {named, "it runs a model in its namespace"},
	"Microsoft.ContainerService/fleets":                                     {joined, "its hub joins networks, and acts as the identities that its body names"},
	"Microsoft.ContainerService/fleets/autoUpgradeProfiles":                 {named, "it upgrades the members of its fleet"},
	"Microsoft.ContainerService/fleets/members":                             {named, "it gives its fleet rights on the AKS cluster that its body names"},
	"Microsoft.ContainerService/fleets/updateRuns":                          {named, "it upgrades the members of its fleet"},
	"Microsoft.ContainerService/fleets/updateStrategies":                    {named, "it orders the members of its fleet"},
	"Microsoft.ContainerService/locations/aiModels":                         {named, "it is only read"},
	"Microsoft.ContainerService/locations/guardrailsVersions":               {named, "it is only read"},
	"Microsoft.ContainerService/locations/meshRevisionProfiles":             {named, "it is only read"},
	"Microsoft.ContainerService/locations/safeguardsVersions":               {named, "it is only read"},
	"Microsoft.ContainerService/maintenanceWindows":                         {named, "it holds times that AKS clusters name"},
	"Microsoft.ContainerService/managedClusters":                            {joined, "its nodes join networks, and it acts as the identities that its body names"},
	"Microsoft.ContainerService/managedClusters/agentPools":                 {joined, "its nodes join networks"},
	"Microsoft.ContainerService/managedClusters/agentPools/machines":        {joined, "it is a node of its pool"},
	"Microsoft.ContainerService/managedClusters/agentPools/upgradeProfiles": {named, "it is only read"},
	"Microsoft.ContainerService/managedClusters/alertConfigurations":        {named, "it sends alerts of its cluster to what its body names"},
	"Microsoft.ContainerService/managedClusters/identityBindings":           {named, "it lets pods of its cluster act as the identity that its body names"},
	"Microsoft.ContainerService/managedClusters/jwtAuthenticators":          {named, "it lets users of an issuer into its cluster"},
	"Microsoft.ContainerService/managedClusters/loadBalancers":              {named, "it places services of its cluster"},
	"Microsoft.ContainerService/managedClusters/maintenanceConfigurations":  {named, "it holds times of its cluster"},
	"Microsoft.ContainerService/managedClusters/managedNamespaces":          {named, "it is a namespace of its cluster"},
	"Microsoft.ContainerService/managedClusters/meshMemberships":            {named, "it joins its cluster to the mesh that its body names"},
	"Microsoft.ContainerService/managedClusters/meshUpgradeProfiles":        {named, "it is only read"},
	"Microsoft.ContainerService/managedClusters/privateEndpointConnections": {named, "it accepts or refuses an endpoint of its cluster"},
	"Microsoft.ContainerService/managedClusters/trustedAccessRoleBindings":  {named, "it gives the resource that its body names rights in its cluster"},
	"Microsoft.ContainerService/managedClusters/upgradeProfiles":            {named, "it is only read"},
	"Microsoft.ContainerService/managedclustersnapshots":                    {named, "it has the settings of the AKS cluster that its body names"},
	"Microsoft.ContainerService/preparedImageSpecifications":                {named, "its image is built as the identities that its body names"},
	"Microsoft.ContainerService/preparedImageSpecifications/versions":       {named, "it is a version of its image"},
	"Microsoft.ContainerService/snapshots":                                  {named, "it has the settings of the agent pool that its body names"},

	"Microsoft.Insights/dataCollectionEndpoints":                                    {named, "it receives data of what names it"},
	"Microsoft.Insights/dataCollectionRuleAssociations":                             {named, "it collects data of what it is below by the rule that its body names"},
	"Microsoft.Insights/dataCollectionRules":                                        {named, "it writes data to the workspaces and accounts that its body names"},
	"Microsoft.KeyVault/vaults":                                                     {joined, "it lets subnets in that its body names"},
	"Microsoft.KeyVault/vaults/accessPolicies":                                      {named, "it gives principals rights in its vault"},
	"Microsoft.KeyVault/vaults/keys":                                                {named, "it is a key of its vault"},
	"Microsoft.KeyVault/vaults/secrets":                                             {named, "it is a secret of its vault"},
	"Microsoft.KubernetesConfiguration/extensions":                                  {named, "it runs a program in its AKS cluster"},
	"Microsoft.KubernetesConfiguration/fluxConfigurations":                          {named, "it applies objects in its AKS cluster"},
	"Microsoft.KubernetesConfiguration/sourceControlConfigurations":                 {named, "it applies objects in its AKS cluster"},
	"Microsoft.ManagedIdentity/identities":                                          {named, "it is only read"},
	"Microsoft.ManagedIdentity/userAssignedIdentities":                              {named, "it has no rights of itself"},
	"Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials": {named, "it lets an issuer sign in as its identity"},
	"Microsoft.Monitor/accounts":                                                    {named, "it receives data of what names it"},

	"Microsoft.Network/applicationSecurityGroups":              {named, "it groups interfaces that name it"},
	"Microsoft.Network/bastionHosts":                           {joined, "it joins the subnet that its body names"},
	"Microsoft.Network/ddosProtectionPlans":                    {named, "it protects networks that name it"},
	"Microsoft.Network/loadBalancers":                          {joined, "its frontends join subnets, and its pools hold addresses of networks that its body names"},
	"Microsoft.Network/loadBalancers/backendAddressPools":      {joined, "it holds addresses of networks that its body names"},
	"Microsoft.Network/loadBalancers/inboundNatRules":          {named, "it is a rule of its load balancer"},
	"Microsoft.Network/natGateways":                            {named, "subnets that name it use it, and it may change the network that its body names"},
	"Microsoft.Network/networkInterfaces":                      {joined, "it joins the subnet that its body names"},
	"Microsoft.Network/networkSecurityGroups":                  {named, "subnets and interfaces that name it use it"},
	"Microsoft.Network/networkSecurityGroups/securityRules":    {named, "it is a rule of its group"},
	"Microsoft.Network/privateDnsZones":                        {named, "networks use it that are linked to it"},
	"Microsoft.Network/privateDnsZones/A":                      {named, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/AAAA":                   {named, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/CNAME":                  {named, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/TXT":                    {named, "it is a record of its zone"},
	"Microsoft.Network/privateDnsZones/virtualNetworkLinks":    {named, "it changes what names mean in the network that its body names, for all who are in that"},
	"Microsoft.Network/privateEndpoints":                       {joined, "it joins a subnet, and connects to the service that its body names"},
	"Microsoft.Network/privateEndpoints/privateDnsZoneGroups":  {named, "it writes records into the zones that its body names"},
	"Microsoft.Network/privateLinkServices":                    {joined, "it joins subnets, and leads to the frontends that its body names"},
	"Microsoft.Network/publicIPAddresses":                      {named, "what names it uses it"},
	"Microsoft.Network/publicIPPrefixes":                       {named, "what names it uses it"},
	"Microsoft.Network/routeTables":                            {named, "subnets that name it use it"},
	"Microsoft.Network/routeTables/routes":                     {named, "it is a route of its table"},
	"Microsoft.Network/virtualNetworks":                        {named, "resources that name it join it"},
	"Microsoft.Network/virtualNetworks/subnets":                {joined, "it may be made in a network to join, with security group, route table and gateway that its body names"},
	"Microsoft.Network/virtualNetworks/virtualNetworkPeerings": {named, "it changes the routes of its network and of the one that its body names"},

	"Microsoft.OperationalInsights/workspaces": {named, "it receives data of what names it"},
	"Microsoft.Resources/deployments":          {anything, "the template of a deployment creates resources in any group or subscription"},
	"Microsoft.Resources/resourceGroups":       {named, "it holds resources"},
	"Microsoft.Resources/tags":                 {anything, "the tags of a resource tell whose it is"},
	"Microsoft.Storage/storageAccounts":        {joined, "it lets subnets in that its body names"},
})

func lower(types map[string]effect) map[string]effect {
	out := make(map[string]effect, len(types))
	for name, row := range types {
		out[strings.ToLower(name)] = row
	}
	return out
}

// ReachesAnything says why resources of a type may change resources that neither their place nor their body names by ID, "" if they do not.
// No document is of such a type, whatever identity asks Azure.
func ReachesAnything(resourceType string) string {
	row, known := effects[strings.ToLower(resourceType)]
	switch {
	case !known:
		return "the provider does not know what resources of this type change"
	case row.reaches == anything:
		return row.reason
	}
	return ""
}
