package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	stamp  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)?`)
	public = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	secret = regexp.MustCompile(`^[A-Za-z0-9+/=]{40,}$`)
)

// plain writes a value without what Azure makes up: GUIDs, times, public addresses, secrets, and the signatures of URLs. IDs are equal
// in any casing.
func plain(value any) string {
	s, isString := value.(string)
	if !isString {
		raw, _ := json.Marshal(value)
		return string(raw)
	}
	if u, err := url.Parse(s); err == nil && u.Scheme == "https" && u.Host != "" {
		u.RawQuery = ""
		s = u.String()
	}
	s = stamp.ReplaceAllString(guid.ReplaceAllString(s, "GUID"), "TIME")
	s = public.ReplaceAllStringFunc(s, func(address string) string {
		if strings.HasPrefix(address, "10.") || strings.HasPrefix(address, "172.") || strings.HasPrefix(address, "192.168.") {
			return address
		}
		return "ADDRESS"
	})
	if secret.MatchString(s) && !strings.Contains(strings.ToLower(s), "/subscriptions/") {
		return "SECRET"
	}
	if strings.Contains(strings.ToLower(s), "/subscriptions/") {
		s = strings.ToLower(s)
	}
	return s
}

// madeUp are keys whose values Azure chooses anew each time.
var madeUp = map[string]bool{"etag": true, "eTag": true, "resourceGuid": true, "uniqueId": true, "fqdn": true, "internalDomainNameSuffix": true, "macAddress": true, "t": true}

// scalars adds the values of a document by their path. Elements of arrays are numbered: the order counts.
func scalars(document any, at string, into map[string]string) {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			if !madeUp[key] {
				scalars(value, fold(at, key), into)
			}
		}
		if len(d) == 0 {
			into[at] = "{}"
		}
	case []any:
		for i, value := range d {
			scalars(value, fmt.Sprintf("%s[%d]", at, i), into)
		}
		if len(d) == 0 {
			into[at] = "[]"
		}
	default:
		into[at] = plain(d)
	}
}

// exact lists where two documents have different values, and what one has too much.
func exact(recorded, got any) []string {
	want, have := map[string]string{}, map[string]string{}
	scalars(recorded, "", want)
	scalars(got, "", have)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if is, there := have[path]; !there {
			out = append(out, path+" is missing")
		} else if is != want[path] {
			out = append(out, fmt.Sprintf("%s is %.120s where Azure said %.120s", path, is, want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(have)) {
		if _, there := want[path]; !there {
			out = append(out, path+" is there, Azure sent none")
		}
	}
	return out
}
