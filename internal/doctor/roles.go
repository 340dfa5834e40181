package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	azureroles "sigs.k8s.io/cluster-api-provider-azure/templates/azure-roles"
)

// role is a role definition of the release.
type role struct {
	Name    string
	Actions []string
}

func readRole(name string) (role, error) {
	var out role
	raw, err := azureroles.Files.ReadFile(name + ".json")
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return role{}, fmt.Errorf("role %s of the release: %w", name, err)
	}
	return out, nil
}

// chooseRoles returns the roles of the feature sets that the resources of a plan belong to, by the table of docs/book/azure-permissions.md.
func chooseRoles(keys []string, created map[string]overlay.Write) (out []string) {
	has := func(types ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			return slices.Contains(types, strings.ToLower(created[key].ID.Type()))
		})
	}
	mentions := func(texts ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool {
			body := strings.ToLower(string(created[key].Body))
			return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(body, text) })
		})
	}
	add := func(when bool, name string) {
		if when {
			out = append(out, name)
		}
	}
	aks := has("microsoft.containerservice/managedclusters")
	selfManaged := has("microsoft.compute/virtualmachines", "microsoft.compute/virtualmachinescalesets", "microsoft.network/loadbalancers")
	ownNetwork := has("microsoft.network/virtualnetworks", "microsoft.network/virtualnetworks/subnets")
	// Without a network in the manifests, AKS makes one with its own permissions.
	brought := !ownNetwork && mentions("/virtualnetworks/", "/userassignedidentities/")
	add(aks && !brought, "aks")
	add(aks && brought, "aks-brought-network")
	add(aks && has("microsoft.kubernetesconfiguration/extensions", "microsoft.network/privateendpoints", "microsoft.containerservice/fleets/members"),
		"aks-add-ons")
	add(selfManaged && ownNetwork, "self-managed")
	add(selfManaged && !ownNetwork, "self-managed-brought-network")
	add(selfManaged && has("microsoft.network/privatednszones", "microsoft.network/bastionhosts",
		"microsoft.network/virtualnetworks/virtualnetworkpeerings"), "self-managed-private")
	add(has("microsoft.compute/virtualmachinescalesets"), "self-managed-machine-pools")
	add(selfManaged && has("microsoft.authorization/roleassignments"), "self-managed-machine-identities")
	add(selfManaged && mentions("/diskencryptionsets/", "/capacityreservationgroups/", "/providers/microsoft.compute/images/"),
		"self-managed-brought-machine-resources")
	return out
}

// permission is a set of actions that a role grants.
type permission struct {
	Actions    []string `json:"actions"`
	NotActions []string `json:"notActions"`
}

// missingActions returns the actions that no permission grants.
// https://learn.microsoft.com/azure/role-based-access-control/role-definitions#notactions
func missingActions(actions []string, permissions []permission) (out []string) {
	for _, action := range actions {
		granted := slices.ContainsFunc(permissions, func(p permission) bool {
			return matchesAny(p.Actions, action) && !matchesAny(p.NotActions, action)
		})
		if !granted {
			out = append(out, action)
		}
	}
	return out
}

func matchesAny(patterns []string, action string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		return matchesPattern(strings.ToLower(pattern), strings.ToLower(action))
	})
}

// matchesPattern compares an action with a pattern whose stars stand for any text. Patterns come from outside, so its time is linear in
// the lengths of both for each star.
func matchesPattern(pattern, action string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == action
	}
	rest, is := strings.CutPrefix(action, parts[0])
	if !is {
		return false
	}
	for _, part := range parts[1 : len(parts)-1] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}
