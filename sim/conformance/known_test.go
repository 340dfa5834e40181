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
	{`.*/(publicIPAddresses|virtualNetworks|subnets)`,
		`DELETE (202|400): status (202|204) .*|DELETE 404: error code ParentResourceNotFound .*`,
		"An application gateway, which is not served, holds the address and the subnet in the recording."},
	{`.*/(publicIPAddresses|virtualNetworks)`, `GET of an operation .*`,
		"Polls of the deletion that an application gateway had held up in the recording."},
	{`.*/subnets`, `GET 200: no properties\.ipConfigurations`,
		"Gateways, which are not served, have interfaces in the subnet."},
	{`.*/(virtualMachineScaleSets|managedClusters|dnszones)`,
		`GET 404: (error code ResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"What was deleted is sometimes missed by the gateway, as in the simulator, and sometimes by its provider, which learns of it sooner; both happen in the recordings."},
	{`.*/managedClusters/agentPools`, `DELETE 404: (error code ParentResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"AKS itself missed the cluster of the pool, two seconds after its deletion had ended; in the simulator the gateway does."},
	{`.*/managedClusters`, `.*: no properties\.networkProfile\.dockerBridgeCidr`,
		"Only api-version 2021-05-01 shows the bridge of Docker, which AKS no longer has."},
	{`.*/roleAssignments`, `.*: no properties\.canDelegate`,
		"Only an assignment to a user has the key, and the simulator does not know users."},
	{`.*/loadBalancers`, `PUT 200: header Azure-AsyncOperation is missing`,
		"The recording writes a load balancer that it did not create, and does not show whether the write changes something. Without a change there is no operation."},
	{`.*/resourceGroups`, `.*: no tags\.creationdate`,
		"A policy of the recorded subscription gives every group the tag."},
	{`.*/resourceGroups`, `GET 404: status 200 .*`,
		"Azure deleted an empty group in 6 seconds; the simulator's first sweep takes longer, and nothing polls the operation in this recording."},
	{`.*/extensions`, `GET 404: error code NotFound instead of ResourceNotFound`,
		"One recording has the gateway's answer for an extension that was deleted, the other the provider's, which the simulator gives."},
	{`.*/userAssignedIdentities`, `GET 404: status 200 .*`,
		"Azure did not find the identity four seconds after it had written it a second time."},
	{`.*/networkInterfaces`, `PUT 201: header Azure-AsyncOperation is missing`,
		"Two interfaces of 19 came with the header of an operation that had ended already; requests and bodies do not differ from the others."},
	{`.*/snapshots`, `PUT 202: no properties\.isArmResource`,
		"A key without documentation that only api-version 2020-09-30 shows, and only in the answer to a PUT."},
	{`.*/publicIPAddresses`, `PUT 200: header Azure-AsyncOperation is missing`,
		"The recording writes an address that it did not create, and does not show whether the write changes something. Without a change there is no operation."},
	{`.*/workspaces`, `PUT 201: header (Azure-AsyncOperation|Retry-After) is there, Azure sent none`,
		"One workspace of nine came without an operation; requests and bodies do not differ from the others."},
	{`.*/(vaults|storageAccounts)`, `.*status 409 ResourceGroupBeingDeleted .*`,
		"The group was being deleted, which these providers had not yet learnt."},
	{`.*/(vaults|storageAccounts)`, `GET 200: status 404 .*`,
		"The deletion of the group had begun, and Azure deleted the vault later than the simulator."},
	{`.*/storageAccounts`, `DELETE 503: .*`,
		"Azure was not available."},
	{`.*/storageAccounts`, `.*: no identity\.userAssignedIdentities\..*`,
		"Two answers of one recording have keys of an identity without documentation."},
	{`.*/storageAccounts`, `PUT (200|202|400): status (202|409) .*|GET of an operation .*`,
		"Values of storage accounts are not checked, and one begins to be made twice in its recording."},
}

func (r reason) explains(resourceType, problem string) bool {
	return matchWhole(r.types).MatchString(resourceType) && matchWhole(r.problem).MatchString(problem)
}

func matchWhole(expression string) *regexp.Regexp {
	return regexp.MustCompile("^(?:" + expression + ")$")
}
