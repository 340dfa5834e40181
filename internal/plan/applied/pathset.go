package applied

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Leaf paths have the form that they have in annotations (jsonpath.Path.Pointer), as in "/properties/loadBalancingRules[LBRuleHTTPS]".
const (
	// recorded is the pointer to the whole of a resource: it was seen in Azure as the object's own.
	recorded = ""
	// detached is in the place of a path for a resource that stays when no plan has it any more.
	detached = "-"
	// allResources is in the place of an ID for the tags that all resources have.
	allResources = "*"
	// tagsPrefix is where the tags of a resource are.
	tagsPrefix = "/tags/"
)

// pathSet is a set of resource IDs without subscription and leaf paths, by the IDs in one case.
type pathSet map[string]*entry

// entry has the paths that were sent of one resource, in the case in which they were written. The keys are the paths in one case.
// unconfirmed has the keys of pending paths.
type entry struct {
	id          string
	paths       map[string]string
	unconfirmed map[string]bool
}

func (s pathSet) addPaths(id string, paths ...string) {
	key := strings.ToLower(id)
	if s[key] == nil {
		s[key] = &entry{id: id, paths: map[string]string{}}
	}
	for _, path := range paths {
		if !s[key].hasPath(path) {
			s[key].paths[foldCase(path)] = path
		}
		delete(s[key].unconfirmed, foldCase(path))
	}
}

// addPending adds paths as pending, unless they are there.
func (s pathSet) addPending(id string, paths ...string) {
	for _, path := range paths {
		if !s.hasPath(id, path) {
			s.addPaths(id, path)
			if added := s[strings.ToLower(id)]; added.unconfirmed == nil {
				added.unconfirmed = map[string]bool{foldCase(path): true}
			} else {
				added.unconfirmed[foldCase(path)] = true
			}
		}
	}
}

// addFrom adds the paths of an entry, which may be nil, as they are there.
func (s pathSet) addFrom(id string, other *entry) {
	s.addPaths(id)
	for _, path := range other.sortedPaths() {
		if other.unconfirmed[foldCase(path)] {
			s.addPending(id, path)
		} else {
			s.addPaths(id, path)
		}
	}
}

// hasConfirmed reports whether a path is there and not pending.
func (s pathSet) hasConfirmed(id, path string) bool {
	return s.hasPath(id, path) && !s[strings.ToLower(id)].unconfirmed[foldCase(path)]
}

func (s pathSet) hasPath(id, path string) bool { return s[strings.ToLower(id)].hasPath(path) }

func (e *entry) hasPath(path string) bool {
	if e == nil {
		return false
	}
	_, ok := e.paths[foldCase(path)]
	return ok
}

func (e *entry) sortedPaths() []string {
	if e == nil {
		return nil
	}
	return slices.Sorted(maps.Values(e.paths))
}

// sortedEntries returns the entries in the order of their IDs.
func (s pathSet) sortedEntries() []*entry {
	return slices.SortedFunc(maps.Values(s), func(a, b *entry) int { return strings.Compare(a.id, b.id) })
}

func (s pathSet) unionWith(other pathSet) pathSet {
	out := pathSet{}
	for _, all := range []pathSet{s, other} {
		for _, entry := range all {
			out.addFrom(entry.id, entry)
		}
	}
	return out
}

// containsAll reports whether the set has all that another one has.
func (s pathSet) containsAll(other pathSet) bool {
	for key, entry := range other {
		if s[key] == nil && len(entry.paths) == 0 {
			return false
		}
		for _, path := range entry.paths {
			if !s.hasPath(key, path) {
				return false
			}
		}
	}
	return true
}

// stored returns the paths as they are stored, sorted.
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

// toPaths returns the set as it is stored, nil if it is empty.
func (s pathSet) toPaths() Paths {
	if len(s) == 0 {
		return nil
	}
	out := Paths{}
	for _, entry := range s {
		out[entry.id] = entry.stored()
	}
	return out
}

// foldCase returns a path by which two are the same: names of tags and of elements have no case in Azure, keys of other maps do.
func foldCase(path string) string {
	if strings.HasPrefix(path, tagsPrefix) || strings.Contains(path, "[") {
		return strings.ToLower(path)
	}
	return path
}

// toPointer returns the form in annotations of a path of the tables of types.
func toPointer(path string) string { return jsonpath.Parse(path).Pointer() }

func elementPointer(list, name string) string { return jsonpath.Parse(list).Element(name).Pointer() }

func tagPointer(key string) string { return jsonpath.Path{{Name: "tags"}, {Name: key}}.Pointer() }

// cutTag returns the tag at a path, which may contain brackets.
func cutTag(path string) (key string, ok bool) {
	escaped, ok := strings.CutPrefix(path, tagsPrefix)
	return jsonpath.UnescapeMember(escaped), ok
}

// toPath returns a path of an annotation as Node.OwnedPaths has paths.
func toPath(pointer string) string { return jsonpath.ParsePointer(pointer).String() }
