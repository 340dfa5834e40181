package deletion

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// maxWays limits how many ways out one message has.
const maxWays = 3

// Resources describes the resources that an object may have created in Azure, for users who have to delete them there.
type Resources struct {
	// NothingCreated is set if the object cannot have created anything in Azure.
	NothingCreated bool
	// Identity describes the AzureClusterIdentity. User describes the object that refers to it.
	Identity, User string
	// AzureResources describes the resources that may be in Azure.
	AzureResources string
	// OwnsAllTagged is set if all resources with the tag are the object's, resource groups included. Otherwise only those with a name
	// in ResourceNames are. ChildPath selects a child of each, for example "agentPools/pool0", if the object has only that child; "" if
	// not.
	OwnsAllTagged bool
	ResourceNames []string
	ChildPath     string
}

// Blocker is the information about an object that cannot be deleted.
type Blocker struct {
	Object client.Object
	// Kind is the kind of the object. Finalizers are this provider's finalizers on it.
	Kind       string
	Finalizers []string
	Resources
	// TagKey and TagValue are the tag of the resources of the object or its Cluster. Subscription is their subscription; "" means the
	// current one of the Azure CLI.
	TagKey, TagValue, Subscription string
	// Remaining are the resources that were found in Azure to be the object's; nil if Azure was not read.
	Remaining []arm.ID
}

// DescribeIdentity describes the AzureClusterIdentity of an object in namespace.
func DescribeIdentity(ref *corev1.ObjectReference, namespace string) string {
	if ref == nil || ref.Name == "" {
		return "an AzureClusterIdentity"
	}
	return fmt.Sprintf("AzureClusterIdentity %s/%s", cmp.Or(ref.Namespace, namespace), ref.Name)
}

// ReportStuck shows in Ready and in the conditions of the types in also why Azure could not be asked about the deletion, with the ways
// out. condition is the condition for err without them.
func (h Blocker) ReportStuck(obj Object, condition metav1.Condition, err error, also ...string) {
	condition.Message += h.WaysOut(err)
	ReplaceConditions(obj, condition, also...)
}

// AddWaysOut adds the ways out of the errors in outcome to Ready and to the conditions of the types in also. Conditions that are True
// are removed: their resources belong to others and stay.
func (h Blocker) AddWaysOut(obj Object, outcome arm.Outcome, also ...string) {
	var errs []error
	for _, result := range outcome.RootCauses() {
		if result.Err != nil {
			errs = append(errs, result.Err)
		}
	}
	h.Remaining = nil
	for _, result := range outcome.Results {
		var azure *arm.Error
		undecided := errors.As(result.Err, &azure) && strings.EqualFold(azure.Code, ownershipTagLostCode)
		if result.State != arm.Gone && result.State != arm.Foreign && !undecided {
			h.Remaining = append(h.Remaining, result.ID)
		}
	}
	if len(h.Remaining) > 0 {
		h.AzureResources = "the remaining resources in Azure" // The command lists the resources.
	}
	ways := h.WaysOut(errs...)
	if ways == "" {
		return
	}
	var pending []string
	for _, condition := range obj.GetConditions() {
		if condition.Status != metav1.ConditionTrue {
			pending = append(pending, condition.Type)
		}
	}
	KeepConditions(obj, pending...)
	for _, conditionType := range append([]string{infrav1.ReadyCondition}, also...) {
		found := conditions.Get(obj, conditionType)
		if found == nil {
			continue
		}
		condition := *found
		if condition.Reason == infrav1.FailedReason {
			condition.Reason = infrav1.DeletionFailedReason
		}
		condition.Message += ways
		conditions.Set(obj, condition)
	}
}

// WaysOut explains how to resolve errors that block the deletion, to be appended to their message; "" if they resolve by themselves.
// The last way out is always to delete without the provider.
func (h Blocker) WaysOut(errs ...error) string {
	var ways []string
	for _, err := range errs {
		if way := h.findWayOut(err); way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return ""
	}
	ways = append(ways[:min(maxWays, len(ways))], h.manualWayOut())
	return ". To unblock the deletion: " + strings.Join(ways, "; or ")
}

// findWayOut explains how to resolve one error; "" if it resolves by itself.
func (h Blocker) findWayOut(err error) string {
	if way, ok := identityWaysOut[identity.CodeOf(err)]; ok {
		return h.fillPlaceholders(way)
	}
	var azure *arm.Error
	if !errors.As(err, &azure) {
		return ""
	}
	codes := []string{azure.Code}
	for _, detail := range azure.Details {
		codes = append(codes, detail.Code)
	}
	for _, code := range codes {
		if way, ok := azureWaysOut[strings.ToLower(code)]; ok {
			return h.fillPlaceholders(way)
		}
	}
	if arm.Classify(err) == arm.ClassStalled {
		return "correct the cause of Azure's refusal"
	}
	return ""
}

func (h Blocker) fillPlaceholders(way string) string {
	return strings.NewReplacer("{identity}", h.Identity, "{user}", h.User, "{namespace}", h.Object.GetNamespace()).Replace(way)
}

// manualWayOut returns the way out that always works: delete the resources by hand and remove the finalizers.
func (h Blocker) manualWayOut() string {
	return fmt.Sprintf("delete %s without the provider and remove the finalizers: %s && %s", h.AzureResources, h.removalCommand(),
		RemoveFinalizersCommand(h.Object, h.Kind, h.Finalizers...))
}

// RemoveFinalizersCommand returns the command that removes these finalizers from obj and keeps the others.
func RemoveFinalizersCommand(obj client.Object, kind string, finalizers ...string) string {
	left := []string{}
	for _, finalizer := range obj.GetFinalizers() {
		if !slices.Contains(finalizers, finalizer) {
			left = append(left, finalizer)
		}
	}
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": left}}) // Strings always marshal.
	return fmt.Sprintf("kubectl patch -n %s %s/%s --type=merge -p '%s'", obj.GetNamespace(), strings.ToLower(kind), obj.GetName(), patch)
}

// orOtherIdentity is a way out of every problem with an identity.
const orOtherIdentity = ", or set spec.identityRef of {user} to an identity that may delete it"

// identityWaysOut are the ways out of problems with an identity, by code.
var identityWaysOut = map[identity.Code]string{
	identity.IdentityNotFound:              "create {identity}" + orOtherIdentity,
	identity.NamespaceNotAllowedByIdentity: "let spec.allowedNamespaces of {identity} include {namespace}" + orOtherIdentity,
	identity.SecretNotFound:                "create the Secret that {identity} reads its credential from" + orOtherIdentity,
	identity.SecretKeyMissing:              "put the key into the Secret of {identity}" + orOtherIdentity,
	identity.CredentialsInvalid:            "give {identity} a credential that works" + orOtherIdentity,
	identity.NotSupported:                  "change {identity}" + orOtherIdentity,
	identity.NotAllowedByTenancy:           "follow the message" + orOtherIdentity,
	identity.ServiceAccountNotFound:        "create the ServiceAccount that the message names" + orOtherIdentity,
	identity.NamespaceTerminating:          "have the application of {identity} trust the manager's own ServiceAccount and list the namespace of {identity} in the manager's --" + identity.ManagerNamespacesFlag + orOtherIdentity,
	identity.SubscriptionMissing:           "set spec.subscriptionID of {user} to the subscription, or start the manager with AZURE_SUBSCRIPTION_ID",
}

const (
	replaceCredential = "give {identity} a credential that Microsoft Entra ID accepts" + orOtherIdentity
	grantPermission   = "give {identity} the permission that Azure names, as the role Contributor has it" + orOtherIdentity
	fixSubscription   = "give {identity} a role in the subscription, or have the subscription enabled again"
	removeUsage       = "delete or detach the resources that still use it"
	// ownershipTagLostCode is the code for a resource whose ownership is not proven. The error's message has the commands to decide.
	ownershipTagLostCode = "ownershiptaglost"
)

// azureWaysOut are the ways out of refusals by Azure, by its code in lower case. Codes for a resource in use have the class waiting,
// because its user may be about to go; a user outside of the cluster is not.
var azureWaysOut = map[string]string{
	ownershipTagLostCode:                        "run one of the commands that the message gives",
	"scopelocked":                               "remove the lock that Azure names, as by az lock delete",
	"requestdisallowedbypolicy":                 "exempt it from the policy that Azure names, or change the assignment",
	"authorizationfailed":                       grantPermission,
	"linkedauthorizationfailed":                 grantPermission,
	"denyassignmentauthorizationfailed":         "remove the deny assignment that Azure names",
	"credentialsinvalid":                        replaceCredential,
	"invalidauthenticationtoken":                replaceCredential,
	"invalidauthenticationtokentenant":          replaceCredential,
	"authenticationfailed":                      replaceCredential,
	"subscriptionnotfound":                      fixSubscription,
	"readonlydisabledsubscription":              fixSubscription,
	"cannotdeleteresource":                      removeUsage,
	"inusesubnetcannotbedeleted":                removeUsage,
	"inusenetworksecuritygroupcannotbedeleted":  removeUsage,
	"inuseroutetablecannotbedeleted":            removeUsage,
	"cannotdeletenatgatewayassociatedtosubnet":  removeUsage,
	"publicipaddresscannotbedeleted":            removeUsage,
	"loadbalancerinusebyvirtualmachinescaleset": removeUsage,
	"nicinuse":                     removeUsage,
	"virtualnetworkinuse":          removeUsage,
	"resourcegroupdeletionblocked": "remove the cause, named by Azure, that blocks the deletion of a resource in the group",
}
