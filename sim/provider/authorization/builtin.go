package authorization

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// BuiltIn are the built-in roles that are served, by GUID. Source: https://learn.microsoft.com/azure/role-based-access-control/built-in-roles
var BuiltIn = map[string]string{
	"8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
	"b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
	"acdd72a7-3385-48ef-bd42-f606fba81ae7": "Reader",
	"7f951dda-4ed3-4680-a7ca-43fe172d538d": "AcrPull",
	"4d97b98b-1d4f-4787-a291-c67834d212e7": "Network Contributor",
	"f1a07417-d97a-45cb-824c-7a7467783830": "Managed Identity Operator",
	"b12aa53e-6015-4669-85d0-8515ebb3ae7f": "Private DNS Zone Contributor",
	"9980e02c-c2be-4d73-94e8-173b1dc7cf3c": "Virtual Machine Contributor",
	"18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
	"17d1049b-9a84-46fb-8f53-869881c3d3ab": "Storage Account Contributor",
	"0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8": "Azure Kubernetes Service Cluster Admin Role",
}

func render(guid string) body.Object {
	return body.Object{
		"id": "/providers/" + Definitions + "/" + guid, "name": guid, "type": Definitions,
		"properties": body.Object{"roleName": BuiltIn[guid], "type": "BuiltInRole", "description": BuiltIn[guid], "assignableScopes": []any{"/"},
			"createdOn": "2015-02-02T21:55:09.8806423Z", "updatedOn": "2023-12-05T16:41:12.6018060Z", "createdBy": nil, "updatedBy": nil,
			"permissions": []any{body.Object{"actions": []any{"*"}, "notActions": []any{}, "dataActions": []any{}, "notDataActions": []any{}}}},
	}
}

// Roles lists the role definitions that can be seen at a scope, for the collection's $filter.
func Roles(c *provider.Call) []any {
	_, rest, named := strings.Cut(strings.ToLower(c.Query.Get("$filter")), "rolename eq '")
	want, _, _ := strings.Cut(rest, "'")
	guids := []string{}
	for g := range BuiltIn {
		guids = append(guids, g)
	}
	slices.Sort(guids)
	out := []any{}
	for _, g := range guids {
		if !named || strings.ToLower(BuiltIn[g]) == want {
			out = append(out, render(g))
		}
	}
	for _, r := range c.List(Definitions, "") {
		if !named || strings.EqualFold(body.String(r.Body, "properties.roleName"), want) {
			out = append(out, c.Render(r))
		}
	}
	return out
}

// Role returns a built-in role definition, or nil.
func Role(guid string) body.Object {
	guid = strings.ToLower(guid)
	if _, ok := BuiltIn[guid]; !ok {
		return nil
	}
	return render(guid)
}
