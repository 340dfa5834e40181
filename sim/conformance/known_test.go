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
	{`Microsoft\.(Insights/diagnosticSettings|DataProtection/backupVaults)`, `.*`,
		"The repository has no definition of these types, so the simulator returns the written properties and adds none."},
	{`.*`, `DELETE 404: error code ResourceGroupNotFound instead of (Parent)?ResourceNotFound`,
		"The group of a nested resource is gone. Azure names sometimes the group and sometimes the parent, depending on how fast its own servers learn of the deletion; both happen equally often in the recordings. The simulator always names the group."},
	{`.*/(publicIPAddresses|virtualNetworks|subnets)`,
		`DELETE (202|400): status (202|204) .*|DELETE 404: error code ParentResourceNotFound .*`,
		"An application gateway, which is not served, holds the address and the subnet in the recording."},
	{`.*/(publicIPAddresses|virtualNetworks)`, `GET of an operation .*`,
		"Polls of the deletion that an application gateway had held up in the recording."},
	{`.*/subnets`, `GET 200: no properties\.ipConfigurations`,
		"Gateways, which are not served, have interfaces in the subnet."},
	{`.*/publicIPAddresses`, `PUT 200: no properties\.ipConfiguration`,
		"The recording begins with a load balancer that already uses the address."},
	{`.*/loadBalancers`, `GET 200: no properties\.inboundNatRules\[\]\.properties\.backendIPConfiguration`,
		"A scale set, which is not served, uses the rule."},
	{`.*/(loadBalancers|networkInterfaces|virtualNetworks|subnets|virtualMachineScaleSets)`,
		`(GET|PUT) 200: status (201|400|404) .*|GET of an operation .*`,
		"The recording begins with resources that refer to each other and to a scale set, and does not contain their creation."},
	{`.*/(virtualMachineScaleSets|managedClusters|dnszones)`,
		`GET 404: (error code ResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"What was deleted is sometimes missed by the gateway, as in the simulator, and sometimes by its provider, which learns of it sooner; both happen in the recordings."},
	{`.*/managedClusters/agentPools`, `DELETE 404: (error code ParentResourceNotFound instead of NotFound|no (code|details|message|subcode))`,
		"AKS itself missed the cluster of the pool, two seconds after its deletion had ended; in the simulator the gateway does."},
	{`.*/managedClusters`, `.*: no properties\.networkProfile\.dockerBridgeCidr`,
		"Only api-version 2021-05-01 shows the bridge of Docker, which AKS no longer has."},
	{`.*/roleAssignments`, `.*SubscriptionNotFound.*`,
		"The assignment is in a subscription that the recording creates; Microsoft.Subscription is not served."},
	{`.*/roleAssignments`, `.*PrincipalNotFound.*|PUT 201: status 200 .*`,
		"Entra ID shows each new principal after a time of its own, and principals of types that are not served are known at once in the replay."},
	{`.*/disks`, `PUT (202|400): .*|GET of an operation .*`,
		"Azure refused the disk because its disk access was in a failed state, which nothing in the recording explains."},
	{`.*/resourceGroups`, `.*: no tags\.creationdate`,
		"A policy of the recorded subscription gives every group the tag."},
	{`.*/resourceGroups`, `GET 404: status 200 .*`,
		"Azure deleted an empty group in 6 seconds; the simulator's first sweep takes longer, and nothing polls the operation in this recording."},
	{`.*/extensions`, `GET 404: error code NotFound instead of ResourceNotFound`,
		"One recording has the gateway's answer for an extension that was deleted, the other the provider's, which the simulator gives."},
	{`.*/userAssignedIdentities`, `GET 404: status 200 .*`,
		"Azure did not find the identity four seconds after it had written it a second time."},
	{`.*/loadBalancers`, `PUT 400: no error\.details\[\]\.(code|message)`,
		"Azure tells the missing public address a second time in the details, in upper case; other references to missing resources have empty details."},
	{`.*/networkInterfaces`, `PUT 201: header Azure-AsyncOperation is missing`,
		"Two interfaces of 19 came with the header of an operation that had ended already; requests and bodies do not differ from the others."},
	{`.*/snapshots`, `PUT 202: no properties\.isArmResource`,
		"A key without documentation that only api-version 2020-09-30 shows, and only in the answer to a PUT."},
	{`.*/publicIPAddresses`, `PUT 200: header Azure-AsyncOperation is missing`,
		"The recording writes an address that it did not create, and does not show whether the write changes something. Without a change there is no operation."},
	{`.*/workspaces`, `PUT 201: header (Azure-AsyncOperation|Retry-After) is there, Azure sent none`,
		"One workspace of nine came without an operation; requests and bodies do not differ from the others."},
	{`.*/accounts`, `GET 200: header Retry-After is missing`,
		"The last poll of a deletion told its success and a time to wait."},
	{`.*/(vaults|storageAccounts)`, `.*status 409 ResourceGroupBeingDeleted .*`,
		"The group was being deleted, which these providers had not yet learnt."},
	{`.*/deletedVaults`, `GET 200: status 404 .*|POST 202: status 404 .*|GET of an operation .*`,
		"The recording begins with a deleted vault."},
	{`.*/(vaults|storageAccounts)`, `GET 200: status 404 .*`,
		"The recording reads a resource that it did not create and that no request in it could create."},
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
