package nearest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNames(t *testing.T) {
	tests := map[string]struct {
		reason string
		name   string
		known  []string
		want   []string
	}{
		"nothing known": {reason: "there is nothing to suggest", name: "x"},
		"far off": {reason: "a name that takes more edits than half its length is no suggestion", name: "abcdef",
			known: []string{"uvwxyz"}},
		"case": {reason: "case is the most common mistake and costs nothing", name: "ossku", known: []string{"osType", "osSKU"},
			want: []string{"osSKU"}},
		"a separator": {reason: "people leave out separators", name: "Standard_D2sv3",
			known: []string{"Standard_D2s_v3", "Standard_D2sev3"}, want: []string{"Standard_D2s_v3", "Standard_D2sev3"}},
		"three are enough": {reason: "a message lists few names, the best first", name: "podCidr",
			known: []string{"podCidrs", "podCidra", "podCidrb", "podCidr6"}, want: []string{"podCidr6", "podCidra", "podCidrb"}},
		"insert and replace": {reason: "edits are counted as Levenshtein does", name: "kitten", known: []string{"sitting"},
			want: []string{"sitting"}},
		"longer than any name": {reason: "users can write a million characters, and each edit distance takes time for each of them",
			name: "Standard_D2s_v3" + strings.Repeat("x", 120), known: []string{"Standard_D2s_v3" + strings.Repeat("x", 119)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, FindNames(test.name, test.known)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
