package facts

import (
	"cmp"
	"slices"
	"strings"
)

// maxNearest is how many names a message lists.
const maxNearest = 3

// nearest lists the names that take the fewest edits to get to, best first, and none that take more than half of them.
func nearest(name string, names []string) []string {
	type candidate struct {
		name  string
		edits int
	}
	var candidates []candidate
	for _, known := range names {
		if n := edits(strings.ToLower(name), strings.ToLower(known)); n <= max(len(name), len(known))/2 {
			candidates = append(candidates, candidate{known, n})
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(off(name, a.name), off(name, b.name)), cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range candidates[:min(len(candidates), maxNearest)] {
		out = append(out, c.name)
	}
	return out
}

// off is how far the lengths are apart: swapped letters are likelier than missing ones.
func off(a, b string) int { return max(len(a), len(b)) - min(len(a), len(b)) }

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
