package observe

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// compressBody returns the observation with a compressed body.
func (o Observation) compressBody(p *Compressor) Observation {
	o.compressed, o.bodyHash, o.Body = p.Compress(o.ID.Type(), o.Body), maphash.Bytes(seed, o.Body), nil
	o.head = nil
	return o
}

// decompressBody returns the observation with its body. ok is false if the body cannot be decompressed.
func (o Observation) decompressBody() (out Observation, ok bool) {
	if o.compressed.IsEmpty() {
		return o, true
	}
	body, err := o.compressed.Decompress()
	if err != nil {
		return Observation{}, false
	}
	o.Body, o.compressed, o.head = body, CompressedBody{}, new(atomic.Pointer[parsedHead])
	return o, true
}

// compressAfter is how long a body that lists return repeatedly is kept uncompressed, as a multiple of freshness: reconciliations that
// work on the resource read it often until then.
const compressAfter = 3

// shareBody returns the observation with the body of the previous one, if they are equal: while machines are created, lists return all
// others again and again. c.mu is held.
func (c *Cache) shareBody(found, old Observation) Observation {
	found.bodySince = found.At
	switch {
	case len(found.Body) == 0:
	case !old.compressed.IsEmpty():
		if maphash.Bytes(seed, found.Body) == old.bodyHash {
			found.Body, found.compressed, found.bodyHash, found.bodySince, found.head = nil, old.compressed, old.bodyHash, old.bodySince, nil
		}
	case bytes.Equal(found.Body, old.Body):
		if found.Body, found.bodySince, found.head = old.Body, old.bodySince, old.head; found.At.Sub(found.bodySince) > compressAfter*c.freshness {
			found = found.compressBody(&c.compressor)
		}
	}
	return found
}
