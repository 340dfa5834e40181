package server_test

import (
	"strings"
	"testing"
)

// TestLargeBody sends bodies that are larger than Azure takes. A part of one is no JSON, and its syntax is not what is wrong.
func TestLargeBody(t *testing.T) {
	a := newAzure(t)
	a.createGroup()
	fill := strings.Repeat("x", 4<<20)
	if r := a.sendRequest("PUT", net+"/routeTables/x", obj{"location": "westus3", "tags": obj{"a": fill}}); r.status != 413 ||
		r.errorCode() != "RequestContentTooLarge" {
		t.Errorf("PUT = %d %s", r.status, r.errorCode())
	}
	var refusal struct{ Message string }
	if status := a.callControl("POST", "/_sim/faults", obj{"kind": "reset", "id": fill}, &refusal); status != 413 ||
		!strings.Contains(refusal.Message, "4 MB") {
		t.Errorf("POST /_sim/faults = %d %q", status, refusal.Message)
	}
	if r := a.sendRequest("PUT", net+"/routeTables/x", obj{"location": "westus3", "properties": obj{"routes": []any{}}, "tags": obj{"a": "b"}}); r.status != 201 {
		t.Errorf("a small body: %d %v", r.status, r.body)
	}
}
