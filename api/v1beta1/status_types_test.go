package v1beta1

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestFailureDomainsJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		raw    string
		want   FailureDomains
		// again is the JSON that is written again.
		again string
		fails bool
	}{
		"list": {
			reason: "contract v1beta2 has a list",
			raw:    `[{"name":"2","controlPlane":true},{"name":"1"}]`,
			want:   FailureDomains{Domains: []clusterv1.FailureDomain{{Name: "2", ControlPlane: new(true)}, {Name: "1"}}},
			again:  `[{"name":"2","controlPlane":true},{"name":"1"}]`,
		},
		"map": {
			reason: "contract v1beta1 had a map, whose order has to be the same every time",
			raw:    ` {"3":{"controlPlane":true,"attributes":{"a":"b"}},"1":{"controlPlane":false},"2":{}}`,
			want: FailureDomains{Map: true, Domains: []clusterv1.FailureDomain{
				{Name: "1", ControlPlane: new(false)}, {Name: "2"},
				{Name: "3", ControlPlane: new(true), Attributes: map[string]string{"a": "b"}},
			}},
			again: `{"1":{"controlPlane":false},"2":{},"3":{"controlPlane":true,"attributes":{"a":"b"}}}`,
		},
		"empty map": {reason: "the map can be empty", raw: `{}`, want: FailureDomains{Map: true}, again: `{}`},
		"null":      {reason: "nothing is nothing", raw: `null`, again: `null`},
		"string":    {reason: "anything else is an error", raw: `"1"`, fails: true},
		"bad map":   {reason: "a map of something else is an error", raw: `{"1":true}`, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := FailureDomains{Domains: []clusterv1.FailureDomain{{Name: "old"}}}
			err := json.Unmarshal([]byte(tc.raw), &got)
			if (err != nil) != tc.fails {
				t.Fatalf("%s: error is %v", tc.reason, err)
			}
			if tc.fails {
				return
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			again, err := json.Marshal(got)
			if err != nil || string(again) != tc.again {
				t.Errorf("%s: written as %s, %v, want %s: a patch has to see the stored value", tc.reason, again, err, tc.again)
			}
		})
	}
}

func TestAzureClusterWithStatusOfContractV1beta1(t *testing.T) {
	raw := `{"status":{
		"ready":true,
		"failureDomains":{"1":{"controlPlane":true}},
		"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2024-05-01T00:00:00Z"},
			{"type":"VNetReady","status":"False","severity":"Error","reason":"Failed","message":"m","lastTransitionTime":"2024-05-01T00:00:00Z"}],
		"longRunningOperationStates":[{"type":"PUT","name":"n","serviceName":"s","data":"d"}]}}`
	got := AzureCluster{}
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]clusterv1.FailureDomain{{Name: "1", ControlPlane: new(true)}}, got.Status.FailureDomains.Domains); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if !got.Status.Ready || len(got.Status.Conditions) != 2 || got.Status.Conditions[1].Reason != FailedReason {
		t.Errorf("the rest of the status is lost: %+v", got.Status)
	}
}

func TestAllowedNamespacesKeepsAnEmptyList(t *testing.T) {
	for raw, admitsNone := range map[string]bool{`{"list":[]}`: true, `{}`: false, `{"list":null}`: false} {
		got := AllowedNamespaces{}
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		want := `{}`
		if admitsNone {
			want = `{"list":[]}`
		}
		if string(again) != want {
			t.Errorf("%s is written as %s, want %s: an empty list admits no namespace, an absent list admits all", raw, again, want)
		}
	}
}

func TestControlPlaneEnabledKeepsFalse(t *testing.T) {
	raw, err := json.Marshal(AzureClusterSpec{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); got != `{"location":"","controlPlaneEnabled":false}` {
		t.Errorf("the empty spec is written as %s; without controlPlaneEnabled the schema would turn it on, and nothing else belongs there", got)
	}
}
