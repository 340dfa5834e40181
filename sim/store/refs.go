package store

import (
	"sort"
	"strings"
)

// Ref is one reference of a stored resource to another one.
type Ref struct {
	From  string // ID of the referring resource
	Sub   string // path of the named array elements around the reference, "ipConfigurations/primary", or ""
	Field string // property that holds it, "subnet", "networkSecurityGroup", "loadBalancerBackendAddressPools"
	To    string // the referenced ID as written
}

// Path is From and Sub together: the ID Azure shows in back references.
func (r Ref) Path() string {
	if r.Sub == "" {
		return r.From
	}
	return r.From + "/" + r.Sub
}

// extractReferences lists the references in a body: every {"id": "/subscriptions/…"} and the keys of userAssignedIdentities. A
// deployment has none: its body shows the references of other resources.
func extractReferences(from string, body map[string]any) []Ref {
	if strings.Contains(strings.ToLower(from), "/microsoft.resources/deployments/") {
		return nil
	}
	var out []Ref
	var walk func(v any, field, sub string)
	walk = func(v any, field, sub string) {
		switch v := v.(type) {
		case map[string]any:
			if id, ok := v["id"].(string); ok && strings.HasPrefix(strings.ToLower(id), "/subscriptions/") && field != "" {
				out = append(out, Ref{From: from, Sub: sub, Field: field, To: id})
			}
			for k, e := range v {
				if k == "userAssignedIdentities" {
					if m, ok := e.(map[string]any); ok {
						for id := range m {
							out = append(out, Ref{From: from, Sub: sub, Field: k, To: id})
						}
					}
					continue
				}
				walk(e, k, sub)
			}
		case []any:
			for _, e := range v {
				inner := sub
				if m, ok := e.(map[string]any); ok {
					if name, ok := m["name"].(string); ok && name != "" {
						inner = strings.TrimPrefix(sub+"/"+field+"/"+name, "/")
					}
				}
				walk(e, field, inner)
			}
		}
	}
	walk(map[string]any{"properties": body["properties"], "identity": body["identity"]}, "", "")
	return out
}

func sortRefs(refs []Ref) {
	sort.Slice(refs, func(i, j int) bool {
		a, b := refs[i], refs[j]
		if a.From != b.From {
			return a.From < b.From
		}
		if a.Sub != b.Sub {
			return a.Sub < b.Sub
		}
		return a.Field < b.Field
	})
}
