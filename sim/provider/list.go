package provider

import (
	"encoding/base64"
	"iter"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Listing is the content of a list. Stored resources are read and rendered only as far as a page needs them.
type Listing struct {
	Stored func(after string) iter.Seq[*store.Resource] // ordered by ID, those behind after; nil: none
	Wanted func(r *store.Resource) bool                 // nil: all of Stored
	Show   func(r *store.Resource) any
	More   func() []any // rendered, behind Stored; nil: none
	// EmptyEnd has an empty page follow the last one with rows.
	EmptyEnd bool
}

// RenderedListing returns a list of rows that are rendered already.
func RenderedListing(rows []any) Listing { return Listing{More: func() []any { return rows }} }

// CutPage returns at most size entries from a token on, "" being the beginning, and the token of the next page, "" at the end. The token
// of stored resources names the last one shown, so that nothing is left out or shown twice when others come or go between two pages.
func (l Listing) CutPage(token string, size int) (rows []any, next string) {
	rows = []any{}
	last := ""
	from, err := strconv.Atoi(token)
	if err != nil && l.Stored != nil {
		after, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			after = nil // Azure ignores a token that is not its own
		}
		for r := range l.Stored(string(after)) {
			if l.Wanted != nil && !l.Wanted(r) {
				continue
			}
			if len(rows) == size {
				return rows, base64.RawURLEncoding.EncodeToString([]byte(last))
			}
			rows, last = append(rows, l.Show(r)), store.Key(r.ID)
		}
	}
	if l.More == nil {
		if l.EmptyEnd && len(rows) > 0 {
			next = base64.RawURLEncoding.EncodeToString([]byte(last))
		}
		return rows, next
	}
	more := l.More()
	from = min(max(from, 0), len(more))
	to := min(from+size-len(rows), len(more))
	rows = append(rows, more[from:to]...)
	if to < len(more) {
		next = strconv.Itoa(to)
	}
	return rows, next
}

// ListCollection returns the call's collection: that of a subscription, a resource group or a parent.
func (c *Call) ListCollection() (Listing, error) {
	if err := c.checkGroup(false); err != nil {
		return Listing{}, err
	}
	t := c.Type
	if len(c.ID.Types) > 1 {
		parent := c.FindItem(c.ID.Parent().String())
		if parent == nil {
			p := c.ID.Parent()
			if len(p.Names) > 1 {
				return Listing{}, c.checkParent()
			}
			return Listing{}, ResourceNotFound(p)
		}
		if t.Inline != "" {
			out := []any{}
			for _, e := range body.Objects(parent.Body, t.Inline) {
				name := body.String(e, "name")
				out = append(out, c.renderItem(t,
					&Item{ID: parent.ID + "/" + lastType(t.Name) + "/" + name, Name: name, Location: parent.Location, Body: e, Resource: parent.Resource}))
			}
			return RenderedListing(out), nil
		}
	}
	if t.CheckFilter != nil {
		if err := t.CheckFilter(c); err != nil {
			return Listing{}, err
		}
	}
	l := Listing{
		Stored:   func(after string) iter.Seq[*store.Resource] { return c.rangeListed(after) },
		Show:     func(r *store.Resource) any { return c.RenderResource(r) },
		EmptyEnd: t.EmptyEnd,
	}
	if t.ListFilter != nil {
		l.Wanted = func(r *store.Resource) bool { return t.ListFilter(c, r) }
	}
	if t.ListMore != nil {
		l.More = func() []any { return t.ListMore(c) }
	}
	return l, nil
}

// rangeListed yields the stored resources of the call's collection.
func (c *Call) rangeListed(after string) iter.Seq[*store.Resource] {
	scope := c.listScope()
	if !c.Type.Inherited {
		return c.Range(c.Type.Name, scope, after)
	}
	return func(yield func(*store.Resource) bool) {
		for r := range c.Range(c.Type.Name, "/subscriptions/"+c.ID.Subscription, after) {
			id, err := store.ParseID(r.ID)
			if err == nil && (IsWithin(id.Scope, scope) || IsWithin(scope, id.Scope)) && !yield(r) {
				return
			}
		}
	}
}

// IsWithin reports whether a scope is another one or below it.
func IsWithin(scope, whole string) bool {
	return strings.HasPrefix(store.Key(scope)+"/", store.Key(whole)+"/")
}
