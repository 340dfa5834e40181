// Package userinput decodes what users write: manifests, models, settings and annotations. An error names each wrong field with its path, its
// index in a list and the type that the field has. It never has names of Go types, and never the value, which may be a password.
//
// It is pure. All readers of such documents use it; test/architecture finds those that do not.
package userinput

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Decode decodes a YAML or JSON document into a value. path is the place of the document, nil for a document of its own. Unknown fields are
// ignored.
func Decode(document []byte, path *field.Path, into any) error {
	return explain(yaml.Unmarshal(document, into), document, path, into)
}

// DecodeStrict is Decode that refuses unknown fields and fields that are there twice.
func DecodeStrict(document []byte, path *field.Path, into any) error {
	return explain(yaml.UnmarshalStrict(document, into), document, path, into)
}

// DecodeJSON is Decode for a document that has to be JSON.
func DecodeJSON(document []byte, path *field.Path, into any) error {
	return explain(json.Unmarshal(document, into), document, path, into)
}

// DecodeObject decodes one YAML or JSON document into maps and lists. An empty document has no fields.
func DecodeObject(document []byte) (map[string]any, error) {
	raw, err := yaml.YAMLToJSON(document)
	if err != nil {
		return nil, syntaxError(err)
	}
	var out map[string]any
	if err := utiljson.Unmarshal(raw, &out); err != nil { // Whole numbers are int64, as in objects of Kubernetes.
		return nil, explain(err, raw, nil, &out)
	}
	return out, nil
}

// Convert stores decoded maps and lists in a typed value. Unknown fields are ignored.
func Convert(content map[string]any, into any) error {
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into)
	if err == nil {
		return nil
	}
	return Explain(err, content, into)
}

// Explain returns the error for decoded content that a decoder could not store in a typed value.
func Explain(err error, content, into any) error {
	return summarize(FindWrongTypes(content, nil, into), err)
}

// explain returns the error for a document that could not be decoded.
func explain(err error, document []byte, path *field.Path, into any) error {
	if err == nil {
		return nil
	}
	raw, failed := yaml.YAMLToJSON(document)
	var content any
	if failed != nil || unmarshalNumbers(raw, &content) != nil {
		return syntaxError(err)
	}
	return summarize(FindWrongTypes(content, path, into), err)
}

// summarize returns the errors of fields, or, if all fields have their types, the cause.
func summarize(errs field.ErrorList, cause error) error {
	if len(errs) > 0 {
		return errs.ToAggregate()
	}
	return syntaxError(cause)
}

// goText matches what messages of decoders say about Go's types and their own steps.
var goText = regexp.MustCompile(`error (converting YAML to JSON|unmarshaling JSON): (while decoding JSON: )?|^yaml: |^json: `)

// syntaxError returns the error of a decoder without names of Go.
func syntaxError(err error) error {
	message := err.Error()
	for goText.MatchString(message) {
		message = goText.ReplaceAllString(message, "")
	}
	if strings.Contains(message, "Go ") || strings.Contains(message, "struct") {
		message = "a field has a value that it cannot have"
	}
	return errors.New(message)
}

// unmarshalNumbers decodes JSON and keeps the text of numbers.
func unmarshalNumbers(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more text follows the first value")
	}
	return nil
}

// FindWrongTypes returns an error for each value of decoded content whose type is not the one that a Go value has for it. It returns none for
// content that can be decoded.
func FindWrongTypes(content any, path *field.Path, into any) field.ErrorList {
	f := finder{}
	f.check(content, reflect.TypeOf(into), path)
	return f.errs
}

// FindUnknownFields returns the fields of decoded content that a Go value does not have.
func FindUnknownFields(content, into any) []UnknownField {
	f := finder{}
	f.check(content, reflect.TypeOf(into), nil)
	return f.unknown
}
