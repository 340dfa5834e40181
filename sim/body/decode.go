package body

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// errMore means that there is more than one value.
var errMore = errors.New("there is text after the first value: send one value, several of them as an array")

// DecodeOne decodes the only value that a decoder reads. Its errors name the field and the type that it has, and never a type of Go.
func DecodeOne(decoder *json.Decoder, into any) error {
	if err := decoder.Decode(into); err != nil {
		return explainDecoding(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errMore
	}
	return nil
}

func explainDecoding(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return fmt.Errorf("%s has to be %s, not %s", wrong.Field, describeType(wrong.Type), wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("the value has to be %s, not %s", describeType(wrong.Type), wrong.Value)
	case errors.Is(err, io.EOF):
		return errors.New("it is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("its end is missing")
	}
	if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
		return errors.New(text)
	}
	return err
}

// describeType names a type as JSON does.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return describeType(t.Elem())
	}
	return "an object"
}
