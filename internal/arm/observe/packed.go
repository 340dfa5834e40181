package observe

import (
	"bytes"
	"hash/maphash"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compressed"
)

// pack has an observation kept in little memory.
func (o Observation) pack(p *compressed.Compressor) Observation {
	o.packed, o.sum, o.Body = p.Compress(o.ID.Type(), o.Body), maphash.Bytes(seed, o.Body), nil
	return o
}

// unpacked is an observation with its body. What cannot be read back is no observation: ok is false.
func (o Observation) unpacked() (out Observation, ok bool) {
	if o.packed.IsEmpty() {
		return o, true
	}
	body, err := o.packed.Decompress()
	if err != nil {
		return Observation{}, false
	}
	o.Body, o.packed = body, compressed.Body{}
	return o, true
}

// settled is how long a body that lists show over and over is kept as it is, in times of freshness: passes that are at work on it read it
// often until then.
const settled = 3

// asBefore is an observation with the body that the one before it has in memory, if that is the same: while machines come, lists show
// all others again and again. c.mu is held.
func (c *Cache) asBefore(found, old Observation) Observation {
	found.came = found.At
	switch {
	case len(found.Body) == 0:
	case !old.packed.IsEmpty():
		if maphash.Bytes(seed, found.Body) == old.sum {
			found.Body, found.packed, found.sum, found.came = nil, old.packed, old.sum, old.came
		}
	case bytes.Equal(found.Body, old.Body):
		if found.Body, found.came = old.Body, old.came; found.At.Sub(found.came) > settled*c.freshness {
			found = found.pack(&c.packer)
		}
	}
	return found
}
