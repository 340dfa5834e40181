package lastapplied

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// DroppedPaths are the leaf paths that were sent of a node and that it sends no more, those of tags that all resources had first,
// then sorted. A node without a body, which cannot be rendered yet, drops nothing.
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

// AddRemovals has the nodes of a plan lose what was sent of them and they send no more. Types that keep what a request leaves out have their
// body say it, which is left to their plan.
func (m State) AddRemovals(g *arm.Graph) {
	for _, node := range g.Nodes() {
		row, _ := findRow(node.ID)
		_, inBody := leafSchemas[row.Name]
		for _, path := range m.DroppedPaths(node) {
			list, _, _ := strings.Cut(toDotted(path), "[")
			if key, isTag := strings.CutPrefix(path, tagsPrefix); isTag {
				node.DropTags = append(node.DropTags, unescaper.Replace(key))
			} else if !inBody && !slices.Contains(textLists[row.Name], list) && !slices.Contains(node.OwnedPaths, toDotted(path)) {
				node.OwnedPaths = append(node.OwnedPaths, toDotted(path))
			}
		}
	}
}

// ListPruned are the resources that were sent and that neither the plan nor the spec has any more, for the engine to delete where
// they are the object's: by their ownership tag, or as children of what the plan has or what goes with them. A child of
// anything else goes by the inventory alone.
func (m State) ListPruned(g *arm.Graph) []arm.ID {
	wanted, candidates := m.pathsSentBy(g), pathSet{}
	for _, entry := range m.applied.sortedEntries() {
		id := m.toFullID(entry.id)
		if _, here := wanted[strings.ToLower(entry.id)]; !here && !g.Has(id) && m.Types.Condition(id) != "" && !entry.hasPath(detached) {
			candidates.addPaths(entry.id)
		}
	}
	// What the spec names takes another plan, which most passes have no use for.
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

// AppliedPaths are the leaf paths that were sent of a resource, sorted.
func (m State) AppliedPaths(id arm.ID) []string {
	return m.applied[strings.ToLower(trimSubscription(id))].sortedPaths()
}

// HasElement tells whether an element of a list of a resource was sent.
func (m State) HasElement(id arm.ID, list, name string) bool {
	return m.applied.hasPath(trimSubscription(id), elementPointer(list, name))
}
