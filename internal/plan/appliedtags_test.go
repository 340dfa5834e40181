package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestAppliedTags(t *testing.T) {
	tests := map[string]struct {
		reason     string
		stored     string
		wanted     map[string]string
		dropped    []string
		remembered string
	}{
		"first":           {reason: "nothing was written before", wanted: map[string]string{"a": "1"}, remembered: `{"a":"1"}`},
		"none":            {reason: "no annotation for no tags"},
		"changed":         {reason: "the new value counts", stored: `{"a":"1"}`, wanted: map[string]string{"a": "2"}, remembered: `{"a":"2"}`},
		"removed":         {reason: "what is to go is remembered until it is gone", stored: `{"a":"1","b":"2"}`, wanted: map[string]string{"a": "1"}, dropped: []string{"b"}, remembered: `{"a":"1","b":"2"}`},
		"all removed":     {reason: "as the last one", stored: `{"a":"1"}`, dropped: []string{"a"}, remembered: `{"a":"1"}`},
		"other case":      {reason: "Azure knows one key in all casings", stored: `{"Team":"1"}`, wanted: map[string]string{"team": "1"}, remembered: `{"team":"1"}`},
		"no JSON":         {reason: "what cannot be read drops nothing", stored: `{`, wanted: map[string]string{"a": "1"}, remembered: `{"a":"1"}`},
		"null":            {reason: "JSON without tags", stored: `null`, wanted: map[string]string{"a": "1"}, remembered: `{"a":"1"}`},
		"value no string": {reason: "somebody else's format", stored: `{"a":1}`, wanted: map[string]string{}, remembered: ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.dropped, plan.DroppedTags(test.stored, test.wanted)); diff != "" {
				t.Errorf("%s: dropped (-want +got):\n%s", test.reason, diff)
			}
			if got := plan.RememberTags(test.stored, test.wanted); got != test.remembered {
				t.Errorf("%s: remembered %s, want %s", test.reason, got, test.remembered)
			}
		})
	}
}
