package cluster

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// lowest are the lowest indexes of some prefixes: of those of the spec, and of those of existing subnets.
type lowest struct{ spec, existing int }

func (l *lowest) add(other lowest) {
	l.spec, l.existing = min(l.spec, other.spec), min(l.existing, other.existing)
}

// checkOverlaps reports each prefix of the spec that overlaps an earlier one, or an existing one. The prefixes of the spec come first.
//
// Two prefixes overlap if one contains the other. Sorted by address, a prefix comes after those that contain it and before those that it
// contains, so one walk finds all overlaps. A spec can have a hundred thousand prefixes, too many to compare each with each.
func checkOverlaps(blocks []subnetPrefix) field.ErrorList {
	none := len(blocks)
	self := func(i int) lowest {
		if blocks[i].path == nil {
			return lowest{spec: none, existing: i}
		}
		return lowest{spec: i, existing: none}
	}
	// containing and contained are the overlaps of each prefix.
	containing, contained := make([]lowest, none), make([]lowest, none)
	var open []int // the prefixes that contain the current one
	closeLast := func() {
		last := open[len(open)-1]
		open = open[:len(open)-1]
		if len(open) > 0 {
			outer := open[len(open)-1]
			contained[outer].add(contained[last])
			contained[outer].add(self(last))
		}
	}
	for _, i := range sortPrefixes(blocks) {
		containing[i], contained[i] = lowest{none, none}, lowest{none, none}
		for len(open) > 0 && !blocks[open[len(open)-1]].prefix.Overlaps(blocks[i].prefix) {
			closeLast()
		}
		if len(open) > 0 {
			outer := open[len(open)-1]
			containing[i] = containing[outer]
			containing[i].add(self(outer))
		}
		open = append(open, i)
	}
	for len(open) > 0 {
		closeLast()
	}
	var errs field.ErrorList
	for i, a := range blocks {
		found := containing[i]
		found.add(contained[i])
		other := found.existing
		if found.spec < i {
			other = found.spec
		}
		if a.path != nil && other < none {
			b := blocks[other]
			errs = append(errs, field.Invalid(a.path, a.prefix.String(),
				fmt.Sprintf("overlaps %s of subnet %q: subnets of a network must not share addresses", b.prefix, b.subnet)))
		}
	}
	return errs
}

// sortPrefixes returns the indexes of the prefixes by address, the larger prefix first.
func sortPrefixes(blocks []subnetPrefix) []int {
	out := make([]int, len(blocks))
	for i := range out {
		out[i] = i
	}
	slices.SortFunc(out, func(i, j int) int {
		a, b := blocks[i].prefix, blocks[j].prefix
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()), cmp.Compare(i, j))
	})
	return out
}
