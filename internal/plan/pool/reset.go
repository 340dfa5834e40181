package pool

import (
	"encoding/json"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// Paths of settings of a scale set that are reset in a way of their own.
const (
	securityTypePath = vmProfilePath + ".securityProfile.securityType"
	uefiPath         = vmProfilePath + ".securityProfile.uefiSettings"
)

// defaultValues are the values of settings, other than switches, that Azure has without the setting. "the default max price is -1 if it is
// not provided by you" (armcompute, BillingProfile).
var defaultValues = map[string]any{vmProfilePath + ".billingProfile.maxPrice": json.Number("-1")}

// replacedAsWhole are parts of the template that every plan sends with another value. Their members need no reset of their own: an image
// has one of several forms, and the form of the account depends on the operating system, which cannot change. The timeout of
// notifications has no meaning once the notifications are off.
var replacedAsWhole = []string{
	vmProfilePath + ".storageProfile.imageReference", vmProfilePath + ".osProfile", vmProfilePath + ".networkProfile",
	vmProfilePath + ".scheduledEventsProfile.terminateNotificationProfile.notBeforeTimeout",
}

// resetDropped makes the body of an existing scale set reset the settings that earlier plans sent and this one does not. Azure keeps a
// setting that a PUT leaves out, and also one that is null. A switch is turned off, and a setting with a known default gets that. The
// scale set keeps the others, and its condition names them: see Node.UnremovablePaths.
func resetDropped(in Input, g *arm.Graph, node *arm.Node) error {
	if !in.PoolFacts.ScaleSetExists {
		return nil
	}
	row, err := types.ForID(node.ID)
	if err != nil {
		return err
	}
	dropped := slices.DeleteFunc(LastApplied(in).DroppedPaths(node), func(path string) bool { return !applied.IsKeptSetting(row, path) })
	if len(dropped) == 0 {
		return nil
	}
	planned, err := g.DecodedBody(node)
	if err != nil {
		return err
	}
	stored, err := arm.DecodeBody(in.PoolFacts.ScaleSet)
	if err != nil {
		return arm.AddSubject("GET "+node.ID.ShortName(), err)
	}
	wanted, _ := planned.(map[string]any)
	body := jsonpath.CloneObject(wanted)
	keepsSecurityType := jsonpath.Get(wanted, securityTypePath) == nil && jsonpath.GetFold(stored, securityTypePath) != nil
	for _, pointer := range dropped {
		path := jsonpath.ParsePointer(pointer)
		name := path.String()
		value := path.GetFold(stored)
		isOn, isSwitch := value.(bool)
		initial, hasDefault := defaultValues[name]
		switch {
		case value == nil || slices.ContainsFunc(replacedAsWhole, func(part string) bool { return name == part || strings.HasPrefix(name, part+".") }):
		case isSwitch && keepsSecurityType && strings.HasPrefix(name, uefiPath+"."):
			// A confidential VM needs a virtual TPM, and its security type stays.
			node.UnremovablePaths = append(node.UnremovablePaths, pointer)
		case isSwitch && isOn:
			path.Set(body, false)
		case isSwitch:
		case hasDefault:
			path.Set(body, initial)
		default:
			node.UnremovablePaths = append(node.UnremovablePaths, pointer)
		}
	}
	node.Body, node.PlannedBody = body, wanted
	return nil
}
