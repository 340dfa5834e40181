package observe

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
)

// packer compresses bodies that are kept for long: Azure repeats IDs and property names in each of them. The zero value is usable, by one
// goroutine at a time.
type packer struct{ writer *flate.Writer }

// pack compresses a body, unless it stays as long as it is.
func (p *packer) pack(o Observation) Observation {
	var out bytes.Buffer
	if p.writer == nil {
		// The only error is that of a level which does not exist.
		p.writer, _ = flate.NewWriter(&out, flate.BestSpeed)
	} else {
		p.writer.Reset(&out)
	}
	if _, err := p.writer.Write(o.Body); err != nil || p.writer.Close() != nil || out.Len() >= len(o.Body) {
		return o
	}
	o.Body, o.packed = nil, bytes.Clone(out.Bytes())
	return o
}

// unpacked is an observation with its body. What cannot be read back is no observation: ok is false.
func (o Observation) unpacked() (out Observation, ok bool) {
	if o.packed == nil {
		return o, true
	}
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(o.packed)))
	if err != nil {
		return Observation{}, false
	}
	o.Body, o.packed = json.RawMessage(body), nil
	return o, true
}
