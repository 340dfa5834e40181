package operate

import (
	"testing"
	"time"
)

// looks counts the looks at an operation that takes length, and how late its end is noticed.
func looks(p *pace, length time.Duration, spare float64) (count int, late time.Duration) {
	elapsed := time.Duration(0)
	for elapsed < length {
		elapsed += p.next("x", elapsed, spare)
		count++
	}
	return count, elapsed - length
}

func TestPace(t *testing.T) {
	const s = time.Second
	tests := map[string]struct {
		reason string
		length time.Duration
		recent []time.Duration
		spare  float64
		looks  int
		late   time.Duration
	}{
		"short":             {"a subnet", 1500 * time.Millisecond, nil, 1, 15, 100 * time.Millisecond},
		"machine":           {"at most a sixteenth is lost", 36 * s, nil, 1, 80, 36 * s / 16},
		"bastion":           {"at most 4 s are lost", 420 * s, nil, 1, 200, 4 * s},
		"known":             {"the time in which none ended is skipped", 36 * s, []time.Duration{34 * s, 36 * s, 40 * s}, 1, 11, 36 * s / 30},
		"slower than known": {"a longer one is looked at all the same", 60 * s, []time.Duration{34 * s, 36 * s, 40 * s}, 1, 35, 60 * s / 30},
		"two are no proof":  {"two short ones say little", 36 * s, []time.Duration{100 * s, 100 * s}, 1, 80, 36 * s / 16},
		"little to spare":   {"reads are left for what matters more", 36 * s, nil, 0.4, 35, 3 * 36 * s / 16},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPace()
			for _, took := range test.recent {
				p.record("x", took)
			}
			count, late := looks(p, test.length, test.spare)
			if count > test.looks || late > test.late {
				t.Errorf("%s: %d looks, %s late; want at most %d and %s", test.reason, count, late, test.looks, test.late)
			}
		})
	}
}
