package applied

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DroppedPaths returns the leaf paths that earlier plans sent for a node and this plan does not: first those of tags of
// all resources, then the others, sorted. A node without a body, which cannot be built yet, drops nothing.
func (m State) DroppedPaths(node *arm.Node) []string {
	sent := m.applied[strings.ToLower(trimSubscription(node.ID))].sortedPaths()
	if row, _ := findRow(node.ID); row.Taggable {
		sent = append(m.applied[allResources].sortedPaths(), sent...)
	}
	if node.Body == nil || len(sent) == 0 {
		return nil
	}
	paths, ok := m.nodePaths(&arm.Graph{}, node)
	if !ok {
		return nil
	}
	sends := pathSet{}
	sends.addPaths(allResources, paths...)
	var out []string
	for _, path := range sent {
		if path != recorded && path != detached && !sends.hasPath(allResources, path) {
			sends.addPaths(allResources, path)
			out = append(out, path)
		}
	}
	return out
}

// AddRemovals makes the nodes of a plan remove the paths that they no longer send. It skips properties that Azure keeps when a
// request leaves them out: plans put the removal into the body.
func (m State) AddRemovals(g *arm.Graph) {
	for _, node := range g.Nodes() {
		row, _ := findRow(node.ID)
		_, inBody := leafSchemas[row.Name]
		for _, path := range m.DroppedPaths(node) {
			list, _, _ := strings.Cut(toPath(path), "[")
			if key, isTag := cutTag(path); isTag {
				node.DropTags = append(node.DropTags, key)
			} else if !inBody && !IsKeptSetting(row, path) && !slices.Contains(textLists[row.Name], list) && !slices.Contains(node.OwnedPaths, toPath(path)) {
				node.OwnedPaths = append(node.OwnedPaths, toPath(path))
			}
		}
	}
}

// ListPruned returns the resources that earlier plans sent, and that neither the plan nor the spec has. The engine deletes
// those that the object owns: by their ownership tag, or as children of planned resources or of other pruned ones. Other
// children are deleted by the inventory alone.
func (m State) ListPruned(g *arm.Graph) []arm.ID {
	wanted, candidates := m.pathsSentBy(g), pathSet{}
	for _, entry := range m.applied.sortedEntries() {
		id := m.toFullID(entry.id)
		if _, here := wanted[strings.ToLower(entry.id)]; !here && !g.Has(id) && m.Types.Condition(id) != "" && !entry.hasPath(detached) {
			candidates.addPaths(entry.id)
		}
	}
	// The resources of the spec need another plan, which most reconciliations do not need.
	if m.PlanOfSpec != nil && len(candidates) > 0 {
		if named, err := m.PlanOfSpec(); err == nil {
			for key := range m.pathsSentBy(named) {
				delete(candidates, key)
			}
		}
	}
	var out []arm.ID
	for _, entry := range candidates.sortedEntries() {
		parent := m.toFullID(entry.id).Parent()
		_, goes := candidates[strings.ToLower(trimSubscription(parent))]
		if parent.Type() == arm.ResourceGroupType || g.Has(parent) || goes {
			out = append(out, m.toFullID(entry.id))
		}
	}
	return out
}

// WithoutReleased returns the resources of an inventory without those that were released to stay in Azure: the plan has them as Detached and
// only reads them, or had them as Detached and no longer has them.
func (m State) WithoutReleased(g *arm.Graph, inventory []arm.ID) []arm.ID {
	return slices.DeleteFunc(slices.Clone(inventory), func(id arm.ID) bool {
		if node := g.Node(id); node != nil {
			return node.Detached && node.Policy == arm.Observe
		}
		return m.applied.hasPath(trimSubscription(id), detached)
	})
}

// AppliedPaths returns the leaf paths that earlier plans sent for a resource, sorted.
func (m State) AppliedPaths(id arm.ID) []string {
	return m.applied[strings.ToLower(trimSubscription(id))].sortedPaths()
}

// HasElement returns true if an earlier plan sent an element of a resource's list.
func (m State) HasElement(id arm.ID, list, name string) bool {
	return m.applied.hasPath(trimSubscription(id), elementPointer(list, name))
}
