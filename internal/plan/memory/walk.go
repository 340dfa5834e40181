package memory

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// texts are the lists of text that plans carry others' elements over in.
var texts = map[string][]string{types.VirtualNetwork: {"properties.addressSpace.addressPrefixes"}}

// schemas are the types that keep what a request leaves out and whose plans change after creation: every leaf is remembered.
var schemas = map[string]armschema.Kind{types.ManagedCluster: armschema.ManagedCluster, types.AgentPool: armschema.AgentPool}

// sentBy is what a plan sends and a later one may want no more.
func (m Memory) sentBy(g *arm.Graph) set {
	out := set{}
	if g != nil && g == m.final {
		return out.union(m.sends)
	}
	var common []string
	first := true
	for _, node := range g.Nodes() {
		paths, ok := m.walk(g, node)
		if !ok {
			continue
		}
		out.add(short(node.ID), paths...)
		if row, _ := rowOf(node.ID); row.Taggable && node.Body != nil {
			if first {
				common = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !strings.HasPrefix(path, tags) })
			}
			common = slices.DeleteFunc(common, func(path string) bool { return !out.has(short(node.ID), path) })
			first = false
		}
	}
	for _, node := range g.Nodes() {
		entry := out[strings.ToLower(short(node.ID))]
		if entry == nil {
			continue
		}
		for _, path := range common {
			delete(entry.paths, fold(path))
		}
		if _, known := m.Types.of(node.ID); !known && len(entry.paths) == 0 {
			delete(out, strings.ToLower(entry.id))
		}
	}
	if len(common) > 0 {
		out.add(everything, common...)
	}
	return out
}

// walk are the leaf paths that a node sends. ok is false for a node that is not remembered.
func (m Memory) walk(g *arm.Graph, node *arm.Node) (paths []string, ok bool) {
	row, known := rowOf(node.ID)
	if node.Policy == arm.Observe || !known || short(node.ID) == "" {
		return nil, false
	}
	wants, err := wanted(g, node)
	body, isObject := wants.(map[string]any)
	if err != nil || wants != nil && !isObject {
		return nil, false // Graph.Validate says what is wrong with it.
	}
	if row.Taggable {
		all, _ := body["tags"].(map[string]any)
		for key := range all {
			if !mark(key) {
				paths = append(paths, tags+escaper.Replace(key))
			}
		}
	}
	if _, remembered := m.Types.of(node.ID); !remembered || node.Policy != arm.Repair {
		return paths, true
	}
	if node.Detached {
		paths = append(paths, detached)
	}
	_, allLeaves := schemas[row.Name]
	if allLeaves = allLeaves || m.Leaves; allLeaves {
		paths = append(paths, slices.DeleteFunc(armschema.LeafPaths(body), func(path string) bool { return isCarriedList(row, path) })...)
	}
	for _, list := range slices.Concat(row.SharedLists, texts[row.Name]) {
		if strings.Contains(list, "[]") {
			paths = append(paths, nested(body, list, "")...)
			continue
		}
		items, _ := at(body, list).([]any)
		for _, item := range items {
			child := node.ID.Child(list[strings.LastIndex(list, ".")+1:], name(item))
			if of, isResource := rowOf(child); !isResource || of.FromDefinition || of.WrittenWithParent || strings.Contains(name(item), "/") {
				paths = append(paths, element(list, name(item)))
			}
		}
	}
	for _, setting := range row.PreservedPaths {
		if !allLeaves && at(body, setting) != nil {
			paths = append(paths, pointer(setting))
		}
	}
	if row.SharedIdentity && !allLeaves {
		paths = append(paths, identities(body)...)
	}
	return append(paths, m.kept(node)...), true
}

// kept are the paths that were sent of a node and that its body leaves out without dropping them.
func (m Memory) kept(node *arm.Node) []string {
	if len(node.KeptPaths) == 0 {
		return nil
	}
	return slices.DeleteFunc(m.Sent(node.ID), func(path string) bool {
		return !slices.ContainsFunc(node.KeptPaths, func(keep string) bool { return strings.HasPrefix(path, pointer(keep)+"/") })
	})
}

// The identities of a resource that others assign identities to.
const identityKinds, identityUsers = "identity.type", "identity.userAssignedIdentities"

// identities are the leaf paths of the kinds of identities and of the user-assigned ones in a body.
func identities(body map[string]any) (paths []string) {
	kinds, _ := at(body, identityKinds).(string)
	for kind := range strings.SplitSeq(kinds, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			paths = append(paths, element(identityKinds, kind))
		}
	}
	users, _ := at(body, identityUsers).(map[string]any)
	for id := range users {
		paths = append(paths, element(identityUsers, id))
	}
	return paths
}

// nested are the leaf paths of the elements of lists inside elements of other lists: list is as "properties.a[].properties.b", and within the
// path of what it begins at.
func nested(value any, list, within string) (paths []string) {
	outer, inner, more := strings.Cut(list, "[].")
	object, _ := value.(map[string]any)
	items, _ := at(object, outer).([]any)
	for _, item := range items {
		here := within + element(outer, name(item))
		if more {
			paths = append(paths, nested(item, inner, here)...)
		} else {
			paths = append(paths, here)
		}
	}
	return paths
}

// sendable tells whether a plan can have sent a path of a resource, so that nothing else in an annotation counts.
func (s Scope) sendable(id, path string) bool {
	if key, ok := strings.CutPrefix(path, tags); ok {
		return !mark(unescaper.Replace(key))
	}
	row, known := rowOf(arm.ID("/subscriptions/s" + groups + id))
	if isCarriedList(row, path) {
		return false
	}
	if _, ok := schemas[row.Name]; !known || ok || path == made || s.Leaves {
		return known
	}
	list, inList := listOf(path)
	if row.SharedIdentity && (list == pointer(identityKinds) || list == pointer(identityUsers)) {
		return inList
	}
	return inList && slices.ContainsFunc(slices.Concat(row.SharedLists, texts[row.Name]), func(other string) bool { return pointer(other) == list }) ||
		slices.ContainsFunc(row.PreservedPaths, func(setting string) bool { return pointer(setting) == path })
}

// isCarriedList returns true for the path of a whole list into which other programs write too. Only its elements are recorded: an
// owner of the list would remove the elements of the others with it.
func isCarriedList(row types.Type, path string) bool {
	return slices.ContainsFunc(row.SharedLists, func(list string) bool { return pointer(list) == path })
}

// moveIntoParents turns each resource that plans write in the body of its parent into an element of the parent's list. Annotations
// that were stored before, and those of the established provider, name such resources by their own IDs.
func (s set) moveIntoParents(scope Scope) set {
	for _, entry := range s.sorted() {
		id := arm.ID("/subscriptions/s" + groups + entry.id)
		row, known := rowOf(id)
		if _, remembered := scope.Types[row.Name]; !known || !row.WrittenWithParent || remembered || scope.Types == nil {
			continue
		}
		delete(s, strings.ToLower(entry.id))
		segments := strings.Split(entry.id, "/")
		list := "properties." + segments[len(segments)-2]
		if parent, ok := rowOf(id.Parent()); ok && slices.Contains(parent.SharedLists, list) {
			s.add(short(id.Parent()), element(list, id.Name()))
		}
	}
	return s
}

// mark tells whether a tag says whose a resource is and what for, which no spec takes away.
func mark(key string) bool {
	return infrav1.Marks(key) || strings.EqualFold(key, infrav1.RoleTag) || strings.EqualFold(key, infrav1.NameTag)
}

// name is what tells an element of a list from others: its name, ID or service, or the text that it is.
func name(item any) string {
	object, ok := item.(map[string]any)
	if !ok {
		text, _ := item.(string)
		return text
	}
	for _, key := range []string{"name", "id", "service"} {
		if text, _ := object[key].(string); text != "" {
			return text
		}
	}
	return ""
}

// at is the value at a dotted path; nil when there is none.
func at(body map[string]any, path string) any {
	var value any = body
	for key := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

func rowOf(id arm.ID) (types.Type, bool) {
	row, err := types.ForID(id)
	return row, err == nil
}
