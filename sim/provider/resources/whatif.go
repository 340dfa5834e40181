package resources

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/sim/template"
)

// WhatIf answers POST deployments/{name}/whatIf: the change that each resource of the template would make, and the
// other resources of the group, which stay as they are. Resource Manager answers 202 with a Location first, or 200
// with the result; here it is always the latter.
//
// Source: https://learn.microsoft.com/rest/api/resources/deployments/what-if and SDK models WhatIfOperationResult,
// WhatIfChange and WhatIfPropertyChange.
func WhatIf(c *provider.Call) (*provider.Reply, error) {
	properties := body.Clone(body.Child(c.Body, "properties"))
	settings := body.String(properties, "whatIfSettings.resultFormat")
	delete(properties, "whatIfSettings")
	t, err := readTemplate(c, properties)
	if err != nil {
		return nil, err
	}
	full := !strings.EqualFold(settings, "ResourceIdOnly")
	changes, named := []any{}, map[string]bool{}
	for _, r := range t.Resources {
		if r.Skipped {
			continue
		}
		named[store.Key(r.ID)] = true
		change, err := predictChange(c, r)
		if err != nil {
			return nil, err
		}
		changes = append(changes, trimChange(change, full))
	}
	group := "/subscriptions/" + c.ID.Subscription + "/resourceGroups/" + c.ID.ResourceGroup
	for _, other := range c.Children(group) {
		if id, err := store.ParseID(other.ID); err == nil && len(id.Names) == 1 && store.SameID(id.Scope, group) && !named[store.Key(other.ID)] &&
			!strings.EqualFold(other.Type, Deployments) {
			shown := c.RenderResource(other)
			change := body.Object{"resourceId": other.ID, "changeType": "Ignore", "before": shown, "after": shown}
			if strings.EqualFold(body.String(properties, "mode"), complete) && isDeletable(c, other) {
				change = body.Object{"resourceId": other.ID, "changeType": "Delete", "before": shown}
			}
			changes = append(changes, trimChange(change, full))
		}
	}
	slices.SortStableFunc(changes, func(a, b any) int {
		return strings.Compare(strings.ToLower(body.String(a.(body.Object), "resourceId")),
			strings.ToLower(body.String(b.(body.Object), "resourceId")))
	})
	return provider.OK(body.Object{"status": store.Succeeded, "properties": body.Object{"correlationId": c.RequestID, "changes": changes}}),
		nil
}

// trimChange leaves the type and ID of a change, unless all of it was asked for.
func trimChange(change body.Object, full bool) body.Object {
	if !full {
		change = body.Object{"resourceId": change["resourceId"], "changeType": change["changeType"]}
	}
	return change
}

// predictChange returns the change that the deployment of a resource would make.
func predictChange(c *provider.Call, r *template.Resource) (body.Object, error) {
	wanted, err := r.Body()
	var invalid *template.Error
	if errors.As(err, &invalid) {
		return body.Object{"resourceId": r.ID, "changeType": "Unsupported", "unsupportedReason": invalid.Message},
			nil // it refers to a resource that does not exist yet
	}
	if err != nil {
		return nil, err
	}
	after := body.Clone(wanted)
	after["id"], after["name"], after["type"], after["apiVersion"] = r.ID, r.Name[strings.LastIndex(r.Name, "/")+1:], r.Type, r.APIVersion
	have := c.Get(r.ID)
	if have == nil {
		return body.Object{"resourceId": r.ID, "changeType": "Create", "after": after}, nil
	}
	get, err := c.CallOn("GET", r.ID)
	if err != nil {
		return nil, err
	}
	get.APIVersion, get.Internal = r.APIVersion, false
	rep, err := get.ReadResource()
	if err != nil {
		return nil, err
	}
	before, _ := rep.Body.(body.Object)
	delta := listDifferences("", before, wanted)
	kind := "NoChange"
	if len(delta) > 0 {
		kind = "Modify"
	}
	return body.Object{"resourceId": r.ID, "changeType": kind, "before": before, "after": after, "delta": delta}, nil
}

// listDifferences returns the properties whose values differ from the template's. Properties that are not in the template
// stay in mode Incremental, as far as their provider keeps them.
func listDifferences(path string, have, want body.Object) []any {
	out := []any{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		at := strings.TrimPrefix(path+"."+key, ".")
		inner, isObject := want[key].(body.Object)
		there, isThere := have[key].(body.Object)
		switch {
		case isObject && isThere:
			out = append(out, listDifferences(at, there, inner)...)
		case have[key] == nil && want[key] != nil:
			out = append(out, body.Object{"path": at, "propertyChangeType": "Create", "after": want[key]})
		case !isSameValue(key, have[key], want[key]):
			out = append(out, body.Object{"path": at, "propertyChangeType": "Modify", "before": have[key], "after": want[key]})
		}
	}
	return out
}

// isSameValue compares values as Resource Manager does: regions have several spellings, and elements of lists have more than was sent.
func isSameValue(key string, have, want any) bool {
	if text, is := want.(string); is {
		other, _ := have.(string)
		return strings.EqualFold(text, other) || key == "location" && provider.NormalizeLocation(text) == provider.NormalizeLocation(other)
	}
	list, isList := want.([]any)
	others, _ := have.([]any)
	if !isList || len(list) != len(others) {
		return !isList && body.Equal(body.Object{"v": have}, body.Object{"v": want})
	}
	for i := range list {
		element, isObject := list[i].(body.Object)
		other, _ := others[i].(body.Object)
		if isObject && len(listDifferences("", other, element)) > 0 || !isObject && !isSameValue("", others[i], list[i]) {
			return false
		}
	}
	return true
}
