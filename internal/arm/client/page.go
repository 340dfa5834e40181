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

// readPage reads a page element by element: one of a thousand machines has megabytes, which nobody needs in one piece.
func readPage(body io.Reader) (page, error) {
	var out page
	values := newValueCounter()
	in := json.NewDecoder(body)
	begin, err := in.Token()
	if errors.Is(err, io.EOF) || err == nil && begin != json.Delim('{') {
		return page{}, errNotPage
	}
	for err == nil && in.More() {
		var key json.Token
		if key, err = in.Token(); err != nil {
			break
		}
		switch name, _ := key.(string); {
		case strings.EqualFold(name, "value"):
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
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		// Only a connection whose answer was read to its end is used again.
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

// errNotPage is the error of JSON that is no page.
var errNotPage = errors.New("it is no page of a list")

// isInvalidAnswer tells whether an error of reading an answer is about what it says, and not about the connection. What ends in the middle broke off.
func isInvalidAnswer(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.Is(err, errNotPage) || errors.Is(err, errTooLarge) || errors.As(err, &syntax) || errors.As(err, &kind)
}
