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

// maxWays bounds how many ways out of different causes one message has.
const maxWays = 3

// Held is an object that cannot go.
type Held struct {
	Object client.Object
	// Kind is that of the object, and Finalizers are ours on it.
	Kind       string
	Finalizers []string
	// Identity names the AzureClusterIdentity, User the object that refers to it.
	Identity, User string
	// Azure says what of the object may be in Azure, in words.
	Azure string
	// Groups tells that all resources with the tag are the object's, resource groups included. Else only those are that have one of Names.
	// Child is what the object has below each of those, as "agentPools/pool0", where that is all it has; "" for none.
	Groups bool
	Names  []string
	Child  string
	// TagKey and TagValue are the tag of resources that are the object's or its Cluster's, and Subscription is where they are, "" for
	// whatever the user of a command is signed in to.
	TagKey, TagValue, Subscription string
	// Left are the resources that a look at Azure has found to be the object's; nil when there was no look.
	Left []arm.ID
}

// Identity names the AzureClusterIdentity of an object in namespace.
func Identity(ref *corev1.ObjectReference, namespace string) string {
	if ref == nil || ref.Name == "" {
		return "an AzureClusterIdentity"
	}
	return fmt.Sprintf("AzureClusterIdentity %s/%s", cmp.Or(ref.Namespace, namespace), ref.Name)
}

// Stuck says in Ready, and in the conditions of the types in also, why Azure could not be asked about the deletion, with the
// ways out. condition is what is said about err where nothing is deleted.
func (h Held) Stuck(obj Object, condition metav1.Condition, err error, also ...string) {
	condition.Message += h.WaysOut(err)
	Say(obj, condition, also...)
}

// Explain adds to the Ready condition of obj, and to those of the types in also, the ways out of what outcome says holds the
// deletion up. Conditions that are True go: they are about what is somebody else's and stays.
func (h Held) Explain(obj Object, outcome arm.Outcome, also ...string) {
	var errs []error
	for _, result := range outcome.RootCauses() {
		if result.Err != nil {
			errs = append(errs, result.Err)
		}
	}
	h.Left = nil
	for _, result := range outcome.Results {
		var azure *arm.Error
		undecided := errors.As(result.Err, &azure) && strings.EqualFold(azure.Code, tagLost)
		if result.State != arm.Gone && result.State != arm.Foreign && !undecided {
			h.Left = append(h.Left, result.ID)
		}
	}
	if len(h.Left) > 0 {
		h.Azure = "what is left in Azure" // The command names it.
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
	Forget(obj, pending...)
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

// WaysOut are what a person can do about errors that hold the deletion up, as a sentence to follow the error's own; "" when
// they pass by themselves. The last way is always there: to do without the provider what it cannot.
func (h Held) WaysOut(errs ...error) string {
	var ways []string
	for _, err := range errs {
		if way := h.way(err); way != "" && !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 0 {
		return ""
	}
	ways = append(ways[:min(maxWays, len(ways))], h.withoutProvider())
	return ". To let it go: " + strings.Join(ways, "; or ")
}

// way is what to do about one error, "" when it passes by itself.
func (h Held) way(err error) string {
	if way, ok := identityWays[identity.CodeOf(err)]; ok {
		return h.fill(way)
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
		if way, ok := azureWays[strings.ToLower(code)]; ok {
			return h.fill(way)
		}
	}
	if arm.Classify(err) == arm.ClassStalled {
		return "change what Azure refuses it for"
	}
	return ""
}

func (h Held) fill(way string) string {
	return strings.NewReplacer("{identity}", h.Identity, "{user}", h.User, "{namespace}", h.Object.GetNamespace()).Replace(way)
}

// withoutProvider is the way that is always there: a person deletes what is left and lets the object go.
func (h Held) withoutProvider() string {
	return fmt.Sprintf("delete %s without the provider and let the object go: %s && %s", h.Azure, h.removal(), Command(h.Object, h.Kind, h.Finalizers...))
}

// Command takes the finalizers off obj, and leaves those of others on it.
func Command(obj client.Object, kind string, finalizers ...string) string {
	left := []string{}
	for _, finalizer := range obj.GetFinalizers() {
		if !slices.Contains(finalizers, finalizer) {
			left = append(left, finalizer)
		}
	}
	patch, _ := json.Marshal(map[string]any{"metadata": map[string]any{"finalizers": left}}) // Strings always marshal.
	return fmt.Sprintf("kubectl patch -n %s %s/%s --type=merge -p '%s'", obj.GetNamespace(), strings.ToLower(kind), obj.GetName(), patch)
}

// another is the way out of every problem with an identity.
const another = ", or name another identity that may delete it in spec.identityRef of {user}"

// identityWays are the ways out of what keeps an identity from being used.
var identityWays = map[identity.Code]string{
	identity.IdentityNotFound:              "create {identity}" + another,
	identity.NamespaceNotAllowedByIdentity: "let spec.allowedNamespaces of {identity} include {namespace}" + another,
	identity.SecretNotFound:                "create what {identity} takes its credential from" + another,
	identity.SecretKeyMissing:              "put the key into the Secret of {identity}" + another,
	identity.CredentialsInvalid:            "give {identity} a credential that works" + another,
	identity.NotSupported:                  "change {identity}" + another,
	identity.NotAllowedByTenancy:           "do what the message says" + another,
	identity.ServiceAccountNotFound:        "create the ServiceAccount that the message names" + another,
	identity.NamespaceTerminating:          "have the application of {identity} trust the manager's own ServiceAccount and list the namespace of {identity} in the manager's --" + identity.ManagerNamespacesFlag + another,
	identity.SubscriptionMissing:           "name the subscription in spec.subscriptionID of {user}, or start the manager with AZURE_SUBSCRIPTION_ID",
}

const (
	credential   = "give {identity} a credential that Microsoft Entra ID accepts" + another
	permission   = "give {identity} the permission that Azure names, as the role Contributor has it" + another
	subscription = "give {identity} a role in the subscription, or have the subscription enabled again"
	inUse        = "delete or detach in Azure what still uses it"
	// tagLost is the code of a resource of which nothing proves that it is the object's. The error has the commands to decide that.
	tagLost = "ownershiptaglost"
)

// azureWays are the ways out of refusals of Azure, by its code in lower case. Codes in use are waiting in the table of
// classes, because what uses the resource may be on its way out; what is somebody else's is not.
var azureWays = map[string]string{
	tagLost:                                     "run one of the commands that the message gives",
	"scopelocked":                               "remove the lock that Azure names, as by az lock delete",
	"requestdisallowedbypolicy":                 "exempt it from the policy that Azure names, or change the assignment",
	"authorizationfailed":                       permission,
	"linkedauthorizationfailed":                 permission,
	"denyassignmentauthorizationfailed":         "remove the deny assignment that Azure names",
	"credentialsinvalid":                        credential,
	"invalidauthenticationtoken":                credential,
	"invalidauthenticationtokentenant":          credential,
	"authenticationfailed":                      credential,
	"subscriptionnotfound":                      subscription,
	"readonlydisabledsubscription":              subscription,
	"cannotdeleteresource":                      inUse,
	"inusesubnetcannotbedeleted":                inUse,
	"inusenetworksecuritygroupcannotbedeleted":  inUse,
	"inuseroutetablecannotbedeleted":            inUse,
	"cannotdeletenatgatewayassociatedtosubnet":  inUse,
	"publicipaddresscannotbedeleted":            inUse,
	"loadbalancerinusebyvirtualmachinescaleset": inUse,
	"nicinuse":                     inUse,
	"virtualnetworkinuse":          inUse,
	"resourcegroupdeletionblocked": "remove what keeps something in the group from being deleted, which Azure names",
}
