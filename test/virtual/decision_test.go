package virtual

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMinimize reduces decisions to those that a failure needs.
func TestMinimize(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		needed []int
	}{
		"one":   {"one decision is to blame", []int{17}},
		"two":   {"two decisions together are to blame", []int{3, 39}},
		"three": {"neighbours belong together", []int{20, 21, 22}},
		"none":  {"the failure needs no decision", nil},
	} {
		var all, want []Decision
		for i := range 40 {
			all = append(all, Decision{Of: "GET", Nth: i})
		}
		for _, i := range test.needed {
			want = append(want, all[i])
		}
		tries := 0
		got := Minimize(all, func(some []Decision) bool {
			tries++
			return !slices.ContainsFunc(want, func(needed Decision) bool { return !slices.Contains(some, needed) })
		})
		if diff := cmp.Diff(want, got, cmp.Transformer("empty", func(d []Decision) string { return fmt.Sprint(d) })); diff != "" || tries > 100 {
			t.Errorf("%s: %s: %d tries (-want +got):\n%s", name, test.reason, tries, diff)
		}
	}
}

// TestDraw checks that a seed decides the same about a request whatever else it decided, that other seeds decide otherwise, and that each
// disturbance is drawn for the calls that can have it.
func TestDraw(t *testing.T) {
	rates, drawn, delayed := UsualRates(), map[Disturbance]int{}, 0
	for kind := eventCall; kind <= networkWrite; kind++ {
		for nth := range 4000 {
			first, again := rates.draw(1, "PUT a", nth, kind), rates.draw(1, "PUT a", nth, kind)
			if first != again {
				t.Fatalf("the decisions of a seed differ: %s, and %s", first, again)
			}
			if first.Delay > 0 {
				delayed++
			}
			if first.Delay > rates.Latest+time.Millisecond {
				t.Errorf("%s: the delay must be %s at most", first, rates.Latest)
			}
			if drawn[first.Disturbance]++; first.Disturbance != "" && !slices.Contains(possible[kind], first.Disturbance) {
				t.Errorf("kind %d cannot have the disturbance %q", kind, first.Disturbance)
			}
		}
	}
	for disturbance := range rates.Disturbances {
		if drawn[disturbance] == 0 {
			t.Errorf("%q was not drawn", disturbance)
		}
	}
	if delayed == 0 {
		t.Error("nothing was delayed")
	}
}
