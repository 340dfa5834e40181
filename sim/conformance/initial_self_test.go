package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A read that shows a resource comes after the request that creates the resource.
func TestOrderOfReads(t *testing.T) {
	address := exchange{Method: "GET", URL: &url.URL{Path: "/g/publicIPAddresses/ip"}, Status: 200, Answer: `{"ipConfiguration":{"id":"/g/loadBalancers/lb/f/f"}}`}
	other := exchange{Method: "GET", URL: &url.URL{Path: "/g/other"}, Status: 200, Answer: `{}`}
	balancer := exchange{Method: "PUT", URL: &url.URL{Path: "/g/loadBalancers/lb"}, Status: 201}
	for name, c := range map[string]struct {
		all  []exchange
		want string
	}{
		"before":  {[]exchange{address, other, balancer}, "/g/other /g/loadBalancers/lb /g/publicIPAddresses/ip"},
		"after":   {[]exchange{balancer, address, balancer}, "/g/loadBalancers/lb /g/publicIPAddresses/ip /g/loadBalancers/lb"},
		"nothing": {[]exchange{other, balancer}, "/g/other /g/loadBalancers/lb"},
	} {
		var got []string
		for _, e := range afterWhatTheyShow(c.all) {
			got = append(got, e.URL.Path)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Times ascend, also where requests change places.
func TestOrderOfTimes(t *testing.T) {
	lines := []recordedLine{{Method: "GET", URL: "/ip", Status: 200, Answer: []byte(`{"id":"/lb/f"}`)}, {Method: "GET", URL: "/a", Status: 200},
		{Method: "PUT", URL: "/lb", Status: 201}}
	all := operator.toExchanges(t, lines)
	if all[2].URL.Path != "/ip" || !all[0].At.Before(all[1].At) || !all[1].At.Before(all[2].At) {
		t.Errorf("%v", all)
	}
}

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
