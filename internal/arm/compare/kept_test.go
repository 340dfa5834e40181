package compare

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

func decode(t *testing.T, text string) (out any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func rowOf(t *testing.T, resourceType string) types.Type {
	t.Helper()
	row, err := types.ForID(arm.NewID("s", "g", resourceType, "x"))
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// TestKeptValues merges a planned body with a resource of which some differences are kept.
func TestKeptValues(t *testing.T) {
	const want = `{"tags":{"a":"1","b":"2","c.d":"new","e*":"new"},"properties":{"x":1,"frontendIPConfigurations":[{"name":"new"}],
		"outboundRules":[{"name":"o","properties":{"frontendIPConfigurations":[{"id":"new"}],"idleTimeoutInMinutes":4}}]}}`
	const have = `{"tags":{"a":"other","C.D":"old","f.g":"of an earlier spec"},"properties":{"x":2,"frontendIPConfigurations":[{"name":"old","properties":{"p":1}}],
		"outboundRules":[{"name":"o","properties":{"frontendIPConfigurations":[{"id":"old"}],"idleTimeoutInMinutes":30}}]}}`
	kept := []Difference{{Path: "tags.a"}, {Path: "tags.b"}, {Path: "tags.c.d"}, {Path: "tags.e*"}, {Path: "tags.f.g"},
		{Path: "properties.frontendIPConfigurations[old]"},
		{Path: "properties.outboundRules[o].properties.frontendIPConfigurations"}, {Path: "properties.gone"}}
	desired := Desired{Body: decode(t, want), Type: rowOf(t, types.LoadBalancer)}
	got := KeepValues(desired, decode(t, have), kept)
	if diff := cmp.Diff(decode(t, `{"tags":{"a":"other","c.d":"old","f.g":"of an earlier spec"},"properties":{"x":1,
		"frontendIPConfigurations":[{"name":"new"},{"name":"old","properties":{"p":1}}],
		"outboundRules":[{"name":"o","properties":{"frontendIPConfigurations":[{"id":"old"}],"idleTimeoutInMinutes":4}}]}}`), got.Body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(decode(t, want), desired.Body); diff != "" {
		t.Errorf("the plan was changed (-want +got):\n%s", diff)
	}
}

// TestPreservedMembers merges lists whose planned elements have settings of others in Azure; it expects that these settings stay.
func TestPreservedMembers(t *testing.T) {
	desired := Desired{Type: rowOf(t, types.LoadBalancer), Body: decode(t, `{"properties":{"outboundRules":[
		{"name":"o","properties":{"protocol":"All"}},{"name":"new","properties":{"protocol":"All"}}]}}`)}
	got := MergeBody(desired, decode(t, `{"properties":{"outboundRules":[
		{"name":"o","properties":{"protocol":"Tcp","allocatedOutboundPorts":1024,"enableTcpReset":true,"provisioningState":"Succeeded"}}]}}`))
	if diff := cmp.Diff(decode(t, `{"properties":{"outboundRules":[
		{"name":"o","properties":{"protocol":"All","allocatedOutboundPorts":1024,"enableTcpReset":true}},
		{"name":"new","properties":{"protocol":"All"}}]}}`), got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}
