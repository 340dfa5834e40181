package maxima_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

func TestMeasure(t *testing.T) {
	for name, test := range map[string]struct {
		reason, object string
		want           maxima.Size
		excess         string
	}{
		"empty":  {"there is nothing to decode", ``, maxima.Size{}, ""},
		"values": {"members and elements are values", `{"a":1,"b":[2,{}]}`, maxima.Size{Objects: 3, Values: 5, Depth: 3}, ""},
		"text": {"brackets and commas in a text are text, also behind an escaped quote", `{"a":"[{,\"[{,\\"}`,
			maxima.Size{Objects: 1, Values: 1, Depth: 1}, ""},
		"objects": {"each element is decoded into a struct", `[` + strings.Repeat(`{},`, 20_000) + `{}]`,
			maxima.Size{Objects: 20_002, Values: 40_002, Depth: 2}, "more than 20000 objects"},
		"many": {"each value is decoded", `[` + strings.Repeat(`1,`, 200_000) + `1]`, maxima.Size{Objects: 1, Values: 200_001, Depth: 1},
			"more than 200000 values"},
		"deep": {"each level is a call", strings.Repeat(`[`, 65) + strings.Repeat(`]`, 65), maxima.Size{Objects: 65, Values: 65, Depth: 65},
			"more than 64 levels"},
		"largest": {"500 resource manifests of twenty objects each are accepted",
			`[` + strings.Repeat(`{"a":[`+strings.Repeat(`{"b":1},`, 17)+`{}]},`, 499) + `{}]`,
			maxima.Size{Objects: 9_982, Values: 18_964, Depth: 4}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := maxima.MeasureJSON([]byte(test.object))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if excess := got.ExcessReason(); !strings.Contains(excess, test.excess) || (test.excess == "") != (excess == "") {
				t.Errorf("%s: got %q, want %q", test.reason, excess, test.excess)
			}
		})
	}
}
