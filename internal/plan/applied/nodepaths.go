package applied

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// textLists are lists of text whose elements of others plans carry over.
var textLists = map[string][]string{types.VirtualNetwork: {"properties.addressSpace.addressPrefixes"}}

// leafSchemas are the types that keep all properties that a request leaves out, and whose plans change after creation.
// Every leaf of them gets an entry.
var leafSchemas = map[string]armschema.Kind{types.ManagedCluster: armschema.ManagedCluster, types.AgentPool: armschema.AgentPool}

// pathsSentBy returns the entries of a plan.
func (m State) pathsSentBy(g *arm.Graph) pathSet {
	out := pathSet{}
	if g != nil && g == m.finalPlan {
		return out.unionWith(m.finalPaths)
	}
	var common []string
	first := true
	for _, node := range g.Nodes() {
		paths, ok := m.nodePaths(g, node)
		if !ok {
			continue
		}
		out.addPaths(trimSubscription(node.ID), paths...)
		if row, _ := findRow(node.ID); row.Taggable && node.Body != nil {
			if first {
				common = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !strings.HasPrefix(path, tagsPrefix) })
			}
			common = slices.DeleteFunc(common, func(path string) bool { return !out.hasPath(trimSubscription(node.ID), path) })
			first = false
		}
	}
	for _, node := range g.Nodes() {
		entry := out[strings.ToLower(trimSubscription(node.ID))]
		if entry == nil {
			continue
		}
		for _, path := range common {
			delete(entry.paths, foldCase(path))
		}
		if _, known := m.Types.lookUp(node.ID); !known && len(entry.paths) == 0 {
			delete(out, strings.ToLower(entry.id))
		}
	}
	if len(common) > 0 {
		out.addPaths(allResources, common...)
	}
	return out
}

// nodePaths returns the leaf paths that a node sends and that get entries. ok is false for a node without an entry.
func (m State) nodePaths(g *arm.Graph, node *arm.Node) (paths []string, ok bool) {
	row, known := findRow(node.ID)
	if node.Policy == arm.Observe || !known || trimSubscription(node.ID) == "" {
		return nil, false
	}
	wants, err := wanted(g, node)
	body, isObject := wants.(map[string]any)
	if err != nil || wants != nil && !isObject {
		return nil, false // Graph.Validate reports the error.
	}
	if row.Taggable {
		all, _ := body["tags"].(map[string]any)
		for key := range all {
			if !isOwnershipTag(key) {
				paths = append(paths, tagsPrefix+escaper.Replace(key))
			}
		}
	}
	if _, remembered := m.Types.lookUp(node.ID); !remembered || node.Policy != arm.Repair {
		return paths, true
	}
	if node.Detached {
		paths = append(paths, detached)
	}
	_, allLeaves := leafSchemas[row.Name]
	if allLeaves = allLeaves || m.AllLeaves; allLeaves {
		paths = append(paths, slices.DeleteFunc(armschema.LeafPaths(body), func(path string) bool { return isCarriedList(row, path) })...)
	}
	for _, list := range slices.Concat(row.SharedLists, textLists[row.Name]) {
		if strings.Contains(list, "[]") {
			paths = append(paths, nestedPaths(body, list, "")...)
			continue
		}
		items, _ := valueAt(body, list).([]any)
		for _, item := range items {
			child := node.ID.Child(list[strings.LastIndex(list, ".")+1:], elementName(item))
			if of, isResource := findRow(child); !isResource || of.FromDefinition || of.WrittenWithParent || strings.Contains(elementName(item), "/") {
				paths = append(paths, elementPointer(list, elementName(item)))
			}
		}
	}
	for _, setting := range row.PreservedPaths {
		if !allLeaves && valueAt(body, setting) != nil {
			paths = append(paths, toPointer(setting))
		}
	}
	if row.SharedIdentity && !allLeaves {
		paths = append(paths, identityPaths(body)...)
	}
	return append(paths, m.keptPaths(node)...), true
}

// keptPaths returns the paths that earlier plans sent for a node, and that its body leaves out without dropping them.
func (m State) keptPaths(node *arm.Node) []string {
	if len(node.KeptPaths) == 0 {
		return nil
	}
	return slices.DeleteFunc(m.AppliedPaths(node.ID), func(path string) bool {
		return !slices.ContainsFunc(node.KeptPaths, func(keep string) bool { return strings.HasPrefix(path, toPointer(keep)+"/") })
	})
}

// Paths of the identities of a resource to which other programs assign identities.
const identityKinds, identityUsers = "identity.type", "identity.userAssignedIdentities"

// identityPaths returns the leaf paths of the kinds of identities and of the user-assigned ones in a body.
func identityPaths(body map[string]any) (paths []string) {
	kinds, _ := valueAt(body, identityKinds).(string)
	for kind := range strings.SplitSeq(kinds, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			paths = append(paths, elementPointer(identityKinds, kind))
		}
	}
	users, _ := valueAt(body, identityUsers).(map[string]any)
	for id := range users {
		paths = append(paths, elementPointer(identityUsers, id))
	}
	return paths
}

// nestedPaths returns the paths of the elements of lists within elements of other lists. list has the form
// "properties.a[].properties.b". within is the pointer of value.
func nestedPaths(value any, list, within string) (paths []string) {
	outer, inner, more := strings.Cut(list, "[].")
	object, _ := value.(map[string]any)
	items, _ := valueAt(object, outer).([]any)
	for _, item := range items {
		here := within + elementPointer(outer, elementName(item))
		if more {
			paths = append(paths, nestedPaths(item, inner, here)...)
		} else {
			paths = append(paths, here)
		}
	}
	return paths
}

// canSend returns true if a plan can have sent a path of a resource. Other entries of an annotation are ignored.
func (s Scope) canSend(id, path string) bool {
	if key, ok := strings.CutPrefix(path, tagsPrefix); ok {
		return !isOwnershipTag(unescaper.Replace(key))
	}
	row, known := findRow(arm.ID("/subscriptions/s" + groupsSegment + id))
	if isCarriedList(row, path) {
		return false
	}
	if _, ok := leafSchemas[row.Name]; !known || ok || path == recorded || s.AllLeaves {
		return known
	}
	list, inList := listPointer(path)
	if row.SharedIdentity && (list == toPointer(identityKinds) || list == toPointer(identityUsers)) {
		return inList
	}
	return inList && slices.ContainsFunc(slices.Concat(row.SharedLists, textLists[row.Name]), func(other string) bool { return toPointer(other) == list }) ||
		slices.ContainsFunc(row.PreservedPaths, func(setting string) bool { return toPointer(setting) == path })
}

// isCarriedList returns true for the path of a whole list into which other programs write too. Only its elements are recorded: an
// owner of the list would remove the elements of the others with it.
func isCarriedList(row types.Type, path string) bool {
	return slices.ContainsFunc(row.SharedLists, func(list string) bool { return toPointer(list) == path })
}

// moveIntoParents turns each resource that plans write in the body of its parent into an element of the parent's list. Annotations
// that were stored before, and those of the established provider, name such resources by their own IDs.
func (s pathSet) moveIntoParents(scope Scope) pathSet {
	for _, entry := range s.sortedEntries() {
		id := arm.ID("/subscriptions/s" + groupsSegment + entry.id)
		row, known := findRow(id)
		if _, remembered := scope.Types[row.Name]; !known || !row.WrittenWithParent || remembered || scope.Types == nil {
			continue
		}
		delete(s, strings.ToLower(entry.id))
		segments := strings.Split(entry.id, "/")
		list := "properties." + segments[len(segments)-2]
		if parent, ok := findRow(id.Parent()); ok && slices.Contains(parent.SharedLists, list) {
			s.addPaths(trimSubscription(id.Parent()), elementPointer(list, id.Name()))
		}
	}
	return s
}

// isOwnershipTag returns true for tags of ownership, role and name. No spec removes them.
func isOwnershipTag(key string) bool {
	return infrav1.Marks(key) || strings.EqualFold(key, infrav1.RoleTag) || strings.EqualFold(key, infrav1.NameTag)
}

// elementName returns the key of a list element: its name, ID or service, or the element itself if it is a text.
func elementName(item any) string {
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

// valueAt returns the value at a dotted path, nil if there is none.
func valueAt(body map[string]any, path string) any {
	var value any = body
	for key := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[key]
	}
	return value
}

func findRow(id arm.ID) (types.Type, bool) {
	row, err := types.ForID(id)
	return row, err == nil
}
