package applied

import (
	"slices"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
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
				paths = append(paths, tagPointer(key))
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
			paths = append(paths, nestedPaths(body, list)...)
			continue
		}
		path := jsonpath.Parse(list)
		items, _ := path.Get(body).([]any)
		for _, name := range jsonpath.ElementNames(items) {
			child := node.ID.Child(list[strings.LastIndex(list, ".")+1:], name)
			if of, isResource := findRow(child); !isResource || of.FromDefinition || of.WrittenWithParent || strings.Contains(name, "/") {
				paths = append(paths, path.Element(name).Pointer())
			}
		}
	}
	for _, setting := range row.PreservedPaths {
		if !allLeaves && jsonpath.Get(body, setting) != nil {
			paths = append(paths, toPointer(setting))
		}
	}
	if !allLeaves {
		paths = append(paths, settingPaths(row, body)...)
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
		return !slices.ContainsFunc(node.KeptPaths, func(keep string) bool {
			return path == toPointer(keep) || strings.HasPrefix(path, toPointer(keep)+"/")
		})
	})
}

// Paths of the identities of a resource to which other programs assign identities.
const identityKinds, identityUsers = "identity.type", "identity.userAssignedIdentities"

// identityPaths returns the leaf paths of the kinds of identities and of the user-assigned ones in a body.
func identityPaths(body map[string]any) (paths []string) {
	kinds := jsonpath.GetText(body, identityKinds)
	for kind := range strings.SplitSeq(kinds, ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			paths = append(paths, elementPointer(identityKinds, kind))
		}
	}
	users, _ := jsonpath.Get(body, identityUsers).(map[string]any)
	for id := range users {
		paths = append(paths, elementPointer(identityUsers, id))
	}
	return paths
}

// nestedPaths returns the paths of the elements of lists within elements of other lists. list has the form
// "properties.a[].properties.b".
func nestedPaths(body map[string]any, list string) (paths []string) {
	for _, match := range jsonpath.Expand(body, list) {
		items, _ := match.Value.([]any)
		for _, name := range jsonpath.ElementNames(items) {
			paths = append(paths, match.Path.Element(name).Pointer())
		}
	}
	return paths
}

// canSend returns true if a plan can have sent a path of a resource. Other entries of an annotation are ignored.
func (s Scope) canSend(id, pointer string) bool {
	if key, ok := cutTag(pointer); ok {
		return !isOwnershipTag(key)
	}
	row, known := findRow(arm.ID("/subscriptions/s" + groupsSegment + id))
	if isCarriedList(row, pointer) {
		return false
	}
	if _, ok := leafSchemas[row.Name]; !known || ok || pointer == recorded || s.AllLeaves {
		return known
	}
	path := jsonpath.ParsePointer(pointer)
	if isKeptSetting(row, path) {
		return true
	}
	last := len(path) - 1
	if !path[last].Element {
		return slices.Contains(row.PreservedPaths, path.String())
	}
	list := path[:last].Shape().String()
	return row.SharedIdentity && (list == identityKinds || list == identityUsers) ||
		slices.Contains(row.SharedLists, list) || slices.Contains(textLists[row.Name], list)
}

// isCarriedList returns true for the path of a whole list into which other programs write too. Only its elements are recorded: an
// owner of the list would remove the elements of the others with it.
func isCarriedList(row types.Type, pointer string) bool {
	return len(row.SharedLists) > 0 && !strings.HasSuffix(pointer, "]") && slices.Contains(row.SharedLists, toPath(pointer))
}

// isOwnershipTag returns true for tags of ownership, role and name. No spec removes them.
func isOwnershipTag(key string) bool {
	return infrav1.Marks(key) || strings.EqualFold(key, infrav1.RoleTag) || strings.EqualFold(key, infrav1.NameTag)
}

func findRow(id arm.ID) (types.Type, bool) {
	row, err := types.ForID(id)
	return row, err == nil
}
