package arm

import (
	"bytes"
	"encoding/json"
)

// decodedBody is a body as maps, lists and scalars, or the error of its decoding.
type decodedBody struct {
	body any
	err  error
}

// SealBodies declares that the bodies of the nodes do not change any more: from then on each is decoded once, because decoding takes
// most of a reconciliation.
func (g *Graph) SealBodies() {
	if g.decoded == nil {
		g.decoded = map[*Node]decodedBody{}
	}
}

// DecodedBody returns the body of a node, decoded by DecodeBody. Callers must not change it.
func (g *Graph) DecodedBody(node *Node) (any, error) {
	found, ok := g.decoded[node]
	if !ok {
		found.body, found.err = DecodeBody(node.Body)
		if g.decoded != nil {
			g.decoded[node] = found
		}
	}
	return found.body, found.err
}

// DecodeBody converts a JSON body, or a model that marshals to one, into maps, lists and scalars. Numbers are json.Number.
func DecodeBody(body any) (any, error) {
	raw, ok := body.(json.RawMessage)
	if !ok {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	if len(raw) == 0 {
		return nil, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var out any
	err := decoder.Decode(&out)
	return out, err
}
