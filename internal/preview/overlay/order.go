package overlay

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
)

// sortWrites sorts writes by their actors, in the order in which these were first reconciled. An actor sends several at the same time, so that their
// order is by chance: they are sorted by their resources, each after those that it refers to. Writes to one resource stay in their order.
func sortWrites(writes []Write) []Write {
	slices.SortStableFunc(writes, func(a, b Write) int {
		return cmp.Or(cmp.Compare(a.Turn, b.Turn), strings.Compare(a.ID.Key(), b.ID.Key()))
	})
	out := make([]Write, 0, len(writes))
	for len(writes) > 0 {
		end := slices.IndexFunc(writes, func(w Write) bool { return w.Turn != writes[0].Turn })
		if end < 0 {
			end = len(writes)
		}
		out = append(out, sortTurn(slices.Clone(writes[:end]))...)
		writes = writes[end:]
	}
	return out
}

func sortTurn(writes []Write) (out []Write) {
	for len(writes) > 0 {
		next := slices.IndexFunc(writes, func(w Write) bool {
			return !slices.ContainsFunc(writes, w.follows)
		})
		next = max(next, 0) // References in a circle have no order.
		out, writes = append(out, writes[next]), slices.Delete(writes, next, next+1)
	}
	return out
}

// follows reports whether a write needs another one: its resource is in the other's or refers to it, or it deletes the other's parent.
func (w Write) follows(other Write) bool {
	if w.ID.Equal(other.ID) {
		return false
	}
	if w.Method == http.MethodDelete {
		return strings.HasPrefix(other.ID.Key(), w.ID.Key()+"/")
	}
	return strings.HasPrefix(w.ID.Key(), other.ID.Key()+"/") || strings.Contains(strings.ToLower(string(w.Body)), `"`+other.ID.Key()+`"`)
}
