package conformance

import "regexp"

// reason explains disagreements. The first row whose types and problem match counts; both are regular expressions over
// the whole text.
type reason struct {
	types   string
	problem string
	why     string
}

// known are the disagreements that stay, each with its reason. A row that explains nothing is an error, too.
var known = []reason{
	{`.*/subnets`, `GET 200: no properties\.ipConfigurations`,
		"Azure creates the network interfaces of a new scale set sooner than the simulator."},
	{`.*/(virtualMachineScaleSets|managedClusters|dnszones)`,
		`GET 404: (error code ResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"Either Azure Resource Manager or the resource provider answers that a deleted resource does not exist, and both occur in the recordings. In the simulator, Resource Manager always answers."},
	{`.*/managedClusters/agentPools`, `DELETE 404: (error code ResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"Two seconds after the deletion of the cluster, AKS answered that it does not exist. In the simulator, Resource Manager answers."},
	{`.*/roleAssignments`, `.*: no properties\.canDelegate`,
		"Only assignments to users have the key. The simulator does not have users."},
	{`.*/resourceGroups`, `GET 404: status 200 .*`,
		"Azure deleted an empty group in 6 seconds. The deletion takes longer in the simulator, and this recording does not poll the operation."},
	{`.*/extensions`, `GET 404: error code NotFound instead of ResourceNotFound`,
		"One recording has the answer of Resource Manager for a deleted extension, another one that of the resource provider. The simulator returns the second one."},
	{`.*/userAssignedIdentities`, `GET 404: status 200 .*`,
		"Azure answered that the identity does not exist, four seconds after its second update."},
	{`.*/networkInterfaces`, `PUT 201: header Azure-AsyncOperation is missing`,
		"Only recordings without times, which are the oldest, have the header. Azure no longer sends it: recordings from 2024 on have none."},
	{`.*/snapshots`, `PUT 202: no properties\.isArmResource`,
		"Only recordings without times, which are the oldest, have this undocumented key. Newer ones of the same api-version do not."},
	{`.*/(subnets|virtualNetworkPeerings|networkInterfaces)`,
		`PUT (429: status 201  instead of RetryableError|400: status (201  instead of InvalidResourceReference|409 AnotherOperationInProgress .*)|201: status 200  instead of success)`,
		"Azure held a network for a peering that it refused, and refused a subnet of the network in the same second. The simulator does not hold the network, so the subnet exists earlier than in the recording."},
	{`.*/workspaces`, `PUT 201: header (Azure-AsyncOperation|Retry-After) is present, Azure sent none`,
		"One of nine workspaces was created without an operation. Its request and body do not differ from the others."},
	{`.*/(vaults|storageAccounts)`, `.*status 409 ResourceGroupBeingDeleted .*`,
		"The group was being deleted, and these resource providers still accepted requests."},
	{`.*/(vaults|storageAccounts)`, `GET 200: status 404 .*`,
		"The deletion of the group had begun, and Azure deleted the vault later than the simulator."},
	{`.*/storageAccounts`, `DELETE 503: .*`,
		"Azure was not available."},
	{`.*/storageAccounts`, `.*: no identity\.userAssignedIdentities\..*`,
		"Two answers of one recording have undocumented keys of an identity."},
	{`.*/storageAccounts`, `PUT 400: status 202 .*`,
		"The simulator does not check the values of storage accounts."},
	{`.*/deletedVaults`, `POST 202: status 404 .*|GET of an operation .*`,
		"The recording purges a vault in another region than that in which it created one of this name, so another vault of this name had been deleted there."},
	{`.*/ipGroups`, `DELETE 204: status 200 .*`,
		"Azure answered one of four deletions of IP groups as if the group did not exist."},
	{`.*/privateDnsZones`, `DELETE 409: status 202 .*`,
		"Azure refused to delete a zone whose links had been deleted just before, and accepted it at the next attempt. How long this lasts is not known."},
	{`.*/deployments`, `GET 200: no .*\.internalData`,
		"A reference to an availability set has an undocumented property."},
}

func (r reason) explains(resourceType, problem string) bool {
	return matchWhole(r.types).MatchString(resourceType) && matchWhole(r.problem).MatchString(problem)
}

func matchWhole(expression string) *regexp.Regexp {
	return regexp.MustCompile("^(?:" + expression + ")$")
}
