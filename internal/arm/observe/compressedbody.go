package observe

import (
	"bytes"
	"compress/flate"
	"io"
	"sync"
)

// CompressedBody is JSON that is kept for long and seldom read, as reads of Azure and sent bodies, in little memory: the common parts of
// bodies of one kind, which are most of them, are stored once. The zero value is empty.
type CompressedBody struct {
	// dictionary is the text that the body repeats parts of; several bodies share it.
	dictionary []byte
	data       []byte
}

// Compressor compresses bodies. The zero value is usable, by one goroutine at a time.
type Compressor struct{ dictionaries map[string][]byte }

// writers and readers have buffers of a megabyte, and of 40 KB, so they are shared.
var (
	writers = sync.Pool{New: func() any {
		// The only error is that of an invalid level.
		writer, _ := flate.NewWriter(io.Discard, flate.DefaultCompression)
		return writer
	}}
	readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}
)

// Compress compresses a body. Bodies of one kind, as a resource type, are similar: the first one is the dictionary of the others.
func (c *Compressor) Compress(kind string, body []byte) CompressedBody {
	if c.dictionaries == nil {
		c.dictionaries = map[string][]byte{}
	}
	common, ok := c.dictionaries[kind]
	if !ok {
		common = bytes.Clone(body)
		c.dictionaries[kind] = common
	}
	writer := writers.Get().(*flate.Writer)
	defer writers.Put(writer)
	var out bytes.Buffer
	writer.Reset(&out)
	// The output after the flush begins at a byte, and is a stream of its own for a reader that knows the dictionary. A dictionary of
	// flate would need a writer for each kind. A buffer accepts everything, so there are no errors.
	_, _ = writer.Write(common)
	_ = writer.Flush()
	out.Reset()
	_, _ = writer.Write(body)
	_ = writer.Close()
	return CompressedBody{dictionary: common, data: bytes.Clone(out.Bytes())}
}

// Decompress returns the original body. The error is set only for a CompressedBody that Compress did not return.
func (b CompressedBody) Decompress() ([]byte, error) {
	reader := readers.Get().(io.ReadCloser)
	defer readers.Put(reader)
	if err := reader.(flate.Resetter).Reset(bytes.NewReader(b.data), b.dictionary); err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

// IsEmpty reports whether there is no body.
func (b CompressedBody) IsEmpty() bool { return b.data == nil }

// Size returns the bytes of the body besides the shared dictionary.
func (b CompressedBody) Size() int { return len(b.data) }
