package memory

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Dropped are the leaf paths that were sent of a node and that it sends no more, those of tags that all resources had first,
// then sorted. A node without a body, which cannot be rendered yet, drops nothing.
func (m Memory) Dropped(node *arm.Node) []string {
	sent := m.sent[strings.ToLower(short(node.ID))].list()
	if row, _ := rowOf(node.ID); row.Taggable {
		sent = append(m.sent[everything].list(), sent...)
	}
	if node.Body == nil || len(sent) == 0 {
		return nil
	}
	paths, ok := m.walk(&arm.Graph{}, node)
	if !ok {
		return nil
	}
	sends := set{}
	sends.add(everything, paths...)
	var out []string
	for _, path := range sent {
		if path != made && path != detached && !sends.has(everything, path) {
			sends.add(everything, path)
			out = append(out, path)
		}
	}
	return out
}

// Apply has the nodes of a plan lose what was sent of them and they send no more. Types that keep what a request leaves out have their
// body say it, which is left to their plan.
func (m Memory) Apply(g *arm.Graph) {
	for _, node := range g.Nodes() {
		row, _ := rowOf(node.ID)
		_, inBody := schemas[row.Name]
		for _, path := range m.Dropped(node) {
			list, _, _ := strings.Cut(dotted(path), "[")
			if key, isTag := strings.CutPrefix(path, tags); isTag {
				node.DropTags = append(node.DropTags, unescaper.Replace(key))
			} else if !inBody && !slices.Contains(texts[row.Name], list) && !slices.Contains(node.OwnedPaths, dotted(path)) {
				node.OwnedPaths = append(node.OwnedPaths, dotted(path))
			}
		}
	}
}

// Prune are the resources that were sent and that neither the plan nor the spec has any more, for the engine to delete where
// they are the object's: by their ownership tag, or as children of what the plan has or what goes with them. A child of
// anything else goes by the inventory alone.
func (m Memory) Prune(g *arm.Graph) []arm.ID {
	wanted, candidates := m.sentBy(g), set{}
	for _, entry := range m.sent.sorted() {
		id := m.full(entry.id)
		if _, here := wanted[strings.ToLower(entry.id)]; !here && !g.Has(id) && m.Types.Condition(id) != "" && !entry.has(detached) {
			candidates.add(entry.id)
		}
	}
	// What the spec names takes another plan, which most passes have no use for.
	if m.Named != nil && len(candidates) > 0 {
		if named, err := m.Named(); err == nil {
			for key := range m.sentBy(named) {
				delete(candidates, key)
			}
		}
	}
	var out []arm.ID
	for _, entry := range candidates.sorted() {
		parent := m.full(entry.id).Parent()
		_, goes := candidates[strings.ToLower(short(parent))]
		if parent.Type() == arm.ResourceGroupType || g.Has(parent) || goes {
			out = append(out, m.full(entry.id))
		}
	}
	return out
}

// Sent are the leaf paths that were sent of a resource, sorted.
func (m Memory) Sent(id arm.ID) []string { return m.sent[strings.ToLower(short(id))].list() }

// HasElement tells whether an element of a list of a resource was sent.
func (m Memory) HasElement(id arm.ID, list, name string) bool {
	return m.sent.has(short(id), element(list, name))
}
