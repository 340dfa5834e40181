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

// answer is the simulator's answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// comparison has the differences of an answer from the recorded one. The first three are empty when it agrees, all four when it does with
// its values.
type comparison struct {
	status  string
	headers []string
	body    []string
	values  []string
}

func (v comparison) isAgreement() bool {
	return v.status == "" && len(v.headers) == 0 && len(v.body) == 0
}

func (v comparison) agreesExactly() bool { return v.isAgreement() && len(v.values) == 0 }

// listProblems lists the differences; those that follow from a different status are left out.
func (v comparison) listProblems() []string {
	if v.status != "" {
		return []string{v.status}
	}
	return append(slices.Clone(v.headers), v.body...)
}

// compareAnswers compares an answer with the recorded one.
func compareAnswers(recorded exchange, got answer) comparison {
	var v comparison
	kind := fmt.Sprintf("%s %d: ", recorded.Method, recorded.Status)
	if got.status != recorded.Status {
		v.status = fmt.Sprintf("%sstatus %d %s instead of %s", kind, got.status, errorCode(decodeJSON(got.body)),
			cmp.Or(errorCode(decodeJSON(recorded.Answer)), "success"))
	}
	for _, name := range operationHeaders {
		here, there := got.header.Get(name) != "", recorded.Header.Get(name) != ""
		switch {
		case there && !here:
			v.headers = append(v.headers, kind+"header "+name+" is missing")
		case here && !there && (name != "Retry-After" || recorded.HasRetryAfter):
			v.headers = append(v.headers, kind+"header "+name+" is present, Azure sent none")
		}
	}
	want, have := withoutNoise(decodeJSON(recorded.Answer)), withoutNoise(decodeJSON(got.body))
	if want == nil && strings.TrimSpace(got.body) != "" {
		v.body = append(v.body, kind+"a body, Azure sent none")
	}
	keys := map[string]bool{}
	collectPaths(have, "", keys)
	for _, key := range missingKeys(want, keys) {
		v.body = append(v.body, kind+"no "+key)
	}
	if w, h := errorCode(want), errorCode(have); w != h && w != "" && got.status == recorded.Status {
		v.body = append(v.body, kind+"error code "+h+" instead of "+w)
	}
	v.values = compareValues(want, have)
	return v
}

// withoutNoise removes the error NotLatestOperation from the status of an operation. By its own text AKS adds it when its database is slow,
// also to operations that succeed. Some recordings have it in deletions, some in updates, some in none.
func withoutNoise(document any) any {
	if top, ok := document.(map[string]any); ok && top["status"] != nil && errorCode(document) == "NotLatestOperation" {
		delete(top, "error")
	}
	return document
}

// decodeJSON reads a JSON document; nil when it is none.
func decodeJSON(raw string) any {
	var out any
	if json.Unmarshal([]byte(raw), &out) != nil {
		return nil
	}
	return out
}

// collectPaths adds the paths of all keys of a document. The elements of an array count as one: "properties.subnets[].name".
func collectPaths(document any, at string, into map[string]bool) {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			path := foldPath(at, key)
			into[path] = true
			collectPaths(value, path, into)
		}
	case []any:
		for _, value := range d {
			collectPaths(value, at+"[]", into)
		}
	}
}

func foldPath(at, key string) string {
	// A key that is an ID may be written in any casing.
	if strings.Contains(key, "/") {
		key = strings.ToLower(key)
	}
	if at == "" {
		return key
	}
	return at + "." + key
}

// missingKeys lists the keys of the recorded document that the simulator's lacks, without the keys below them.
func missingKeys(document any, have map[string]bool) []string {
	all := map[string]bool{}
	collectPaths(document, "", all)
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
