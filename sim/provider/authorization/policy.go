package authorization

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types of Azure Policy.
const (
	policyAssignments = "Microsoft.Authorization/policyAssignments"
	policyDefinitions = "Microsoft.Authorization/policyDefinitions"
	policySets        = "Microsoft.Authorization/policySetDefinitions"
)

// policyTypes returns the types of Azure Policy. They are stored, checked and shown; nothing evaluates them. The fault "modify" has the effect of a
// policy on requests. Source: https://learn.microsoft.com/rest/api/policyauthorization, api-version 2024-05-01.
func policyTypes() []*provider.Type {
	newType := func(name string, prepare func(*provider.Call, *provider.Draft) error) *provider.Type {
		return &provider.Type{
			Name: name, APIVersions: []string{"2024-05-01", "2023-04-01", "2022-06-01", "2021-06-01"}, Style: provider.Sync, Extension: true, Untracked: true,
			NoState: true, AcceptedStatus: 201,
			Create: provider.Timing{HTTP: 500 * time.Millisecond}, Delete: provider.Timing{HTTP: 500 * time.Millisecond},
			Prepare:    prepare,
			ListFilter: func(c *provider.Call, r *store.Resource) bool { return !atScope(c) || sameScope(c, r) },
		}
	}
	assignment := newType(policyAssignments, func(c *provider.Call, d *provider.Draft) error {
		if body.String(d.New, "properties.policyDefinitionId") == "" {
			return provider.Errorf(400, "InvalidCreatePolicyAssignmentRequest",
				"The policy assignment create request is invalid. The policy definition ID of policy assignment '%s' is missing.", d.Name)
		}
		body.Default(d.New, "properties.enforcementMode", "Default")
		if mode := body.String(d.New, "properties.enforcementMode"); !strings.EqualFold(mode, "Default") && !strings.EqualFold(mode, "DoNotEnforce") {
			return provider.Errorf(400, "InvalidPolicyAssignmentEnforcementMode", "The enforcement mode '%s' is not one of Default and DoNotEnforce.", mode)
		}
		if id := body.String(d.New, "properties.policyDefinitionId"); isOwnDefinition(id) && c.FindItem(id) == nil {
			return provider.Errorf(404, "PolicyDefinitionNotFound", "The policy definition '%s' could not be found.", id)
		}
		return nil
	})
	assignment.View = func(_ *provider.Call, it *provider.Item) {
		scope, _, _ := strings.Cut(it.ID, "/providers/"+policyAssignments)
		body.Set(it.Body, "properties.scope", scope)
	}
	definition := newType(policyDefinitions, func(_ *provider.Call, d *provider.Draft) error {
		if body.Child(d.New, "properties.policyRule") == nil {
			return provider.Errorf(400, "InvalidPolicyRule", "The policy definition '%s' has no policy rule.", d.Name)
		}
		body.Default(d.New, "properties.mode", "Indexed")
		body.Set(d.New, "properties.policyType", "Custom")
		return nil
	})
	set := newType(policySets, func(_ *provider.Call, d *provider.Draft) error {
		if len(body.Objects(d.New, "properties.policyDefinitions")) == 0 {
			return provider.Errorf(400, "InvalidPolicySetDefinitionRequest", "The policy set definition '%s' has no policy definitions.", d.Name)
		}
		body.Set(d.New, "properties.policyType", "Custom")
		return nil
	})
	return []*provider.Type{assignment, definition, set}
}

// isOwnDefinition reports whether an ID is of a definition that was made in a subscription. Built-in ones are of the tenant, and all are known.
func isOwnDefinition(id string) bool {
	return strings.HasPrefix(strings.ToLower(id), "/subscriptions/")
}
