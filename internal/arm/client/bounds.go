package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// Bounds of answers. Azure documents none. The largest known answers are a virtual network that lists tens of thousands of IP
// configurations, and a page of a thousand machines: both have a few megabytes. Most errors have a few hundred bytes.
const (
	// maxBody bounds a resource, and a page of a list.
	maxBody = 16 << 20
	// maxValues bounds the number of values in a body: an empty object has three bytes, and takes fifty once it is decoded.
	maxValues = 1_000_000
	// maxListed bounds the elements of all pages of a list, in bytes.
	maxListed = 64 << 20
	// maxElements and maxPages bound a list of small elements.
	maxElements = 200_000
	maxPages    = 2_000
	// maxError bounds an error answer.
	maxError = 1 << 20
	// maxToken bounds an answer of Entra ID or of a metadata endpoint.
	maxToken = 1 << 20
	// maxHeader bounds the value of a header, and a URL in a body.
	maxHeader = 8 << 10
	// maxWait bounds the wait time that Azure can ask for.
	maxWait = time.Hour

	// Bounds of the stored parts of an error.
	maxCode    = 128
	maxMessage = 4 << 10
	maxDetails = 20
)

// errTooLarge is the error of an answer that exceeds a bound.
var errTooLarge = errors.New("the answer is too large")

func tooLarge(bound string) error { return fmt.Errorf("%w: it has more than %s", errTooLarge, bound) }

// boundedReader reads at most the given number of bytes and fails if there are more.
type boundedReader struct {
	io.Reader
	remaining, limit int64
}

func newBoundedReader(reader io.Reader, limit int64) *boundedReader {
	return &boundedReader{Reader: reader, remaining: limit, limit: limit}
}

// Read implements io.Reader.
func (b *boundedReader) Read(into []byte) (int, error) {
	if int64(len(into)) > b.remaining+1 {
		into = into[:b.remaining+1]
	}
	n, err := b.Reader.Read(into)
	if b.remaining -= int64(n); b.remaining < 0 {
		return n, tooLarge(fmt.Sprintf("%d MiB", b.limit>>20))
	}
	return n, err
}

// readBody reads an answer other than a list.
func readBody(body io.Reader, success bool) ([]byte, error) {
	if !success {
		return io.ReadAll(newBoundedReader(body, maxError))
	}
	out, err := io.ReadAll(newBoundedReader(body, maxBody))
	if err == nil {
		err = newValueCounter().countValues(out)
	}
	return out, err
}

// valueCounter counts the values of JSON texts.
type valueCounter struct{ left int }

func newValueCounter() *valueCounter { return &valueCounter{maxValues} }

// countValues fails if the texts so far have more than maxValues values. Each value but the first in an object or array follows a
// comma, and each object and array has a bracket.
func (c *valueCounter) countValues(text json.RawMessage) error {
	inString := false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if inString {
				i++
			}
		case '"':
			inString = !inString
		case ',', '{', '[':
			if !inString {
				c.left--
			}
		}
	}
	if c.left < 0 {
		return tooLarge(fmt.Sprintf("%d values", maxValues))
	}
	return nil
}

// headerOf returns the value of a header, "" if it is longer than any of Azure's.
func headerOf(answer *http.Response, name string) string {
	if value := answer.Header.Get(name); len(value) <= maxHeader {
		return value
	}
	return ""
}

// truncateText returns a text of Azure for an error: at most limit bytes, without the signatures of URLs.
func truncateText(answered string, limit int) string {
	return text.Truncate(text.HideSignatures(answered), limit)
}
