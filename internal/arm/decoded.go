package arm

import (
	"bytes"
	"encoding/json"
)

// decoded is a body as maps, lists and scalars, or why it is none.
type decoded struct {
	body any
	err  error
}

// Seal says that the bodies of the nodes stay as they are: they, which take most of a pass, are decoded once from here on.
func (g *Graph) Seal() {
	if g.decoded == nil {
		g.decoded = map[*Node]decoded{}
	}
}

// Decoded is what a node sends as maps, lists and scalars, by Decode. Nobody may change it.
func (g *Graph) Decoded(node *Node) (any, error) {
	found, ok := g.decoded[node]
	if !ok {
		found.body, found.err = Decode(node.Body)
		if g.decoded != nil {
			g.decoded[node] = found
		}
	}
	return found.body, found.err
}

// Decode turns a JSON body or a model that marshals to one into maps, lists and scalars. Numbers are json.Number.
func Decode(body any) (any, error) {
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
