package memory

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
)

// Leaf paths are JSON pointers (RFC 6901); an element of a list has its name, ID or text in brackets behind the list's, as in
// "/properties/loadBalancingRules[LBRuleHTTPS]".
const (
	// made is the pointer to the whole of a resource: it was seen in Azure as the object's own.
	made = ""
	// detached is in the place of a path for a resource that stays when no plan has it any more.
	detached = "-"
	// everything is in the place of an ID for the tags that all resources have.
	everything = "*"
	// tags is where the tags of a resource are.
	tags = "/tags/"
)

// set is a set of resource IDs without subscription and leaf paths, by the IDs in one case.
type set map[string]*entry

// entry is what was sent of one resource, as it was written, by what tells paths apart. unconfirmed are the keys of pending paths.
type entry struct {
	id          string
	paths       map[string]string
	unconfirmed map[string]bool
}

func (s set) add(id string, paths ...string) {
	key := strings.ToLower(id)
	if s[key] == nil {
		s[key] = &entry{id: id, paths: map[string]string{}}
	}
	for _, path := range paths {
		if !s[key].has(path) {
			s[key].paths[fold(path)] = path
		}
		delete(s[key].unconfirmed, fold(path))
	}
}

// addPending adds paths as pending, unless they are there.
func (s set) addPending(id string, paths ...string) {
	for _, path := range paths {
		if !s.has(id, path) {
			s.add(id, path)
			if added := s[strings.ToLower(id)]; added.unconfirmed == nil {
				added.unconfirmed = map[string]bool{fold(path): true}
			} else {
				added.unconfirmed[fold(path)] = true
			}
		}
	}
}

// addFrom adds the paths of an entry, which may be nil, as they are there.
func (s set) addFrom(id string, other *entry) {
	s.add(id)
	for _, path := range other.list() {
		if other.unconfirmed[fold(path)] {
			s.addPending(id, path)
		} else {
			s.add(id, path)
		}
	}
}

// hasConfirmed reports whether a path is there and not pending.
func (s set) hasConfirmed(id, path string) bool {
	return s.has(id, path) && !s[strings.ToLower(id)].unconfirmed[fold(path)]
}

func (s set) has(id, path string) bool { return s[strings.ToLower(id)].has(path) }

func (e *entry) has(path string) bool {
	if e == nil {
		return false
	}
	_, ok := e.paths[fold(path)]
	return ok
}

func (e *entry) list() []string {
	if e == nil {
		return nil
	}
	return slices.Sorted(maps.Values(e.paths))
}

// sorted are the entries in the order of their IDs.
func (s set) sorted() []*entry {
	return slices.SortedFunc(maps.Values(s), func(a, b *entry) int { return strings.Compare(a.id, b.id) })
}

func (s set) union(other set) set {
	out := set{}
	for _, all := range []set{s, other} {
		for _, entry := range all {
			out.addFrom(entry.id, entry)
		}
	}
	return out
}

// covers tells whether the set has all that another one has.
func (s set) covers(other set) bool {
	for key, entry := range other {
		if s[key] == nil && len(entry.paths) == 0 {
			return false
		}
		for _, path := range entry.paths {
			if !s.has(key, path) {
				return false
			}
		}
	}
	return true
}

// stored are the paths as they are stored, sorted.
func (e *entry) stored() []string {
	out := []string{}
	for key, path := range e.paths {
		if e.unconfirmed[key] {
			path = pending + path
		}
		out = append(out, path)
	}
	slices.Sort(out)
	return out
}

// encode is the set as it is stored, "" when it is empty.
func (s set) encode() string {
	if len(s) == 0 {
		return ""
	}
	lists := map[string][]string{}
	for _, entry := range s {
		lists[entry.id] = entry.stored()
	}
	raw, _ := json.Marshal(lists) // Lists of strings always marshal.
	return string(raw)
}

// fold is a path by which two are the same: names of tags and of elements have no case in Azure, keys of other maps do.
func fold(path string) string {
	if strings.HasPrefix(path, tags) || strings.Contains(path, "[") {
		return strings.ToLower(path)
	}
	return path
}

var (
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
)

// pointer is a dotted path as a JSON pointer.
func pointer(path string) string { return "/" + strings.ReplaceAll(path, ".", "/") }

// dotted is a pointer as Node.Owned has paths.
func dotted(pointer string) string {
	var out strings.Builder
	for part := range parts(strings.TrimPrefix(pointer, "/")) {
		if part[0] != '[' {
			part = strings.ReplaceAll(part, "/", ".")
		}
		out.WriteString(part)
	}
	return out.String()
}

// listOf is the list that a pointer leads to an element of, with "[]" for elements on the way, as "/properties/a[]/properties/b".
func listOf(pointer string) (list string, inList bool) {
	var out strings.Builder
	for part := range parts(pointer) {
		if inList = part[0] == '['; inList {
			part = "[]"
		}
		out.WriteString(part)
	}
	return strings.TrimSuffix(out.String(), "[]"), inList
}

// parts are the parts of a pointer in their order: those outside of brackets, and names of elements in theirs.
func parts(pointer string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for pointer != "" {
			end := strings.IndexByte(pointer, '[')
			if end == 0 {
				end = strings.IndexByte(pointer, ']') + 1
			}
			if end <= 0 {
				end = len(pointer)
			}
			if !yield(pointer[:end]) {
				return
			}
			pointer = pointer[end:]
		}
	}
}

func element(list, name string) string { return pointer(list) + "[" + name + "]" }
