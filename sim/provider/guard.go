package provider

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	groupType = "Microsoft.Resources/resourceGroups"
	lockType  = "Microsoft.Authorization/locks"
)

// checkGroup answers for an unknown resource group, and for writes into one that is being deleted.
func (c *Call) checkGroup(write bool) error {
	if c.ID.ResourceGroup == "" || c.ID.Namespace == "" {
		return nil
	}
	rg := c.FindGroup()
	extension := c.Type != nil && c.Type.Extension
	if rg == nil && extension && c.Method == "DELETE" && store.SameID(c.ID.Scope, c.groupID()) {
		return nil // nothing is there to delete
	}
	if rg == nil && write && c.isGroupRemembered() {
		return c.missingParent()
	}
	if rg == nil {
		return ResourceGroupNotFound(c.ID.ResourceGroup)
	}
	if write && !c.Internal && !extension && body.String(rg.Body, "properties.provisioningState") == "Deleting" {
		return ResourceGroupBeingDeleted(rg.Name())
	}
	return nil
}

// isGroupRemembered reports whether the gateway has not yet learnt that the group of a nested resource was deleted. It then looks for the
// parent. Half of the recordings have this within 20 seconds of a deletion, and in one second some of its servers know and some do not.
func (c *Call) isGroupRemembered() bool {
	if c.RemembersGroup == nil || c.Method != "DELETE" || !c.isNested() || !c.RemembersGroup(c.ID.String()) {
		return false
	}
	return slices.ContainsFunc(c.Operations(), func(op *store.Operation) bool {
		return op.Verb == "delete" && store.SameID(op.ResourceID, c.groupID()) && !op.Ended.IsZero()
	})
}

// isNested reports whether the call's resource is below another one, or an extension of another one.
func (c *Call) isNested() bool {
	scope, err := store.ParseID(c.ID.Scope)
	return len(c.ID.Names) > 1 || err == nil && scope.Namespace != ""
}

// missingParent returns the answer to the DELETE of a nested resource whose parent is gone, alone or with its group: the network provider names the top resource as
// missing, and so do some others; the rest name the parent. Extensions name the resource that they belong to.
func (c *Call) missingParent() error {
	if len(c.ID.Names) < 2 {
		scope, err := store.ParseID(c.ID.Scope)
		if err != nil {
			return err
		}
		return ResourceNotFound(scope.Top())
	}
	if c.Type.Style == Network && !strings.Contains(strings.ToLower(c.Type.Name), "/dnszones/") || namesTop[strings.ToLower(c.Type.Name)] {
		return ResourceNotFound(c.ID.Top())
	}
	return c.checkParent()
}

// namesTop are types, in lower case, for which Resource Manager names the top resource as missing, as it does for those of the network provider.
// Recording Test_Containerservice_v20251002preview_CreationAndDeletion has it for three types below clusters.
var namesTop = map[string]bool{"microsoft.storage/storageaccounts/managementpolicies": true,
	"microsoft.containerservice/managedclusters/agentpools":                true,
	"microsoft.containerservice/managedclusters/maintenanceconfigurations": true,
	"microsoft.containerservice/managedclusters/trustedaccessrolebindings": true, "microsoft.dataprotection/backupvaults/backuppolicies": true}

// FindGroup returns the resource group of the call, or nil.
func (c *Call) FindGroup() *store.Resource { return c.Get(c.groupID()) }

func (c *Call) groupID() string {
	return "/subscriptions/" + c.ID.Subscription + "/resourceGroups/" + c.ID.ResourceGroup
}

// checkParent answers for a nested resource whose parent does not exist. If the parent is nested and its own parent does not exist either,
// the answer is that for the parent: recording Test_Storage_v20220901_CreationAndDeletion.
func (c *Call) checkParent() error {
	if len(c.ID.Names) < 2 || c.FindItem(c.ID.Parent().String()) != nil {
		return nil
	}
	child, parent := c.ID, c.ID.Parent()
	for len(parent.Names) > 1 && c.FindItem(parent.Parent().String()) == nil {
		child, parent = parent, parent.Parent()
	}
	if strings.EqualFold(c.ID.Namespace, "Microsoft.Network") && c.Type.Style == Network {
		return networkError(Errorf(404, "ParentResourceNotFound",
			"Can not perform requested operation on nested resource. Parent resource '%s' not found.", parent.Name()))
	}
	verb := map[string]string{"DELETE": "delete", "GET": "read"}[c.Method]
	if verb == "" {
		verb = "write"
	}
	return gatewayError(Errorf(404, "ParentResourceNotFound",
		"Failed to perform '%s' on resource(s) of type '%s', because the parent resource '%s' could not be found.", verb,
		strings.Join(child.Types, "/"), parent.String()))
}

// CheckLocks answers when a management lock forbids the method on id.
func (c *Call) CheckLocks(method, id string) error {
	if strings.EqualFold(c.ID.Type(), lockType) {
		return nil
	}
	target := store.Key(id)
	var scopes []string
	for _, l := range c.List(lockType, "") {
		lid, _ := store.ParseID(l.ID)
		scope := store.Key(lid.Scope)
		level := body.String(l.Body, "properties.level")
		above := target == scope || strings.HasPrefix(target, scope+"/")
		below := strings.HasPrefix(scope, target+"/")
		if method == "DELETE" && (above || below) || method != "DELETE" && level == "ReadOnly" && above {
			scopes = append(scopes, lid.Scope)
		}
	}
	if len(scopes) == 0 {
		return nil
	}
	verb := "write"
	if method == "DELETE" {
		verb = "delete"
	}
	return gatewayError(Errorf(409, "ScopeLocked",
		"The scope '%s' cannot perform %s operation because following scope(s) are locked: '%s'. Please remove the lock and try again.", id, verb,
		strings.Join(scopes, ",")))
}

// checkEtag honours If-Match and If-None-Match.
func (c *Call) checkEtag(etag string, exists bool) error {
	if c.Type.Etag == NoEtag || c.APIVersion < c.Type.EtagSince {
		return nil
	}
	bare := func(s string) string { return strings.Trim(strings.TrimPrefix(s, "W/"), `"`) }
	if want := c.Header.Get("If-Match"); want != "" {
		if exists && (want == "*" || bare(want) == bare(etag)) {
			return nil
		}
		return c.etagMismatch("If-Match", want, etag)
	}
	if want := c.Header.Get("If-None-Match"); exists && (want == "*" || want != "" && bare(want) == bare(etag)) {
		return c.etagMismatch("If-None-Match", want, etag)
	}
	return nil
}

// etagMismatch is the provider's refusal of a precondition. Compute's and the network provider's words are recorded for If-Match, AKS's
// code is in the fact sheet, and those of DNS are in public reports of both headers.
func (c *Call) etagMismatch(header, want, have string) error {
	switch c.Type.Style {
	case Compute, Disk:
		if header == "If-None-Match" {
			return Errorf(412, "PreconditionFailed", "Etag provided in if-none-match header %q matches etag %q of resource.",
				strings.Trim(want, `"`), strings.Trim(have, `"`))
		}
		return Errorf(412, "PreconditionFailed", "Etag provided in if-match header %q does not match etag %q of resource.",
			strings.Trim(want, `"`), strings.Trim(have, `"`))
	case Containers:
		e := Errorf(409, "EtagMismatch", "The etag %s in the If-Match or If-None-Match header does not go with the etag %s of resource %s.",
			strings.Trim(want, `"`), strings.Trim(have, `"`), c.ID.String())
		e.Bare = true
		return e
	case PrivateDNS:
		if header == "If-None-Match" {
			kind := "Record set"
			switch lastType(c.Type.Name) {
			case "privateDnsZones", "dnszones":
				kind = "Zone"
			case "virtualNetworkLinks":
				kind = "Virtual network link"
			}
			return Errorf(412, "PreconditionFailed", "The %s %s exists already and hence cannot be created again.", kind, c.ID.Name())
		}
		return Errorf(412, "PreconditionFailed", "The condition '%s' in the If-Match header was not satisfied. The current was '%s'.",
			strings.Trim(want, `"`), strings.Trim(have, `"`))
	case Network:
		if !strings.HasSuffix(want, `"`) {
			want = `W/"` + want + `"` // An etag without quotation marks is quoted as a weak one.
		}
		e := Errorf(412, "PreconditionFailed", "Precondition failed.")
		return networkError(e.WithDetail(Errorf(0, "PreconditionFailedEtagMismatch",
			"Etag provided in %s header %s does not match etag %s of resource %s in NRP data store.", strings.ToLower(header), want, have,
			c.ID.String())))
	}
	return Errorf(412, "PreconditionFailed", "The condition '%s' in the %s header was not satisfied by the etag '%s' of resource '%s'.", want,
		header, have, c.ID.String())
}

// serialKeys returns the keys the call's operation holds.
func (c *Call) serialKeys() []string {
	if c.Type.Serial != nil {
		var out []string
		for _, id := range c.Type.Serial(c.ID) {
			out = append(out, store.Key(id))
		}
		return out
	}
	return []string{c.ID.Top().Key()}
}

// checkBusy answers when another operation holds one of the keys.
func (c *Call) checkBusy() error {
	for _, key := range c.serialKeys() {
		op := c.RunningOn(key)
		if op == nil {
			continue
		}
		switch c.Type.Style {
		case Network, PrivateDNS:
			if name := lastType(op.Type); name == "routes" || name == "virtualNetworkPeerings" {
				// Recordings show these two refused with a time to wait, all others with a conflict.
				e := networkError(Errorf(429, "RetryableError",
					"A retryable error occurred.").WithDetail(Errorf(0, "RetryableErrorDueToAnotherOperation",
					"Operation %sOperation (%s) is updating resource %s. The call can be retried in 12 seconds.", OperationName(op), op.ID,
					c.ID.Top().String())))
				e.RetryAfter = 12 * time.Second
				return e
			}
			uri := fmt.Sprintf("%s/subscriptions/%s/providers/Microsoft.Network/locations/%s/operations/%s?api-version=%s", c.BaseURL,
				c.ID.Subscription, op.Location, op.ID, c.APIVersion)
			return networkError(Errorf(409, "AnotherOperationInProgress",
				"Another operation on this or dependent resource is in progress. To retrieve status of the operation use uri: %s.", uri))
		case Compute, Disk:
			if op.Verb == "delete" && store.SameID(op.ResourceID, c.ID.Top().String()) {
				return Errorf(409, "OperationNotAllowed",
					"Operation '%s' is not allowed on %s '%s' since the %[2]s is marked for deletion. You can only retry the Delete operation (or wait for an ongoing one to complete).", strings.ToLower(c.Method), shortType(c.ID.Top().Type()), c.ID.Top().Name())
			}
			return Errorf(409, "Conflict",
				"The request failed due to conflict with a concurrent request. To resolve it, please refer to https://aka.ms/activitylog to get more details on the conflicting requests.")
		case Group:
			return ResourceGroupBeingDeleted(c.ID.ResourceGroup)
		case Deployment:
			// Azure gives a deployment seven days. Source of the words: public reports of this error.
			const form = "1/2/2006 3:04:05 PM"
			return gatewayError(Errorf(409, "DeploymentActive",
				"Unable to edit or replace deployment '%s': previous deployment from '%s' is still active (expiration time is '%s'). Please see https://aka.ms/arm-deploy for usage details.",
				c.ID.Name(), op.Started.Format(form), op.Started.AddDate(0, 0, 7).Format(form)))
		case Containers:
			e := Errorf(409, "OperationNotAllowed",
				"Operation is not allowed because there's an in progress %s operation (%s) on the managed cluster started on %s. Please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details", op.Verb, op.ID, op.Started.Format(time.RFC3339))
			e.Bare = true
			return e
		default:
			return gatewayError(Errorf(409, "Conflict", "Another operation is in progress on the resource '%s'.", c.ID.String()))
		}
	}
	return nil
}

// OperationName returns the network provider's name of an operation: PutRoute, DeleteSubnet.
func OperationName(op *store.Operation) string {
	if op.Verb == "delete" {
		return "Delete" + singularName(lastType(op.Type))
	}
	return "Put" + singularName(lastType(op.Type))
}

func shortType(typ string) string {
	if strings.EqualFold(lastType(typ), "virtualMachines") {
		return "VM"
	}
	return singularName(lastType(typ))
}

// preemptOperations ends the running operations of a resource in favour of a newer one, as Compute does when a VM is deleted while it is created.
func (c *Call) preemptOperations(id string) {
	for op := c.RunningOn(id); op != nil; op = c.RunningOn(id) {
		n := c.Operation(op.ID)
		n.Status, n.Ended = store.Canceled, c.Now()
		n.Error = Errorf(0, "OperationPreempted", "The operation has been preempted by a more recent operation.").InnerObject(false)
		c.PutOperation(n)
	}
}

// checkLocation requires and normalises the location of a tracked resource.
func (c *Call) checkLocation(old *store.Resource, b body.Object) (string, error) {
	if c.Type.Untracked {
		return "", nil
	}
	loc := NormalizeLocation(body.String(b, "location"))
	if c.Type.PutMerges && loc == "" && old != nil {
		loc = old.Location
	}
	switch {
	case loc == "":
		return "", gatewayError(Errorf(400, "LocationRequired", "The location property is required for this definition."))
	case c.Type.Global && loc != "global":
		return "", gatewayError(Errorf(400, "LocationNotAvailableForResourceType",
			"The provided location '%s' is not available for resource type '%s'. List of available regions for the resource type is 'global'.", loc,
			c.Type.Name))
	case c.Type.Name == groupType && !c.knownLocation(loc):
		return "", gatewayError(Errorf(400, "LocationNotAvailableForResourceGroup",
			"The provided location '%s' is not available for resource group. List of available regions is '%s'.", body.String(b, "location"),
			strings.Join(c.Locations, ",")))
	case !c.Type.Global && !c.knownLocation(loc):
		return "", gatewayError(Errorf(400, "LocationNotAvailableForResourceType",
			"The provided location '%s' is not available for resource type '%s'. List of available regions for the resource type is '%s'.", loc,
			c.Type.Name, strings.Join(c.Locations, ",")))
	case old != nil && old.Location != loc && c.Type.Name == groupType:
		return "", gatewayError(Errorf(409, "InvalidResourceGroupLocation",
			"Invalid resource group location '%s'. The Resource group already exists in location '%s'.", loc, old.Location))
	case old != nil && old.Location != loc:
		return "", gatewayError(Errorf(409, "InvalidResourceLocation",
			"The resource '%s' already exists in location '%s' in resource group '%s'. A resource with the same name cannot be created in location '%s'. Please select a new resource name.", c.ID.Name(), old.Location, c.ID.ResourceGroup, loc))
	}
	return loc, nil
}

func (c *Call) knownLocation(loc string) bool {
	for _, l := range c.Locations {
		if l == loc {
			return true
		}
	}
	return false
}
