package nearest

import (
	"cmp"
	"slices"
	"strings"
)

const (
	// maxNames is how many names a message lists.
	maxNames = 3
	// maxLength is the length of the longest text in bytes for which names are sought. Users can write a million bytes, and the time grows with
	// the length and the number of names. No name in Azure's definitions is as long.
	maxLength = 128
)

// FindNames lists the names that take the fewest edits to get to, best first, and none that take more than half of them.
// Where the edits are as many, those that only miss or add a separator come first, as people write Standard_D2sv3.
func FindNames(name string, names []string) []string {
	type candidate struct {
		name         string
		edits, bare  int
		lengthsApart int
	}
	if len(name) > maxLength {
		return nil
	}
	var candidates []candidate
	for _, known := range names {
		c := candidate{name: known, edits: editDistance(strings.ToLower(name), strings.ToLower(known)),
			bare: editDistance(trimSeparators(name), trimSeparators(known))}
		c.lengthsApart = max(len(name), len(known)) - min(len(name), len(known))
		if c.edits <= max(len(name), len(known))/2 {
			candidates = append(candidates, c)
		}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(a.bare, b.bare), cmp.Compare(a.lengthsApart, b.lengthsApart),
			cmp.Compare(a.name, b.name))
	})
	var out []string
	for _, c := range candidates[:min(len(candidates), maxNames)] {
		out = append(out, c.name)
	}
	return out
}

// trimSeparators returns the name in lower case without separators.
func trimSeparators(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// editDistance returns the Levenshtein distance.
func editDistance(a, b string) int {
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
