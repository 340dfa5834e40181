package conformance

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// recordedSubscriptions are those that requests name: one that the recording creates, by a type that is not served, exists from the start.
func recordedSubscriptions(all []exchange) []string {
	found := map[string]bool{redacted: true}
	for _, e := range all {
		if segments := strings.Split(strings.ToLower(e.URL.Path), "/"); len(segments) > 2 && segments[1] == "subscriptions" && guid.MatchString(segments[2]) {
			found[segments[2]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// initialResources returns writes of what a recording begins with, by path: what its first request reads, and what its first write changes
// by Azure's answer. readFirst are the paths of the former, in their order. What was read is written together with what is written first,
// because answers lack secrets.
func initialResources(all []exchange) (before map[string]exchange, readFirst []string) {
	before = map[string]exchange{}
	reads, writes, seen := map[string]exchange{}, map[string]exchange{}, map[string]bool{}
	for _, e := range all {
		path := strings.ToLower(e.URL.Path)
		if _, written := writes[path]; e.Method == "PUT" && !written {
			writes[path] = e
			if e.Status == 200 {
				before[path] = e
			}
		}
		if !seen[path] && e.Method == "GET" && e.Status == 200 && operationKey(e.URL.String()) == "" {
			readFirst = append(readFirst, path)
			reads[path] = e
		}
		seen[path] = true
	}
	for path, e := range reads {
		shown := decodeJSON(e.Answer)
		if write, written := writes[path]; written {
			shown = overlay(shown, decodeJSON(write.Body))
		}
		body, _ := json.Marshal(shown)
		e.Method, e.Body = "PUT", string(body)
		before[path] = e
	}
	return before, readFirst
}

// overlay merges the members of an object into another one.
func overlay(under, over any) any {
	u, ok := under.(map[string]any)
	o, isObject := over.(map[string]any)
	if !ok || !isObject {
		return over
	}
	for key, value := range o {
		u[key] = overlay(u[key], value)
	}
	return u
}

// beginBefore creates the resource of its first request, because the recording shows that it existed. got is the answer without it.
func (p *player) beginBefore(e exchange, got answer) bool {
	path := strings.ToLower(e.URL.Path)
	update, ok := p.before[path]
	missing := got.status == 404 || got.status == 400 && missingReference.MatchString(got.body)
	switch {
	case e.Status != 200:
		return false
	case e.Method == "GET" && got.status == 404 && strings.Contains(path, "/deletedvaults/"):
		p.deleteVaultBefore(e)
	case ok && e.Method == "PUT" && (got.status == 201 || got.status == 202):
		p.shift += p.sim.Settle()
	case ok && e.Method == "GET" && got.status == 404:
		p.onlyPolicies()
		for _, path := range p.readFirst {
			first := p.before[path]
			if here := p.sendRequest("GET", p.rewriteText(first.URL.RequestURI()), ""); here.status == 404 {
				p.createBefore(first, 4)
				// It may have been written more than once, and some of it shows more then.
				p.createBefore(first, 0)
			}
		}
	case ok && e.Method == "PUT" && missing:
		p.onlyPolicies()
		p.createBefore(update, 4)
	default:
		return false
	}
	return true
}

// missingReference finds the ID in the refusal of a reference to a resource that does not exist.
var missingReference = regexp.MustCompile(`Resource (/subscriptions/\S+) referenced by resource|Resource '(/subscriptions/[^']+)' was not found`)

// findMissing returns the ID of what a write lacks by its refusal: a resource that it refers to, its group, or its parent.
func findMissing(path string, got answer) string {
	if match := missingReference.FindStringSubmatch(got.body); match != nil {
		return match[1] + match[2]
	}
	segments := strings.Split(path, "/")
	switch {
	case got.status != 404 || len(segments) < 5:
		return ""
	case errorCode(decodeJSON(got.body)) == "ResourceGroupNotFound":
		return strings.Join(segments[:5], "/")
	}
	return strings.Join(segments[:len(segments)-2], "/")
}

// createBefore creates a resource that existed before the recording began, with those that it refers to. Many of these are in the
// recording. Those that are not get a location and nothing else.
func (p *player) createBefore(update exchange, depth int) {
	for range 8 {
		got := p.sendRequest("PUT", p.rewriteText(update.URL.RequestURI()), p.rewriteText(update.Body))
		p.shift += p.sim.Settle()
		needed := findMissing(update.URL.Path, got)
		if needed == "" || depth == 0 {
			return
		}
		next, recorded := p.before[strings.ToLower(needed)]
		if !recorded {
			var body struct {
				Location string `json:"location"`
			}
			_ = json.Unmarshal([]byte(update.Body), &body) // A body without a location has "".
			location, _ := json.Marshal(body)
			next = exchange{Method: "PUT", Body: string(location), URL: &url.URL{Path: needed, RawQuery: update.URL.RawQuery}}
		}
		p.createBefore(next, depth-1)
	}
}

// deleteVaultBefore makes the deleted vault that a recording begins with. e is the first request for it.
func (p *player) deleteVaultBefore(e exchange) {
	var shown struct {
		Properties struct{ VaultID, Location string }
	}
	if json.Unmarshal([]byte(e.Answer), &shown) != nil || shown.Properties.VaultID == "" {
		return
	}
	vault := map[string]any{"location": shown.Properties.Location,
		"properties": map[string]any{"tenantId": redacted, "sku": map[string]any{"family": "A", "name": "standard"}, "accessPolicies": []any{}}}
	if write, ok := p.before[strings.ToLower(shown.Properties.VaultID)]; ok {
		vault, _ = decodeJSON(write.Body).(map[string]any)
		if properties, ok := vault["properties"].(map[string]any); ok {
			delete(properties, "createMode")
		}
	}
	body, _ := json.Marshal(vault)
	target := shown.Properties.VaultID + "?api-version=2023-07-01"
	p.sendRequest("PUT", target, p.rewriteText(string(body)))
	p.sendRequest("DELETE", target, "")
	p.shift += p.sim.Settle()
}

// remembersGroup reports whether the recorded answer to the current request came from a server of Resource Manager that did not know yet
// that the group is gone: it names the parent.
func (p *player) remembersGroup(string) bool { return nestedMissing.MatchString(p.current.Answer) }

var nestedMissing = regexp.MustCompile(`"code": ?"(Parent)?ResourceNotFound"`)
