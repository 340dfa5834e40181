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

// entry is what was sent of one resource, as it was written, by what tells paths apart.
type entry struct {
	id    string
	paths map[string]string
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
	}
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
			out.add(entry.id, entry.list()...)
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

// encode is the set as it is stored, "" when it is empty.
func (s set) encode() string {
	if len(s) == 0 {
		return ""
	}
	lists := map[string][]string{}
	for _, entry := range s {
		lists[entry.id] = append([]string{}, entry.list()...)
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
