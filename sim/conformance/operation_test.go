package conformance

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// operationHeaders are the headers whose presence clients act on.
var operationHeaders = []string{"Azure-AsyncOperation", "Location", "Retry-After"}

var operationPath = regexp.MustCompile(`(?i)/[a-z]*operation[a-z]*/[^/]+$`)

// operationKey identifies the operation URL without what differs between a header and a poll: casing and signatures.
// It is "" for a URL that is none; Location may also lead to a resource.
func operationKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || !operationPath.MatchString(u.Path) {
		return ""
	}
	key := strings.ToLower(u.Path)
	if u.Query().Get("monitor") == "true" {
		key += "?monitor"
	}
	return key
}

// operationKeys returns the keys of the operation URLs an answer tells.
func (e exchange) operationKeys() []string {
	var out []string
	for _, name := range operationHeaders[:2] {
		if key := operationKey(e.Header.Get(name)); key != "" {
			out = append(out, key)
		}
	}
	return out
}

// isOperationEnded reports whether an answer to a poll shows that the operation is over.
func isOperationEnded(status int, answer string) bool {
	if status == 202 {
		return false
	}
	var body struct {
		Status string `json:"status"`
	}
	if json.Unmarshal([]byte(answer), &body) != nil || body.Status == "" {
		return true
	}
	switch strings.ToLower(body.Status) {
	case "succeeded", "failed", "canceled":
		return true
	}
	return false
}

// operationDurations tells, by the index of the request that began it, how long each operation took. It ended between the last
// answer that shows it running and the first that shows it over; a moment after the former is taken, because a client
// that waits before it asks again may find out late, while other requests already depend on the end.
func operationDurations(all []exchange) map[int]time.Duration {
	out := map[int]time.Duration{}
	for i, begin := range all {
		keys := begin.operationKeys()
		if len(keys) == 0 && !begin.lacksOperation() || begin.Method == "GET" || begin.Status/100 != 2 {
			continue
		}
		running, over := begin.At, false
		for _, next := range all[i+1:] {
			switch {
			case slices.Contains(keys, operationKey(next.URL.String())):
				over = isOperationEnded(next.Status, next.Answer)
				keys = append(keys, next.operationKeys()...)
				if !over {
					running = next.At
				}
			case strings.EqualFold(next.URL.Path, begin.URL.Path):
				over = showsWriteFinished(begin.Method, next)
				if !over && next.lacksOperation() {
					running = next.At
				}
			case blamesOperation(next, begin.URL.Path, keys), blocksDeletion(next, begin):
				running = next.At
			}
			if over {
				break
			}
		}
		if over {
			out[i] = running.Sub(begin.At) + moment
		}
	}
	return out
}

// lacksOperation reports whether an answer tells of no operation, only by the state of the resource that something is going on.
func (e exchange) lacksOperation() bool {
	var body struct {
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}
	if e.Status != 200 && e.Status != 201 || len(e.operationKeys()) > 0 || json.Unmarshal([]byte(e.Answer), &body) != nil {
		return false
	}
	state := body.Properties.ProvisioningState
	return state != "" && !showsWriteFinished("PUT", exchange{Method: "GET", Status: 200, Answer: e.Answer})
}

// blamesOperation reports whether an error gives the running operation as its cause.
func blamesOperation(next exchange, path string, keys []string) bool {
	if next.Status < 400 {
		return false
	}
	answer := strings.ToLower(next.Answer)
	lower := strings.ToLower(path)
	if strings.Contains(answer, "because resource "+lower+" used by") || strings.Contains(answer, "resource '"+lower+"' is in failed state") {
		return true
	}
	return slices.ContainsFunc(keys, func(key string) bool {
		id := guid.FindString(key[strings.LastIndexByte(key, '/'):])
		return id != "" && id != redacted && strings.Contains(answer, id)
	})
}

// blocksDeletion reports whether a deletion is refused because of a resource that is itself being deleted.
func blocksDeletion(next, begin exchange) bool {
	_, id, _ := strings.Cut(strings.ToLower(begin.URL.Path), "/providers/")
	return begin.Method == "DELETE" && next.Method == "DELETE" && next.Status/100 == 4 && id != "" &&
		strings.Contains(strings.ToLower(next.Answer), id)
}

// moment is shorter than the time between two exchanges.
const moment = time.Microsecond

// showsWriteFinished reports whether a later request for the resource shows that the write is over.
func showsWriteFinished(method string, next exchange) bool {
	if next.Method != "GET" {
		return next.Status/100 == 2 || next.Status == 404
	}
	if next.Status == 404 {
		return method == "DELETE"
	}
	var body struct {
		Properties struct {
			ProvisioningState string `json:"provisioningState"`
		} `json:"properties"`
	}
	if next.Status != 200 || json.Unmarshal([]byte(next.Answer), &body) != nil {
		return false
	}
	state := strings.ToLower(body.Properties.ProvisioningState)
	return method != "DELETE" && (state == "succeeded" || state == "failed" || state == "canceled")
}
