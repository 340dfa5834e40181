package conformance

import (
	"net/http"
	"net/url"
	"testing"
)

// A resource that exists at its first request existed before. What was read is written with the secrets of the first write.
func TestInitialResources(t *testing.T) {
	request := func(method, path string, status int, body, answer string) exchange {
		return exchange{Method: method, URL: &url.URL{Path: path}, Status: status, Body: body, Answer: answer, Header: http.Header{}}
	}
	before, readFirst := initialResources([]exchange{
		request("GET", "/Read", 200, "", `{"tags":{"by":"policy"},"properties":{"name":"old","size":1}}`),
		request("PUT", "/read", 200, `{"properties":{"name":"new","secret":"s"}}`, ""),
		request("PUT", "/updated", 200, `{"a":1}`, ""),
		request("PUT", "/created", 201, `{"a":1}`, ""),
		request("GET", "/created", 200, "", `{"a":1}`),
		request("GET", "/missing", 404, "", ""),
	})
	if len(before) != 2 || len(readFirst) != 1 || readFirst[0] != "/read" {
		t.Fatalf("before the recording there were %v, read first %v", before, readFirst)
	}
	if got, want := before["/read"].Body, `{"properties":{"name":"new","secret":"s","size":1},"tags":{"by":"policy"}}`; got != want || before["/read"].Method != "PUT" {
		t.Errorf("what was read is written as %s %s, want PUT %s", before["/read"].Method, got, want)
	}
	if before["/updated"].Body != `{"a":1}` {
		t.Errorf("what was updated is written as %s", before["/updated"].Body)
	}
}

// The refusal of a write tells what it lacks.
func TestFindMissing(t *testing.T) {
	const path = "/subscriptions/s/resourceGroups/g/providers/N/parents/p/children/c"
	for name, c := range map[string]struct {
		reason string
		got    answer
		want   string
	}{
		"reference": {"the network provider names it", answer{400, nil, `{"error":{"message":"Resource /subscriptions/s/x referenced by resource /y was not found."}}`}, "/subscriptions/s/x"},
		"identity":  {"as text in text", answer{400, nil, `{"error":{"message":"{\"message\":\"Resource '/subscriptions/s/i' was not found.\"}"}}`}, "/subscriptions/s/i"},
		"group":     {"by its code", answer{404, nil, `{"error":{"code":"ResourceGroupNotFound"}}`}, "/subscriptions/s/resourceGroups/g"},
		"parent":    {"by the path", answer{404, nil, `{"error":{"code":"ParentResourceNotFound"}}`}, "/subscriptions/s/resourceGroups/g/providers/N/parents/p"},
		"done":      {"nothing is missing", answer{201, nil, `{}`}, ""},
	} {
		if got := findMissing(path, c.got); got != c.want {
			t.Errorf("%s: %s: got %q, want %q", name, c.reason, got, c.want)
		}
	}
}
