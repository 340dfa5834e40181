package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// answer is what the simulator said.
type answer struct {
	status int
	header http.Header
	body   string
}

// verdict is how an answer differs from the recorded one. The first three are empty when it agrees, all four when it does with its values.
type verdict struct {
	status  string
	headers []string
	body    []string
	values  []string
}

func (v verdict) agrees() bool { return v.status == "" && len(v.headers) == 0 && len(v.body) == 0 }

func (v verdict) agreesExactly() bool { return v.agrees() && len(v.values) == 0 }

// problems lists the differences; those that follow from a different status are left out.
func (v verdict) problems() []string {
	if v.status != "" {
		return []string{v.status}
	}
	return append(slices.Clone(v.headers), v.body...)
}

// judge compares an answer with the recorded one.
func judge(recorded exchange, got answer) verdict {
	var v verdict
	kind := fmt.Sprintf("%s %d: ", recorded.Method, recorded.Status)
	if got.status != recorded.Status {
		v.status = fmt.Sprintf("%sstatus %d %s instead of %s", kind, got.status, errorCode(decode(got.body)), cmp.Or(errorCode(decode(recorded.Answer)), "success"))
	}
	for _, name := range operationHeaders {
		here, there := got.header.Get(name) != "", recorded.Header.Get(name) != ""
		switch {
		case there && !here:
			v.headers = append(v.headers, kind+"header "+name+" is missing")
		case here && !there:
			v.headers = append(v.headers, kind+"header "+name+" is there, Azure sent none")
		}
	}
	want, have := decode(recorded.Answer), decode(got.body)
	if want == nil && strings.TrimSpace(got.body) != "" {
		v.body = append(v.body, kind+"a body, Azure sent none")
	}
	keys := map[string]bool{}
	collect(have, "", keys)
	for _, key := range missing(want, keys) {
		v.body = append(v.body, kind+"no "+key)
	}
	if w, h := errorCode(want), errorCode(have); w != h && w != "" && got.status == recorded.Status {
		v.body = append(v.body, kind+"error code "+h+" instead of "+w)
	}
	v.values = exact(want, have)
	return v
}

// decode reads a JSON document; nil when it is none.
func decode(raw string) any {
	var out any
	if json.Unmarshal([]byte(raw), &out) != nil {
		return nil
	}
	return out
}

// collect adds the paths of all keys of a document. The elements of an array count as one: "properties.subnets[].name".
func collect(document any, at string, into map[string]bool) {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			path := fold(at, key)
			into[path] = true
			collect(value, path, into)
		}
	case []any:
		for _, value := range d {
			collect(value, at+"[]", into)
		}
	}
}

func fold(at, key string) string {
	// A key that is an ID may be written in any casing.
	if strings.Contains(key, "/") {
		key = strings.ToLower(key)
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

// missing lists the keys of the recorded document that are not among those of the simulator's, without what is below them.
func missing(document any, have map[string]bool) []string {
	all := map[string]bool{}
	collect(document, "", all)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if have[path] {
			continue
		}
		parent, cut := path, strings.LastIndexByte(path, '.')
		if cut >= 0 {
			parent = strings.TrimRight(path[:cut], "[]")
		}
		if cut < 0 || parent == "" || have[path[:cut]] || have[parent] {
			out = append(out, path)
		}
	}
	return out
}

func errorCode(document any) string {
	top, _ := document.(map[string]any)
	e, _ := top["error"].(map[string]any)
	if e == nil {
		e = top
	}
	code, _ := e["code"].(string)
	return code
}
