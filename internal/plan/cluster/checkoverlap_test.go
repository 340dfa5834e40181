package cluster

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/test/cputime"
)

// TestOverlaps compares the overlaps of random prefixes with those that a comparison of each with each finds.
func TestOverlaps(t *testing.T) {
	compareAll := func(blocks []subnetPrefix) (out []string) {
		for i, a := range blocks {
			for j, b := range blocks {
				if a.path != nil && (j < i || b.path == nil) && i != j && a.prefix.Overlaps(b.prefix) {
					out = append(out, fmt.Sprintf("%s overlaps %s of subnet %q", a.path, b.prefix, b.subnet))
					break
				}
			}
		}
		return out
	}
	random := rand.New(rand.NewPCG(1, 2))
	overlaps := 0
	for range 2000 {
		var blocks []subnetPrefix
		planned, existing := random.IntN(8), random.IntN(4)
		for i := range planned + existing {
			address, bits := netip.AddrFrom4([4]byte{10, byte(random.IntN(4)), byte(random.IntN(4)) << 6, 0}), 12+random.IntN(16)
			if random.IntN(6) == 0 {
				address, bits = netip.MustParseAddr("2001:db8::"), 20+random.IntN(20)
			}
			block := subnetPrefix{prefix: netip.PrefixFrom(address, bits).Masked(), subnet: fmt.Sprint(i)}
			if i < planned {
				block.path = field.NewPath("s").Index(i)
			}
			blocks = append(blocks, block)
		}
		var got []string
		for _, err := range checkOverlaps(blocks) {
			detail, _, _ := strings.Cut(err.Detail, ": subnets")
			got = append(got, err.Field+" "+detail)
		}
		want := compareAll(blocks)
		overlaps += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", blocks, diff)
		}
	}
	if overlaps < 1000 {
		t.Errorf("only %d overlaps were found", overlaps)
	}
}

// TestOverlapsOfManyPrefixes checks that four times as many prefixes take less than ten times as long.
func TestOverlapsOfManyPrefixes(t *testing.T) {
	measure := func(n int) time.Duration {
		var blocks []subnetPrefix
		for i := range n {
			address := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
			blocks = append(blocks, subnetPrefix{prefix: netip.PrefixFrom(address, 32), subnet: "s", path: field.NewPath("s").Index(i)})
		}
		blocks = append(blocks, blocks[n/2])
		best := time.Duration(0)
		for range 5 {
			took := cputime.Measure(func() {
				if errs := checkOverlaps(blocks); len(errs) != 1 {
					t.Fatalf("%d overlaps, want 1", len(errs))
				}
			})
			if best == 0 || took < best {
				best = took
			}
		}
		return best
	}
	if few, many := measure(10_000), measure(40_000); many > 10*few {
		t.Errorf("10,000 prefixes take %v of processor time, 40,000 take %v", few, many)
	}
}
