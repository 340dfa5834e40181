package store

import (
	"fmt"
	"strings"
)

// ID is a parsed ARM resource ID. The zero value is the tenant scope "/".
//
// Azure compares every part without regard to case and keeps the casing of the first writer. Compare IDs by Key.
type ID struct {
	Scope         string // ID of the extended scope: "/subscriptions/s", a resource group, another resource, or "" at the tenant
	Subscription  string
	ResourceGroup string
	Namespace     string   // "Microsoft.Network"; "" for a subscription or resource group
	Types         []string // ["virtualNetworks","subnets"]
	Names         []string // ["v","s"]; one shorter than Types when the ID is a collection
}

// ParseID reads the path of a resource or of a collection. Doubled and trailing slashes are ignored, as Azure does.
func ParseID(path string) (ID, error) {
	var segs []string
	for s := range strings.SplitSeq(path, "/") {
		if s != "" {
			segs = append(segs, s)
		}
	}
	last := -1
	for i, s := range segs {
		// A resource may itself be called "providers", but names only stand at odd places.
		if strings.EqualFold(s, "providers") && i%2 == 0 {
			last = i
		}
	}
	id := ID{}
	head := segs
	if last >= 0 {
		head = segs[:last]
		if last+1 >= len(segs) {
			return ID{}, fmt.Errorf("%q names no resource provider", path)
		}
		id.Namespace = segs[last+1]
		for i, s := range segs[last+2:] {
			if i%2 == 0 {
				id.Types = append(id.Types, s)
			} else {
				id.Names = append(id.Names, s)
			}
		}
	}
	if len(head) >= 2 && strings.EqualFold(head[0], "subscriptions") {
		id.Subscription = head[1]
		if len(head) >= 4 && strings.EqualFold(head[2], "resourceGroups") {
			id.ResourceGroup = head[3]
		}
	}
	if last < 0 {
		switch {
		case len(head) == 4 && id.ResourceGroup != "", len(head) == 2 && id.Subscription != "", len(head) == 0:
		default:
			return ID{}, fmt.Errorf("%q is no resource ID", path)
		}
	}
	if len(head) > 0 {
		id.Scope = "/" + strings.Join(head, "/")
		if id.ResourceGroup != "" {
			id.Scope = "/subscriptions/" + id.Subscription + "/resourceGroups/" + id.ResourceGroup
			if len(head) > 4 {
				id.Scope += "/" + strings.Join(head[4:], "/")
			}
		}
	}
	return id, nil
}

// String returns the ID with Azure's usual casing of the fixed parts.
func (id ID) String() string {
	var b strings.Builder
	b.WriteString(id.Scope)
	if id.Namespace != "" {
		b.WriteString("/providers/")
		b.WriteString(id.Namespace)
		for i, t := range id.Types {
			b.WriteString("/")
			b.WriteString(t)
			if i < len(id.Names) {
				b.WriteString("/")
				b.WriteString(id.Names[i])
			}
		}
	}
	return b.String()
}

// Key returns the ID in lower case.
func (id ID) Key() string { return Key(id.String()) }

// Type returns the full type, "Microsoft.Network/virtualNetworks/subnets".
func (id ID) Type() string {
	if id.Namespace == "" {
		if id.ResourceGroup != "" {
			return "Microsoft.Resources/resourceGroups"
		}
		return "Microsoft.Resources/subscriptions"
	}
	return id.Namespace + "/" + strings.Join(id.Types, "/")
}

// Name returns the last name.
func (id ID) Name() string {
	if len(id.Names) > 0 {
		return id.Names[len(id.Names)-1]
	}
	if id.ResourceGroup != "" {
		return id.ResourceGroup
	}
	return id.Subscription
}

// IsCollection reports whether the ID ends with a type instead of a name.
func (id ID) IsCollection() bool { return len(id.Types) > len(id.Names) }

// Parent returns the ID of the resource this one is nested in, or the scope for a top-level resource.
func (id ID) Parent() ID {
	if len(id.Names) > 1 || len(id.Names) == 1 && id.IsCollection() {
		p := id
		p.Types = id.Types[:len(id.Types)-1]
		p.Names = id.Names[:len(p.Types)]
		return p
	}
	p, _ := ParseID(id.Scope)
	return p
}

// Top returns the top-level resource this ID is nested in, or itself.
func (id ID) Top() ID {
	t := id
	if len(id.Names) > 1 {
		t.Types, t.Names = id.Types[:1], id.Names[:1]
	}
	return t
}

// Key lowers an ID and drops a trailing slash, which is how IDs are compared.
func Key(id string) string { return strings.ToLower(strings.TrimRight(id, "/")) }

// SameID compares two IDs the way Azure does.
func SameID(a, b string) bool { return Key(a) == Key(b) }
