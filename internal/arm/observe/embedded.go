package observe

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// embeddingParent returns the resource whose document contains id in full, and the path of the list in it; "" if there is none.
func embeddingParent(id arm.ID) (holder arm.ID, path string) {
	holder = id.Parent()
	if strings.Count(id.Type(), "/") < 2 || holder == "" {
		return "", ""
	}
	row, err := types.ForID(holder)
	if err != nil {
		return "", ""
	}
	kind := id.Type()[strings.LastIndex(id.Type(), "/")+1:]
	if path = row.EmbeddedChildren[strings.ToLower(kind)]; path == "" {
		return "", ""
	}
	return holder, path
}

// fromParentDocument returns a resource from the document of its parent.
func fromParentDocument(holder Observation, id arm.ID, path string) (Observation, bool) {
	out := holder
	out.ID, out.Exists, out.Body, out.ETag, out.mark, out.head = id, false, nil, "", 0, new(atomic.Pointer[parsedHead])
	if !holder.Exists {
		return out, true
	}
	if holder.FromWrite {
		return Observation{}, false
	}
	raw := holder.Body
	for _, step := range jsonpath.Parse(path) {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return Observation{}, false
		}
		raw = object[step.Name]
	}
	var elements []json.RawMessage
	if json.Unmarshal(raw, &elements) != nil || elements == nil {
		return Observation{}, false
	}
	for _, element := range elements {
		head := ParseHead(element)
		if !strings.EqualFold(head.Name, id.Name()) {
			continue
		}
		out.Exists, out.Body, out.ETag = true, completeElement(id, head, element), head.ETag
		return out, true
	}
	out.FromList = holder.listed
	return out, true
}

// completeElement returns an element in the form of a read of the resource itself: some lists have only the properties.
func completeElement(id arm.ID, head Head, element json.RawMessage) json.RawMessage {
	if head.ID != "" {
		return element
	}
	body, err := json.Marshal(map[string]any{"id": id, "name": head.Name, "type": id.Type(), "properties": element})
	if err != nil {
		return element
	}
	return body
}

// embeddedObservation returns id from a read of its parent's document from oldest or later, if neither has changed since. Resources
// that an operation on the parent created are in the document that showed its end. c.mu is held.
func (c *Cache) embeddedObservation(scope string, id arm.ID, oldest time.Time) (Observation, bool) {
	holder, path := embeddingParent(id)
	if holder == "" {
		return Observation{}, false
	}
	found, ok := c.entries.byKey[cacheKey(scope, holder)]
	if !ok || found.At.Before(oldest) || found.changeCount < max(c.resourceChanges[id.Key()].count, c.resourceChanges[holder.Key()].count) {
		return Observation{}, false
	}
	if found, ok = found.decompressBody(); !ok {
		return Observation{}, false
	}
	return fromParentDocument(found, id, path)
}

// splitEmbedded splits IDs into those to read first, and those that the former may contain.
func splitEmbedded(ids []arm.ID) (first, last []arm.ID) {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id.Key()] = true
	}
	for _, id := range ids {
		if holder, _ := embeddingParent(id); holder != "" && wanted[holder.Key()] {
			last = append(last, id)
			continue
		}
		first = append(first, id)
	}
	return first, last
}
