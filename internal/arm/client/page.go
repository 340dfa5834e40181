package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// page is a part of a collection: its elements, and the URL of the next part, "" for the last one.
type page struct {
	elements []json.RawMessage
	next     string
}

// readPage reads a page element by element: a page of a thousand machines has megabytes, and no caller needs it in one piece.
func readPage(body io.Reader) (page, error) {
	var out page
	values := newValueCounter()
	in := json.NewDecoder(body)
	begin, err := in.Token()
	if errors.Is(err, io.EOF) || err == nil && begin != json.Delim('{') {
		return page{}, errNotPage
	}
	isPage := false
	for err == nil && in.More() {
		var key json.Token
		if key, err = in.Token(); err != nil {
			break
		}
		switch name, _ := key.(string); {
		case strings.EqualFold(name, "value"):
			isPage = true
			out.elements, err = readElements(in, values)
		case strings.EqualFold(name, "nextLink"):
			err = in.Decode(&out.next)
		default:
			var other json.RawMessage
			err = in.Decode(&other)
		}
	}
	if err == nil {
		_, err = in.Token() // the end of the object
	}
	if err == nil && !isPage {
		err = errNotPage // Absence follows from a list, and must not follow from another answer.
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		// A connection is reused only if its answer was read to the end.
		_, err = io.Copy(io.Discard, body)
	}
	return out, err
}

// readElements reads a list, which may be null.
func readElements(in *json.Decoder, values *valueCounter) (out []json.RawMessage, err error) {
	begin, err := in.Token()
	if err != nil || begin == nil {
		return nil, err
	}
	if begin != json.Delim('[') {
		return nil, errNotPage
	}
	for in.More() {
		out = append(out, nil)
		if err := in.Decode(&out[len(out)-1]); err != nil {
			return nil, err
		}
		if err := values.countValues(out[len(out)-1]); err != nil {
			return nil, err
		}
		if len(out) > maxElements {
			return nil, tooLarge(fmt.Sprintf("%d elements", maxElements))
		}
	}
	_, err = in.Token()
	return out, err
}

// errNotPage is the error of JSON that is not a page.
var errNotPage = errors.New("it is not a page of a list")

// isInvalidAnswer reports whether a read error is about the content of an answer and not about the connection. An answer that ends
// early is a connection error.
func isInvalidAnswer(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.Is(err, errNotPage) || errors.Is(err, errTooLarge) || errors.As(err, &syntax) || errors.As(err, &kind)
}
