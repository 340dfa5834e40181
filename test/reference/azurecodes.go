package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// classes describe what the provider does about an error of a class of internal/arm, in the order of the page.
var classes = []struct{ name, title, action string }{
	{"ClassStalled", "You have to act", "The provider tries again after 30 seconds, then less and less often, at least every 10 minutes. Change the cause, or request a [retry now](../conditions.md#force-a-reconciliation)."},
	{"ClassWaiting", "The provider waits", "Another operation or a limit has to end first. Nothing has to be done."},
	{"ClassRetry", "The provider tries again", "The error is transient. If it stays for more than half an hour, open a support request at Azure with the request ID of the [event](../events.md)."},
	{"ClassNotFound", "The resource does not exist", "The provider creates the resource. If users have to create it, a condition names it. Azure also answers so for some seconds after it has created a resource. So a write that is refused with one of these codes, or with `InvalidResourceReference`, is `Waiting` for half a minute and then `Failed`."},
}

// remedies are what to do about an error that a person has to end. Each code of the class has one.
var remedies = map[string]string{
	"OwnershipTagLost":                      "Put the ownership tag back on the resource: [lost tags](../deleting.md#missing-ownership-tags).",
	"CredentialsInvalid":                    "Correct the client ID, the tenant, the secret or the federated credential: [identities](../identities.md).",
	"InvalidAuthenticationToken":            "Use the subscription and the `azureEnvironment` that the identity belongs to.",
	"InvalidAuthenticationTokenTenant":      "Use an identity of the tenant that the subscription belongs to.",
	"AuthenticationFailed":                  "Check the identity with [`kubectl capz doctor`](../doctor.md).",
	"AuthorizationFailed":                   "Give the identity the [role](../azure-permissions.md) for the features that you use. The message names the missing action and the scope.",
	"LinkedAuthorizationFailed":             "Give the identity the [role](../azure-permissions.md) on the resource that the message names, for example an existing network.",
	"SubscriptionNotFound":                  "Correct `subscriptionID`, or give the identity a role in the subscription.",
	"InvalidSubscriptionId":                 "Correct `subscriptionID`. It is a GUID.",
	"ReadOnlyDisabledSubscription":          "Enable the subscription in the Azure portal.",
	"DisallowedOperation":                   "Use another kind of subscription, or ask Azure's support to allow the operation.",
	"MissingSubscriptionRegistration":       "Register the resource provider that the message names: [`kubectl capz doctor`](../doctor.md) lists all that a cluster needs.",
	"SubscriptionNotRegistered":             "Register the resource provider that the message names: [`kubectl capz doctor`](../doctor.md) lists all that a cluster needs.",
	"NoRegisteredProviderFound":             "Use a region in which the feature exists.",
	"RequestDisallowedByPolicy":             "Change the spec so that it complies with the policy that the message names, or exempt the resource group: [Azure Policy](../shared-resources.md).",
	"ScopeLocked":                           "Remove the lock from the resource, the resource group or the subscription.",
	"DenyAssignmentAuthorizationFailed":     "Remove the deny assignment, or use another scope.",
	"QuotaExceeded":                         "Request quota in the region, or use another VM size, region or fewer machines.",
	"ErrCode_InsufficientVCPUQuota":         "Request quota in the region, or use another VM size, region or fewer machines.",
	"OperationNotAllowed":                   "Request quota if the message names one. Otherwise the resource does not allow the operation: start or replace the machine, or set the former value of the field.",
	"ResourceQuotaExceeded":                 "Request a higher limit, or delete resources that you do not need.",
	"PublicIPCountLimitReached":             "Request a higher limit of public IP addresses, or use a NAT gateway or an internal API server.",
	"SubnetIsFull":                          "Use a larger subnet, or fewer machines in it.",
	"AllocationFailed":                      "Use another VM size or region, or try again later.",
	"ZonalAllocationFailed":                 "Use another VM size or zone, or try again later.",
	"OverconstrainedAllocationRequest":      "Remove a constraint, for example the zone or the placement group, or use another VM size.",
	"OverconstrainedZonalAllocationRequest": "Remove a constraint, for example the zone or the placement group, or use another VM size.",
	"SkuNotAvailable":                       "Use a VM size that the region and zone have: [`kubectl capz doctor`](../doctor.md) checks the size.",
	"UnsatisfiablePDB":                      "Let the PodDisruptionBudget that the message names allow an eviction, or force the upgrade: [upgrades](../aks/upgrade.md#upgrades-that-a-poddisruptionbudget-stops).",
	"UpgradeFailed":                         "Correct the cause in the message. If the eviction of a Pod failed: [upgrades](../aks/upgrade.md#upgrades-that-a-poddisruptionbudget-stops).",
	"InvalidParameter":                      "Correct the value that the message names in the spec.",
	"InvalidResourceName":                   "Correct the name that the message has. It is in the spec, or follows from the name of an object.",
	"InvalidDomainNameLabel":                "Set `dnsName` of the address, or choose another name of the Cluster.",
	"InvalidResourceType":                   "Use a region and an `azureEnvironment` that have the type.",
	"GalleryImageNotFound":                  "Correct the image in the spec: [images](../selfmanaged/images.md).",
	"PlatformImageNotFound":                 "Use a version that the Marketplace has, or an image of your own: [images](../selfmanaged/images.md).",
	"MarketplacePurchaseEligibilityFailed":  "Accept the terms with `az vm image terms accept`: [images](../selfmanaged/images.md).",
	"ResourcePurchaseValidationFailed":      "Accept the terms with `az vm image terms accept`: [images](../selfmanaged/images.md).",
	"ImageNotFound":                         "Correct the image in the spec: [images](../selfmanaged/images.md).",
	"PropertyChangeNotAllowed":              "Set the old value again. To change it, create a new object.",
	"InvalidResourceLocation":               "Use another name, or delete the resource of this name in the other region.",
	"InvalidResourceGroupLocation":          "Use another name for the resource group, or the region that it exists in.",
	"RoleAssignmentExists":                  "Delete the other role assignment of the same principal, role and scope.",
	"NetcfgSubnetRangeOutsideVnet":          "Choose a range of the subnet inside of the network's address space.",
	"RemoteVnetHasNoGateways":               "Create a gateway in the other network, or remove `useRemoteGateways` from the peering.",
	"NetcfgSubnetRangesOverlap":             "Choose ranges that do not overlap. The message names the other subnet.",
	"PrivateIPAddressInUse":                 "Choose another private IP address.",
	"PrivateIPAddressNotInSubnet":           "Choose a private IP address in the range of the subnet.",
	"PrivateIPAddressInReservedRange":       "Choose another address: Azure reserves the first four and the last one of a subnet.",
}

// azureCode is a row of the table in internal/arm.
type azureCode struct{ code, class, reason string }

// readCodes returns the rows of the table of error codes.
func readCodes(root fs.FS) (out []azureCode, err error) {
	raw, err := fs.ReadFile(root, "internal/arm/classify.go")
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(token.NewFileSet(), "classify.go", raw, 0)
	if err != nil {
		return nil, err
	}
	ast.Inspect(syntax, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || spec.Names[0].Name != "codeRules" {
			return true
		}
		for _, element := range spec.Values[0].(*ast.CompositeLit).Elts {
			row := element.(*ast.CompositeLit)
			name, isText := row.Elts[0].(*ast.BasicLit)
			if !isText {
				continue // a code of the provider itself
			}
			var c azureCode
			c.code, _ = strconv.Unquote(name.Value)
			c.class = row.Elts[1].(*ast.Ident).Name
			c.reason, _ = strconv.Unquote(row.Elts[2].(*ast.BasicLit).Value)
			out = append(out, c)
		}
		return false
	})
	return out, nil
}

// renderCodes returns the page of error codes.
func renderCodes(root fs.FS) (*page, error) {
	codes, err := readCodes(root)
	if err != nil {
		return nil, err
	}
	p := newPage("Error codes of Azure", "Find the remedy of an error code of Azure, and how the provider handles it. The code is in the message of the condition and in the note of the event.")
	slices.SortFunc(codes, func(a, b azureCode) int { return strings.Compare(a.code, b.code) })
	for _, class := range classes {
		p.heading(2, class.title)
		p.paragraph(class.action)
		var rows [][]string
		head := []string{"Code", "Meaning"}
		for _, c := range codes {
			if c.class != class.name {
				continue
			}
			row := []string{code(c.code), plain(c.reason)}
			if class.name == "ClassStalled" {
				remedy := remedies[c.code]
				if remedy == "" {
					return nil, fmt.Errorf("the code %s has no remedy. Add one to remedies in test/reference", c.code)
				}
				row = append(row, remedy)
				head = []string{"Code", "Meaning", "What to do"}
			}
			rows = append(rows, row)
		}
		p.table(head, rows)
	}
	p.heading(2, "Other codes")
	p.paragraph("The HTTP status of the answer determines the handling of other codes. 404: the resource does not exist. 412 and 429: the provider waits. 408, 409 and 500 to 599: the provider tries again. Other statuses from 400 to 499 need action.")
	return p, nil
}
