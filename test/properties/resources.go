package properties

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

var resourceProperties = []Property{
	{"ResourceStays", "A resource that is wanted before and after a change is never deleted in between.",
		kept(func(string, map[string]any) []string { return []string{"the resource"} })},
	{"SecurityRulesStay", "A rule that is wanted before and after a change never stops to work.", keptElements("/networksecuritygroups/", "securityRules")},
	{"RoutesStay", "A route that is wanted before and after a change never stops to work.", keptElements("/routetables/", "routes")},
	{"SubnetsStay", "Machines are in the subnet.", keptElements("/virtualnetworks/", "subnets")},
	{"LoadBalancingStays", "The API server is reached through it.", keptElements("/loadbalancers/", "loadBalancingRules", "frontendIPConfigurations",
		"backendAddressPools", "probes")},
	{"TagsStay", "A tag that is wanted before and after a change, or is another user's, never disappears.", kept(listTags)},
}

// kept returns a property of all states between two stable ones of the same resource group: each of the parts that both stable states of a
// resource have exists.
func kept(parts func(id string, body map[string]any) []string) func(t *timeline) []string {
	return func(t *timeline) (out []string) {
		before := map[string]int{}
		for i, step := range t.Steps {
			if !step.Stable {
				continue
			}
			if from, isSecond := before[step.StableGroup]; isSecond {
				for _, id := range slices.Sorted(maps.Keys(t.resources)) {
					if isInGroup(id, step.StableGroup) {
						out = append(out, findMissing(id, t.resources[id], from, i, parts)...)
					}
				}
			}
			before[step.StableGroup] = i
		}
		return out
	}
}

// isInGroup reports whether an ID, which is in lower case, is that of a resource group or of a resource in it. Each is in the group "".
func isInGroup(id, group string) bool {
	return group == "" || strings.Contains(id+"/", "/resourcegroups/"+strings.ToLower(group)+"/")
}

func findMissing(id string, versions []version, from, to int, parts func(string, map[string]any) []string) (out []string) {
	first, last := stateBefore(versions, from), stateBefore(versions, to)
	if first == nil || last == nil {
		return nil
	}
	after := parts(id, last)
	for _, part := range parts(id, first) {
		if !slices.Contains(after, part) {
			continue
		}
		for _, each := range versions {
			if each.from > from && each.from < to && (each.body == nil || !slices.Contains(parts(id, each.body), part)) {
				out = append(out, fmt.Sprintf("%s of %s was missing for a time", part, id))
				break
			}
		}
	}
	return out
}

// keptElements is kept for the elements of lists of resources whose ID has a part.
func keptElements(part string, lists ...string) func(t *timeline) []string {
	return kept(func(id string, body map[string]any) (out []string) {
		if !strings.Contains(id, part) {
			return nil
		}
		for _, list := range lists {
			elements, _ := find(body, "properties."+list).([]any)
			for _, each := range elements {
				element, _ := each.(map[string]any)
				// The rule is another one with other values.
				out = append(out, list+" "+fmt.Sprint(element["name"])+" "+encode(valuesOf(element)))
			}
		}
		return out
	})
}

// valuesOf returns the plain values of an element, which make its effect. References come and go with what refers to it.
func valuesOf(element map[string]any) map[string]any {
	properties, _ := element["properties"].(map[string]any)
	out := map[string]any{}
	for key, value := range properties {
		switch value.(type) {
		case string, float64, bool:
			if key != "provisioningState" && key != "description" {
				out[key] = value
			}
		}
	}
	return out
}

func listTags(_ string, body map[string]any) (out []string) {
	tags, _ := body["tags"].(map[string]any)
	for key, value := range tags {
		out = append(out, fmt.Sprintf("tag %s=%v", key, value))
	}
	slices.Sort(out)
	return out
}
