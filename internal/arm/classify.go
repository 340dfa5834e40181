package arm

import (
	"errors"
	"strings"
	"time"
)

// rule is one row of the table: errors with this code are of this class.
type rule struct {
	code   string
	class  Class
	reason string
}

// codeRules are looked up by the error's code, then by the codes of its details: decisiveRule. Order does not matter.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/common-deployment-errors
var codeRules = []rule{
	// Another operation or writer is active, or Azure returns the wait time.
	{"AnotherOperationInProgress", ClassWaiting, "another operation runs on the same resource or on a dependent one"},
	{"RetryableError", ClassWaiting, "the network provider waits for another operation, which the message names"},
	{"RetryableErrorDueToAnotherOperation", ClassWaiting, "another operation updates the resource"},
	{"ReferencedResourceNotProvisioned", ClassWaiting, "a referenced resource is still being updated"},
	{"TooManyRequests", ClassWaiting, "a request limit of Azure is reached"},
	{"SubscriptionRequestsThrottled", ClassWaiting, "a request limit of the subscription is reached"},
	{CodeBudgetEmpty, ClassWaiting, "the request budget is empty, so the request was not sent"},
	{"PreconditionFailed", ClassWaiting, "another client changed the resource first"},
	{"PreconditionFailedEtagMismatch", ClassWaiting, "another client changed the resource first"},
	// hashicorp/terraform-provider-azurerm#14051
	{"RemotePeeringIsDisconnected", ClassWaiting, "the peering of the other network has to be updated first"},
	{"ResourceGroupBeingDeleted", ClassWaiting, "the group can be created again when it is gone"},
	{"NicReservedForAnotherVm", ClassWaiting, "Azure reserves the interface for 180 seconds after the failure of a machine"},
	{"ConcurrentFederatedIdentityCredentialsWritesForSingleManagedIdentity", ClassWaiting, "Azure accepts one write of an identity at a time"},
	{"EtagMismatch", ClassWaiting, "another client changed the AKS cluster or pool first"},
	{"OperationPreempted", ClassWaiting, "a newer operation replaced this one"},
	// A detail of Canceled, for load balancers, security groups, networks and route tables that another client writes meanwhile:
	// kubernetes/kubernetes#81282, aztfmod/terraform-azurerm-caf#389.
	{"CanceledAndSupersededDueToAnotherOperation", ClassWaiting, "a newer operation of another client replaced this one"},
	// In use: the dependant may be in deletion, and Azure has no other answer to a deletion that came too early.
	{"CannotDeleteResource", ClassWaiting, "the resource still has nested resources"},
	{"InUseSubnetCannotBeDeleted", ClassWaiting, "resources that use the subnet have to be deleted first"},
	{"InUseNetworkSecurityGroupCannotBeDeleted", ClassWaiting, "resources that use it have to be deleted first"},
	{"InUseRouteTableCannotBeDeleted", ClassWaiting, "resources that use it have to be deleted first"},
	{"CannotDeleteNatGatewayAssociatedToSubnet", ClassWaiting, "the subnets have to be deleted first"},
	{"PublicIPAddressCannotBeDeleted", ClassWaiting, "the resource that it is attached to has to be deleted first"},
	{"LoadBalancerInUseByVirtualMachineScaleSet", ClassWaiting, "the scale set has to be deleted first"},
	{"NicInUse", ClassWaiting, "the machine has to be deleted first"},
	{"VirtualNetworkInUse", ClassWaiting, "resources that use the network have to be deleted first"},

	// Transient.
	{"ConnectionFailed", ClassRetry, "there was no answer"},
	{"TokenUnavailable", ClassRetry, "Entra ID did not answer"},
	{"InvalidAnswer", ClassRetry, "the answer is incomplete, too large or not from Azure Resource Manager"},
	{"ForeignURL", ClassRetry, "the answer names a URL of another host"},
	{"RequestCanceled", ClassRetry, "the caller cancelled the request"},
	{codeCanceled, ClassRetry, "Azure cancelled the operation"},
	{"Conflict", ClassRetry, "Compute handled a concurrent request first"},
	{"InternalServerError", ClassRetry, "a failure of Azure"},
	{"InternalExecutionError", ClassRetry, "a failure of Azure"},
	{"NetworkingInternalOperationError", ClassRetry, "a failure of Azure"},
	{"ServiceUnavailable", ClassRetry, "a failure of Azure"},
	{"GatewayTimeout", ClassRetry, "a gateway of Azure got no answer in time. Azure may have accepted the request"},
	{"BadGateway", ClassRetry, "a failure of Azure"},
	{"ServerTimeout", ClassRetry, "a failure of Azure"},
	{"InvalidResourceReference", ClassRetry, "a new resource is not visible in all of Azure yet"},
	{"PrincipalNotFound", ClassRetry, "a new identity takes minutes to reach the directory. After 15 minutes it counts as missing"},
	{"FailedIdentityOperation", ClassRetry, "a new identity takes minutes to reach the directory"},
	{"ResourceGroupDeletionBlocked", ClassRetry, "Azure could not delete all resources of the group"},
	{"CustomKubeletIdentityMissingPermissionError", ClassRetry, "a new role assignment is not effective in all of Azure yet"},
	{"OSProvisioningTimedOut", ClassRetry, "the operating system did not start in time"},
	{"DeletionIneffective", ClassRetry, "Azure accepted a deletion, and shows the resource again without a reason"},
	{"ResourceNotFoundInProvider", ClassRetry, "Azure Resource Manager and the resource provider show different states for some time"},

	// Gone.
	{"ResourceNotFound", ClassNotFound, "the resource does not exist"},
	{"ResourceGroupNotFound", ClassNotFound, "the group does not exist"},
	{"ParentResourceNotFound", ClassNotFound, "the parent does not exist"},
	{"NotFound", ClassNotFound, "the resource does not exist"},
	{"RoleAssignmentNotFound", ClassNotFound, "the assignment does not exist"},

	// The user has to change something: tags, credentials, permissions, subscription.
	{"OwnershipTagLost", ClassStalled, "the resource lost its ownership tag, and no other resource proves its owner"},
	{"CredentialsInvalid", ClassStalled, "Entra ID refused the client ID, tenant, secret or certificate"},
	{"InvalidAuthenticationToken", ClassStalled, "the token is not for this subscription or cloud"},
	{"InvalidAuthenticationTokenTenant", ClassStalled, "the token is from another tenant than the subscription"},
	{"ExpiredAuthenticationToken", ClassRetry, "the next request has a new token"},
	{"AuthenticationFailed", ClassStalled, "the request was not authenticated"},
	{"AuthorizationFailed", ClassStalled, "the identity lacks a role, or a new role assignment is not effective yet"},
	{"LinkedAuthorizationFailed", ClassStalled, "the identity lacks a role on a referenced resource"},
	{"SubscriptionNotFound", ClassStalled, "the subscription does not exist or the identity cannot see it"},
	{"InvalidSubscriptionId", ClassStalled, "the subscription ID is not a valid one"},
	{"ReadOnlyDisabledSubscription", ClassStalled, "the subscription is disabled"},
	{"DisallowedOperation", ClassStalled, "the subscription does not allow it"},
	{"MissingSubscriptionRegistration", ClassStalled, "the resource provider is not registered in the subscription"},
	{"SubscriptionNotRegistered", ClassStalled, "the resource provider is not registered in the subscription"},
	{"NoRegisteredProviderFound", ClassStalled, "the type does not exist in the region or API version"},
	{"RequestDisallowedByPolicy", ClassStalled, "an Azure policy forbids it"},
	{"ScopeLocked", ClassStalled, "a lock forbids it"},
	{"DenyAssignmentAuthorizationFailed", ClassStalled, "a deny assignment forbids it"},
	// Quota and capacity may free up, so they are retried slowly.
	{"QuotaExceeded", ClassStalled, "the quota is used up"},
	{"ErrCode_InsufficientVCPUQuota", ClassStalled, "the quota of cores for the size is used up"},
	{"OperationNotAllowed", ClassStalled, "the quota of Compute is used up, or the resource does not allow the operation"},
	{"ResourceQuotaExceeded", ClassStalled, "the limit of resources is reached"},
	{"PublicIPCountLimitReached", ClassStalled, "the limit of public IPs is reached"},
	{"SubnetIsFull", ClassStalled, "the subnet has no address left"},
	{"AllocationFailed", ClassStalled, "the region lacks capacity for the size"},
	{"ZonalAllocationFailed", ClassStalled, "the zone lacks capacity for the size"},
	{"OverconstrainedAllocationRequest", ClassStalled, "no capacity that meets all constraints"},
	{"OverconstrainedZonalAllocationRequest", ClassStalled, "no capacity that meets all constraints"},
	{"SkuNotAvailable", ClassStalled, "the size is not offered in the region, zone or subscription"},
	// https://learn.microsoft.com/en-us/troubleshoot/azure/azure-kubernetes/create-upgrade-delete/error-code-unsatisfiablepdb
	{"UnsatisfiablePDB", ClassStalled, "a PodDisruptionBudget allows no eviction, so AKS cannot drain the nodes"},
	{"UpgradeFailed", ClassStalled, "AKS could not drain or replace a node, which the message names"},
	// The input.
	{"InvalidParameter", ClassStalled, "the spec has a value that Azure refuses"},
	{"InvalidResourceName", ClassStalled, "a name has characters or a length that Azure refuses"},
	{"InvalidDomainNameLabel", ClassStalled, "the DNS label of an address has characters or a length that Azure refuses"},
	{"InvalidResourceType", ClassStalled, "Azure does not know the resource type (status 404)"},
	{"GalleryImageNotFound", ClassStalled, "the image of the machine does not exist (status 404)"},
	// https://github.com/clong/DetectionLab/issues/729
	{"PlatformImageNotFound", ClassStalled, "the Marketplace does not have the image or its version (status 404)"},
	// https://learn.microsoft.com/en-us/azure/virtual-machines/linux/cli-ps-findimage#check-the-purchase-plan-information
	{"MarketplacePurchaseEligibilityFailed", ClassStalled, "the subscription has not accepted the terms of the image's plan, or may not buy it"},
	{"ResourcePurchaseValidationFailed", ClassStalled, "the subscription has not accepted the terms of the image's plan, or may not buy it"},
	{"ImageNotFound", ClassStalled, "the managed image does not exist (status 404)"},
	// hashicorp/terraform#30569
	{"RemoteVnetHasNoGateways", ClassStalled, "the peering uses the gateway of the other network, which has none yet"},
	{"PropertyChangeNotAllowed", ClassStalled, "the property cannot be changed"},
	{"InvalidResourceLocation", ClassStalled, "the name is taken in another region"},
	{"InvalidResourceGroupLocation", ClassStalled, "the group exists in another region"},
	{"RoleAssignmentExists", ClassStalled, "the same assignment exists under another name"},
	{"NetcfgSubnetRangeOutsideVnet", ClassStalled, "the range of the subnet is not in the range of the network"},
	{"NetcfgSubnetRangesOverlap", ClassStalled, "two subnets overlap"},
	{"PrivateIPAddressInUse", ClassStalled, "the address is taken"},
	{"PrivateIPAddressNotInSubnet", ClassStalled, "the address is not in the subnet"},
	{"PrivateIPAddressInReservedRange", ClassStalled, "Azure reserves the address"},
}

// codeCanceled is the code of an operation whose details name the reason.
const codeCanceled = "Canceled"

// statusRules apply to codes that are not in the table.
var statusRules = []struct {
	from, to int
	class    Class
	reason   string
}{
	{0, 0, ClassRetry, "there was no answer"},
	{404, 404, ClassNotFound, "the resource or its parent does not exist"},
	{408, 408, ClassRetry, "the answer took too long"},
	{409, 409, ClassRetry, "a conflict with another request"},
	{412, 412, ClassWaiting, "another client changed the resource first"},
	{429, 429, ClassWaiting, "a request limit of Azure is reached"},
	{400, 499, ClassStalled, "Azure refuses the request"},
	{500, 599, ClassRetry, "a failure of Azure"},
	{200, 299, ClassStalled, "the operation failed, and the cause is not known to be transient"},
}

var rulesByCode = func() map[string]rule {
	out := make(map[string]rule, len(codeRules))
	for _, rule := range codeRules {
		out[strings.ToLower(rule.code)] = rule
	}
	return out
}()

// Classify returns the class of err. An error that is not from Azure is ClassRetry.
func Classify(err error) Class {
	class, _ := classifyError(err)
	return class
}

// ClassReason returns the reason for the class of err, for a log.
func ClassReason(err error) string {
	_, reason := classifyError(err)
	return reason
}

func classifyError(err error) (Class, string) {
	var e *Error
	if !errors.As(err, &e) {
		return ClassRetry, "not an answer of Azure"
	}
	if decisive, known := decisiveRule(e); known {
		return decisive.class, decisive.reason
	}
	for _, rule := range statusRules {
		if e.Status >= rule.from && e.Status <= rule.to {
			return rule.class, rule.reason
		}
	}
	return ClassRetry, "an unknown status"
}

// DecisiveCode returns the code that the class of err follows from, as the table spells it: its own or that of a detail. It is the error's own
// code if the table has none of them, and "" if err is not from Azure.
func DecisiveCode(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return ""
	}
	if decisive, known := decisiveRule(e); known {
		return decisive.code
	}
	return e.Code
}

// decisiveRule returns the rule for an error: that of its own code, or else that of the first detail with a known code. known is false if
// the table has none of the codes.
func decisiveRule(e *Error) (decisive rule, known bool) {
	own, known := ruleOf(e.Code, e.Message)
	// Throttling comes with codes that have another meaning with other statuses, as compute's OperationNotAllowed.
	if e.Status == 429 && own.class != ClassWaiting {
		return rulesByCode["toomanyrequests"], true
	}
	if known && own.code != codeCanceled {
		return own, true
	}
	for _, detail := range e.Details {
		// A missing reference does not mean that the resource does not exist.
		if rule, ok := ruleOf(detail.Code, detail.Message); ok && rule.class != ClassNotFound {
			return rule, true
		}
	}
	return own, known
}

// ruleOf returns the rule of a code. The message decides about OperationNotAllowed, which means a used-up quota, another operation, or a
// change that the resource does not allow, such as one of the image of a scale set.
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/troubleshooting/error-resource-quota
func ruleOf(code, message string) (found rule, known bool) {
	found, known = rulesByCode[strings.ToLower(code)]
	switch {
	case found.code != "OperationNotAllowed":
	case pendingOperation(message):
		found.class, found.reason = ClassWaiting, "AKS: another operation on the cluster or a pool of it ends by itself"
	case strings.Contains(strings.ToLower(message), "quota"):
		found = rule{"QuotaExceeded", ClassStalled, "the quota of Compute is used up"}
	default:
		found.reason = "the state or kind of the resource does not allow the operation"
	}
	return found, known
}

// pendingOperation reports whether AKS refuses an operation only because of another one. Permanent refusals have the same code.
// https://aka.ms/aks-pending-operation
func pendingOperation(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "aks-pending-operation") || strings.Contains(message, "in progress") ||
		strings.Contains(message, "in-progress")
}

// backOffs are the first and the longest delay of each class.
var backOffs = map[Class]struct{ first, longest time.Duration }{
	ClassWaiting:  {time.Second, 30 * time.Second},
	ClassRetry:    {time.Second, 2 * time.Minute},
	ClassNotFound: {5 * time.Second, 5 * time.Minute},
	ClassStalled:  {30 * time.Second, 10 * time.Minute},
}

// BackOff returns the delay after attempt failures in a row with errors of a class: it doubles with each failure, up to the longest
// delay of the class. jitter in [0,1) reduces it by up to a fifth. It ignores Azure's wait time: use RetryDelay for an error.
func BackOff(class Class, attempt int, jitter float64) time.Duration {
	limits, ok := backOffs[class]
	if !ok {
		limits = backOffs[ClassRetry]
	}
	delay := limits.first
	for i := 1; i < attempt && delay < limits.longest; i++ {
		delay *= 2
	}
	delay = min(delay, limits.longest)
	return delay - time.Duration(float64(delay)*jitter/5)
}

// minRetryDelay is the shortest delay of a request that Azure asks to send again: it may ask for a millisecond, and for that without end.
const minRetryDelay = 250 * time.Millisecond

// RetryDelay returns the delay after err, the attempt-th failure in a row: BackOff, or Azure's wait time if that is longer. A request that
// Azure will accept later waits as long as Azure asks, and not longer.
func RetryDelay(err error, attempt int, jitter float64) time.Duration {
	class := Classify(err)
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter <= 0 {
		return BackOff(class, attempt, jitter)
	}
	if class == ClassWaiting {
		return max(e.RetryAfter, minRetryDelay)
	}
	return max(e.RetryAfter, BackOff(class, attempt, jitter))
}

// Delays of read-only questions outside of the engine. A correction in Azure is noticed within a minute.
const (
	retryReadDelay   = 15 * time.Second
	stalledReadDelay = time.Minute
)

// ReadRetryDelay returns the delay before a read-only question that failed with err is repeated: a fixed one by class, or Azure's wait
// time if that is longer. A request that waits for its turn in a budget returns when its turn comes, because another request gets its
// place soon after.
func ReadRetryDelay(err error) time.Duration {
	if class := Classify(err); class != ClassWaiting && class != ClassRetry {
		return stalledReadDelay
	}
	var e *Error
	switch {
	case !errors.As(err, &e):
		return retryReadDelay
	case IsBudgetEmpty(err):
		return max(e.RetryAfter, minRetryDelay)
	}
	return max(retryReadDelay, e.RetryAfter)
}

// DescribeRetry returns a text about the next try after err. It is the same for every failure of a kind, so that a condition with it
// does not change with each try.
func DescribeRetry(err error) string {
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return "next try after the time that Azure asked to wait"
	}
	return "next try after a growing delay of at most " + backOffs[Classify(err)].longest.String()
}
