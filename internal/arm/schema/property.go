package schema

import "encoding/json"

// Properties returns all properties of the object, including those of every variant, read-only ones and those in the URL of a request.
func (p Part) Properties() map[string]Part {
	o, _ := p.resolveObject(nil)
	out := make(map[string]Part, len(o.Properties))
	for name, shape := range o.Properties {
		out[name] = Part{file: p.file, shape: shape}
	}
	return out
}

// CheckScalar checks a decoded scalar against type, values, bounds and pattern; numbers may be json.Number. The findings have no path.
func (p Part) CheckScalar(value any) []Finding {
	if number, ok := value.(json.Number); ok {
		value, _ = number.Float64() // A number that is too large becomes infinite, and exceeds every bound.
	}
	c := checker{file: p.file}
	c.checkValue("", p.shape, value)
	return c.findings
}
