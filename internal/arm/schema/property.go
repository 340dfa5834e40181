package schema

import "encoding/json"

// Properties are all of the object, with those of every variant, what only Azure sets and what the URL of a request says.
func (p Part) Properties() map[string]Part {
	o, _ := p.resolveObject(nil)
	out := make(map[string]Part, len(o.Properties))
	for name, shape := range o.Properties {
		out[name] = Part{file: p.file, shape: shape}
	}
	return out
}

// CheckScalar holds a decoded scalar against type, values, bounds and pattern; numbers may be json.Number. The findings have
// no path.
func (p Part) CheckScalar(value any) []Finding {
	if number, ok := value.(json.Number); ok {
		value, _ = number.Float64() // What is too large is infinite, and so out of every bound.
	}
	c := checker{file: p.file}
	c.checkValue("", p.shape, value)
	return c.findings
}
