package arm_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestListUnapprovedConnections(t *testing.T) {
	lists := []string{"properties.auto", "properties.manual"}
	for name, test := range map[string]struct {
		reason string
		body   string
		lists  []string
		want   []arm.Connection
	}{
		"approved":   {"it works", `{"properties":{"auto":[{"properties":{"privateLinkServiceConnectionState":{"status":"Approved"}}}]}}`, lists, nil},
		"other case": {"enumerations have no case", `{"properties":{"auto":[{"properties":{"privateLinkServiceConnectionState":{"status":"approved"}}}]}}`, lists, nil},
		"no state":   {"Azure shows it once the connection exists", `{"properties":{"manual":[{"properties":{}}]}}`, lists, nil},
		"of both kinds": {"automatic ones can be removed, too",
			`{"properties":{"auto":[{"properties":{"privateLinkServiceId":"/a","privateLinkServiceConnectionState":{"status":"Disconnected","description":"gone"}}}],
"manual":[{"properties":{"privateLinkServiceId":"/b","privateLinkServiceConnectionState":{"status":"Pending"}}}]}}`, lists,
			[]arm.Connection{{Service: "/a", State: "Disconnected", Description: "gone"}, {Service: "/b", State: "Pending"}}},
		"other type":  {"it has no connections", `{"properties":{"auto":[{"properties":{"privateLinkServiceConnectionState":{"status":"Pending"}}}]}}`, nil, nil},
		"other shape": {"a body of another shape has none", `{"properties":{"auto":"x","manual":["y",{"properties":[]}]}}`, lists, nil},
		"no body":     {"a resource that does not exist has none", ``, lists, nil},
		"no JSON":     {"nor one that cannot be decoded", `{`, lists, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, arm.ListUnapprovedConnections(json.RawMessage(test.body), test.lists)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
	for state, want := range map[string]bool{"Pending": true, "pending": true, "Rejected": false, "Disconnected": false} {
		if (arm.Connection{State: state}).IsPending() != want {
			t.Errorf("%s: pending is %t", state, !want)
		}
	}
}
