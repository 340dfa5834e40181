// Package compressed keeps JSON in little memory that is kept for long and seldom read, as what was read of Azure and what was sent: what
// bodies of one kind have in common, which is most of them, is kept once.
package compressed

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// Body is a packed body. The zero value has none.
type Body struct {
	// dictionary is what the body was packed beside, of which it repeats parts; several bodies share it.
	dictionary []byte
	data       []byte
}

// Compressor packs bodies. The zero value is usable, by one goroutine at a time.
type Compressor struct{ dictionaries map[string][]byte }

// writers and readers have buffers of a megabyte, and of 40 KB, that no body takes for itself.
var (
	writers = sync.Pool{New: func() any {
		// The only error is that of a level which does not exist.
		writer, _ := flate.NewWriter(io.Discard, flate.DefaultCompression)
		return writer
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// Compress packs a body. Those of one kind, such as a resource type, are alike: the first one is what the others are packed beside.
func (p *Compressor) Compress(kind string, body []byte) Body {
	if p.dictionaries == nil {
		p.dictionaries = map[string][]byte{}
	}
	common, ok := p.dictionaries[kind]
	if !ok {
		common = bytes.Clone(body)
		p.dictionaries[kind] = common
	}
	writer := writers.Get().(*flate.Writer)
	defer writers.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	// What follows the flush begins at a byte, and is a stream of its own for who knows what came before it. A dictionary of flate's
	// would be the same with a writer for each kind. Nothing here fails: a buffer takes everything.
	_, _ = writer.Write(common)
	_ = writer.Flush()
	out.Reset()
	_, _ = writer.Write(body)
	_ = writer.Close()
	return Body{dictionary: common, data: bytes.Clone(out.Bytes())}
}

// Decompress is the body as it was packed. There is an error only where Body is not what Pack made.
func (b Body) Decompress() ([]byte, error) {
	reader := readers.Get().(io.ReadCloser)
	defer readers.Put(reader)
	if err := reader.(flate.Resetter).Reset(bytes.NewReader(b.data), b.dictionary); err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// IsEmpty tells that there is no body.
func (b Body) IsEmpty() bool { return b.data == nil }

// Size is what the body takes beside what it shares with others, in bytes.
func (b Body) Size() int { return len(b.data) }
