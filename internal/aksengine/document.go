package aksengine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of a model. They are far above the models of testdata, the largest of which is testdata/other/generated.json. A path is stored
// per value, so its length is bounded too.
const (
	// MaxModelBytes is the largest size of a model.
	MaxModelBytes = 4 << 20

	maxModelDepth  = 64
	maxModelValues = 20000
	maxPathBytes   = 2048
)

// value is one value of the model, with the finding about it if it is a leaf.
type value struct {
	// path is the place in the model. pattern is the path in lower case with [] for each index.
	path, pattern string
	// key is the name of the field as the model spells it.
	key string
	// scalar is a string, a json.Number, a bool or nil. It is nil for objects and lists too.
	scalar any
	// fields have the names in lower case, because aks-engine reads names without regard to case. keys has them in the order of the model.
	fields map[string]*value
	keys   []string
	items  []*value
	isList bool

	finding *Finding
}

// readModel returns the tree of a model.
func readModel(raw []byte) (*value, error) {
	if len(raw) > MaxModelBytes {
		return nil, fmt.Errorf("the model has more than %d bytes. Larger models are not read", MaxModelBytes)
	}
	r := &modelReader{decoder: json.NewDecoder(bytes.NewReader(raw))}
	r.decoder.UseNumber()
	root, err := r.readValue("", "", 0)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the model is not valid JSON: more text follows the first value")
	}
	if root.fields == nil {
		return nil, errors.New("the model must be of type object")
	}
	return root, nil
}

// modelReader reads the tree of a model, within the bounds.
type modelReader struct {
	decoder *json.Decoder
	// values is the number of values so far.
	values int
}

func (r *modelReader) readToken() (json.Token, error) {
	token, err := r.decoder.Token()
	if err != nil {
		return nil, fmt.Errorf("the model is not valid JSON: %w", err)
	}
	return token, nil
}

func (r *modelReader) readValue(path, pattern string, depth int) (*value, error) {
	r.values++
	switch {
	case len(path) > maxPathBytes:
		return nil, fmt.Errorf("the path of a property has more than %d characters. Shorten the names of the model", maxPathBytes)
	case depth > maxModelDepth:
		return nil, fmt.Errorf("%s is nested deeper than %d levels. Deeper models are not read", path, maxModelDepth)
	case r.values > maxModelValues:
		return nil, fmt.Errorf("the model has more than %d values. Larger models are not read", maxModelValues)
	}
	token, err := r.readToken()
	if err != nil {
		return nil, err
	}
	out := &value{path: path, pattern: pattern}
	switch token {
	case json.Delim('{'):
		out.fields = map[string]*value{}
		return out, r.readFields(out, depth)
	case json.Delim('['):
		out.isList = true
		for r.decoder.More() {
			item, err := r.readValue(fmt.Sprintf("%s[%d]", path, len(out.items)), pattern+"[]", depth+1)
			if err != nil {
				return nil, err
			}
			out.items = append(out.items, item)
		}
		_, err := r.readToken()
		return out, err
	}
	out.scalar = token
	return out, nil
}

func (r *modelReader) readFields(out *value, depth int) error {
	for r.decoder.More() {
		token, err := r.readToken()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		folded := strings.ToLower(key)
		if out.fields[folded] != nil {
			return fmt.Errorf("%s is given twice", joinPath(out.path, key))
		}
		if out.fields[folded], err = r.readValue(joinPath(out.path, key), joinPath(out.pattern, folded), depth+1); err != nil {
			return err
		}
		out.fields[folded].key = key
		out.keys = append(out.keys, folded)
	}
	_, err := r.readToken()
	return err
}

var simpleKey = regexp.MustCompile(`^[-\w]+$`)

func joinPath(path, key string) string {
	switch {
	case !simpleKey.MatchString(key):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// get returns the value of a field, nil if there is none. It follows several names.
func (v *value) get(names ...string) *value {
	for _, name := range names {
		if v == nil {
			return nil
		}
		v = v.fields[strings.ToLower(name)]
	}
	return v
}

// list returns the items of a list.
func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.items
}

// isLeaf reports whether a value has no values inside.
func (v *value) isLeaf() bool { return len(v.fields) == 0 && len(v.items) == 0 }

// isEmpty reports whether a value is missing, null, an empty text, an empty list or an empty object.
func (v *value) isEmpty() bool {
	return v == nil || v.isLeaf() && (v.scalar == nil || v.scalar == "")
}

// leaves calls do for each leaf, in the order of the model.
func (v *value) leaves(do func(*value)) {
	switch {
	case v == nil:
	case v.isLeaf():
		do(v)
	default:
		for _, key := range v.keys {
			v.fields[key].leaves(do)
		}
		for _, item := range v.items {
			item.leaves(do)
		}
	}
}

// text returns a text without a finding, "" if the value is no text.
func (v *value) text() string {
	if v == nil {
		return ""
	}
	text, _ := v.scalar.(string)
	return text
}

// number returns a whole number from 0 to 65535 without a finding, 0 for other values.
func (v *value) number() int {
	if v == nil {
		return 0
	}
	number, _ := v.scalar.(json.Number)
	parsed, _ := strconv.ParseUint(number.String(), 10, 16)
	return int(parsed)
}

// isTrue reports whether the value is true.
func (v *value) isTrue() bool { return v != nil && v.scalar == true }

// carryText returns a text and records where the manifests have it. A value of another type is reported.
func (v *value) carryText(target string) string {
	if v.isEmpty() {
		return ""
	}
	text, ok := v.scalar.(string)
	if !ok {
		v.report("The value is not a text.", "Correct the model.")
		return ""
	}
	v.carry(target)
	return text
}

// carryChoice returns one of some texts, as the manifests spell it. Another text is reported.
func (v *value) carryChoice(target string, choices ...string) string {
	text := v.carryText(target)
	if text == "" {
		return ""
	}
	for _, choice := range choices {
		if strings.EqualFold(text, choice) {
			return choice
		}
	}
	v.report("The value is not one of "+strings.Join(choices, ", ")+".", "Correct the model, or set the field in the manifest.")
	return ""
}

// carryBool returns true or false, nil if there is none, and records where the manifests have it.
func (v *value) carryBool(target string) *bool {
	if v.isEmpty() {
		return nil
	}
	on, ok := v.scalar.(bool)
	if !ok {
		v.report("The value is not true or false.", "Correct the model.")
		return nil
	}
	v.carry(target)
	return &on
}

// carryNumber returns an integer between bounds, nil if there is none, and records where the manifests have it.
func (v *value) carryNumber(target string, low, high int64) *int32 {
	if v.isEmpty() {
		return nil
	}
	number, ok := v.scalar.(json.Number)
	parsed, err := strconv.ParseInt(number.String(), 10, 32)
	if !ok || err != nil || parsed < low || parsed > min(high, math.MaxInt32) {
		v.report(fmt.Sprintf("The value is not a whole number between %d and %d.", low, high),
			"Correct the model, or set the field in the manifest.")
		return nil
	}
	v.carry(target)
	return new(int32(parsed))
}
