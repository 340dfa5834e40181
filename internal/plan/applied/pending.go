package applied

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// pending is in front of a path that a plan has had, while no read of Azure has shown it. It is recorded before the write, so it counts
// as sent when the process dies before the answer.
const pending = "?"

// WithoutRefused returns the paths without the pending ones of resources whose last write Azure refused, nil if there are none. A
// resource does not have the properties that a refused write would have added: a read before the write has shown that. lastWrite returns
// the result of the last write of a resource, whose ID has no subscription. A write is open until the resource has been seen as it was
// sent.
func (p Paths) WithoutRefused(lastWrite func(arm.ID) (refused, open bool)) Paths {
	isPending := func(path string) bool { return strings.HasPrefix(path, pending) }
	out := Paths{}
	anyPending, anyRefused, anyOpen := false, false, false
	for id, paths := range p {
		out[id] = paths
		anyPending = anyPending || slices.ContainsFunc(paths, isPending)
		if id == allResources {
			continue
		}
		refused, open := lastWrite(arm.ID(groupsSegment + id))
		anyRefused, anyOpen = anyRefused || refused, anyOpen || open
		if refused {
			out[id] = slices.DeleteFunc(slices.Clone(paths), isPending)
		}
	}
	if !anyPending || !anyRefused {
		return nil
	}
	// Another resource may have got the tags of all from a write that is still open.
	if common, ok := p[allResources]; ok && !anyOpen {
		if out[allResources] = slices.DeleteFunc(slices.Clone(common), isPending); len(out[allResources]) == 0 {
			delete(out, allResources)
		}
	}
	return out
}

// planned returns the paths that a plan sends. Paths are pending unless they were recorded without the mark or isShown returns true.
func (m State) planned(g *arm.Graph, isShown func(id, path string) bool) pathSet {
	out := pathSet{}
	for _, entry := range m.pathsSentBy(g) {
		out.addPaths(entry.id)
		for _, path := range entry.sortedPaths() {
			if path == detached || m.applied.hasConfirmed(entry.id, path) ||
				strings.HasPrefix(path, tagsPrefix) && m.applied.hasConfirmed(allResources, path) || isShown(entry.id, path) {
				out.addPaths(entry.id, path)
			} else {
				out.addPending(entry.id, path)
			}
		}
	}
	return out
}

// shownBy returns a function that reports whether a resource is in place or Azure shows a path of it as it was sent. For the tags of all
// resources one of them is enough.
func shownBy(g *arm.Graph, outcome arm.Outcome, full func(string) arm.ID) func(id, path string) bool {
	type bodies struct{ sent, observed any }
	decoded := map[string]bodies{}
	shows := func(node *arm.Node, path string) bool {
		result, ok := outcome.Result(node.ID)
		if !ok || result.IsDone() || len(result.Observed) == 0 {
			return ok && result.IsDone()
		}
		of, known := decoded[node.ID.Key()]
		if !known {
			of.sent, _ = wanted(g, node)
			of.observed, _ = arm.DecodeBody(result.Observed)
			decoded[node.ID.Key()] = of
		}
		return hasPath(of.sent, of.observed, path)
	}
	return func(id, path string) bool {
		if id != allResources {
			node := g.Node(full(id))
			return node != nil && shows(node, path)
		}
		return slices.ContainsFunc(g.Nodes(), func(node *arm.Node) bool {
			row, _ := findRow(node.ID)
			return row.Taggable && node.Body != nil && node.Policy != arm.Observe && shows(node, path)
		})
	}
}

// wanted returns the body that the paths of a node are read from.
func wanted(g *arm.Graph, node *arm.Node) (any, error) {
	if node.PlannedBody != nil {
		return arm.DecodeBody(node.PlannedBody)
	}
	return g.DecodedBody(node)
}

// hasPath reports whether a resource has at path the value that was sent there. For an element of a list it compares only the name, since
// Azure adds properties.
func hasPath(sent, observed any, path string) bool {
	steps := jsonpath.ParsePointer(path)
	if key, isTag := cutTag(path); isTag {
		steps = jsonpath.Path{{Name: "tags"}, {Name: key}}
	}
	for _, step := range steps {
		if sent, observed = child(sent, step), child(observed, step); sent == nil || observed == nil {
			return false
		}
	}
	return len(steps) > 0 && steps[len(steps)-1].Element || isWithin(sent, observed)
}

// child returns the value at a step, nil if there is none. An element of a text is a word in it, as a kind of identity.
func child(value any, step jsonpath.Step) any {
	text, isText := value.(string)
	if !isText || !step.Element {
		return jsonpath.Path{step}.GetFold(value)
	}
	for word := range strings.SplitSeq(text, ",") {
		if strings.EqualFold(strings.TrimSpace(word), step.Name) {
			return word
		}
	}
	return nil
}

// isWithin reports whether a value of Azure is the one that was sent, with additions. Azure changes the case of texts.
func isWithin(sent, observed any) bool {
	switch sent := sent.(type) {
	case map[string]any:
		for key, value := range sent {
			if !isWithin(value, jsonpath.Path{{Name: key}}.GetFold(observed)) {
				return false
			}
		}
		_, isObject := observed.(map[string]any)
		return isObject
	case []any:
		items, _ := observed.([]any)
		return len(items) == len(sent) && !slices.ContainsFunc(sent, func(item any) bool {
			return !slices.ContainsFunc(items, func(other any) bool { return isWithin(item, other) })
		})
	}
	return observed != nil && strings.EqualFold(fmt.Sprint(sent), fmt.Sprint(observed))
}
