package arm_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// countedBody counts how often it is marshalled.
type countedBody struct {
	times *int
	body  string
}

func (c countedBody) MarshalJSON() ([]byte, error) {
	*c.times++
	if c.body == "" {
		return nil, errors.New("no body")
	}
	return []byte(c.body), nil
}

// TestSealedBodiesAreDecodedOnce decodes the body of a node in a sealed and an unsealed graph.
func TestSealedBodiesAreDecodedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		seal   bool
		body   string
		times  int
		want   any
		fails  bool
	}{
		"sealed":        {"it does not change any more", true, `{"a":[1]}`, 1, map[string]any{"a": []any{json.Number("1")}}, false},
		"not sealed":    {"it may differ each time", false, `{"a":[1]}`, 3, map[string]any{"a": []any{json.Number("1")}}, false},
		"not JSON":      {"the error is kept, too", true, ``, 1, nil, true},
		"an empty body": {"null is a body", true, `null`, 1, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			times := 0
			var g arm.Graph
			g.Add(arm.Node{ID: arm.ResourceGroupID("s", "g"), Body: countedBody{&times, tc.body}})
			if tc.seal {
				g.SealBodies()
			}
			for range 2 {
				got, err := g.DecodedBody(g.Nodes()[0])
				if diff := cmp.Diff(tc.want, got); diff != "" || (err != nil) != tc.fails {
					t.Errorf("%s: error %v, -want +got:\n%s", tc.reason, err, diff)
				}
			}
			if err := g.Validate(); (err != nil) != tc.fails {
				t.Errorf("%s: validated with %v", tc.reason, err)
			}
			if times != tc.times {
				t.Errorf("%s: marshalled %d times, want %d", tc.reason, times, tc.times)
			}
		})
	}
}
