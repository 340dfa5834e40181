package jsonpath

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPathHasOneTextAndOnePointer(t *testing.T) {
	for name, tc := range map[string]struct {
		reason  string
		path    Path
		text    string
		pointer string
	}{
		"body": {reason: "The whole body is the empty path.", path: nil, text: "", pointer: ""},
		"members": {reason: "Members follow dots.", path: Path{{Name: "properties"}, {Name: "count"}}, text: "properties.count",
			pointer: "/properties/count"},
		"element": {reason: "Elements are in brackets.", path: Path{{Name: "a"}, {Name: "HTTPSProbe", Element: true}, {Name: "b"}},
			text: "a[HTTPSProbe].b", pointer: "/a[HTTPSProbe]/b"},
		"ID": {reason: "IDs need no escape in brackets.", path: Path{{Name: "a"}, {Name: "/subscriptions/s/x.y~z", Element: true}},
			text: "a[/subscriptions/s/x.y~z]", pointer: "/a[/subscriptions/s/x.y~z]"},
		"bracket in name": {reason: "A closing bracket is doubled.",
			path: Path{{Name: "a"}, {Name: "x]", Element: true}, {Name: "]", Element: true}}, text: "a[x]]][]]]", pointer: "/a[x]]][]]]"},
		"all elements": {reason: "A pattern has no name.", path: Path{{Name: "a"}, {Element: true}, {Name: "b"}}, text: "a[].b",
			pointer: "/a[]/b"},
		"key with a dot": {reason: "A label is one member.", path: Path{{Name: "nodeLabels"}, {Name: "example.com/team"}},
			text: `nodeLabels."example.com/team"`, pointer: "/nodeLabels/example.com~1team"},
		"key with a quote": {reason: "Quotes are doubled.", path: Path{{Name: `"a".b`}, {Name: "c"}}, text: `"""a"".b".c`, pointer: `/"a".b/c`},
		"key with a tilde": {reason: "Pointers escape tildes.", path: Path{{Name: "~1"}}, text: "~1", pointer: "/~01"},
		"key with brackets": {reason: "A bracket in a key starts no element.", path: Path{{Name: "a[b]"}, {Name: "c", Element: true}},
			text: `"a[b]"[c]`, pointer: "/a~2b][c]"},
		"empty key": {reason: "JSON allows empty keys.", path: Path{{Name: ""}, {Name: "a"}, {Name: ""}}, text: `"".a.""`,
			pointer: "//a/"},
		"element of a list": {reason: "The body may be a list.", path: Path{{Name: "0", Element: true}, {Name: "a"}}, text: "[0].a",
			pointer: "[0]/a"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.path.String(); got != tc.text {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.text)
			}
			if diff := cmp.Diff(tc.path, Parse(tc.text)); diff != "" {
				t.Errorf("%s\nParse: %s", tc.reason, diff)
			}
			if got := tc.path.Pointer(); got != tc.pointer {
				t.Errorf("%s\ngot  %s\nwant %s", tc.reason, got, tc.pointer)
			}
			if diff := cmp.Diff(tc.path, ParsePointer(tc.pointer)); diff != "" {
				t.Errorf("%s\nParsePointer: %s", tc.reason, diff)
			}
		})
	}
}

func TestUnfinishedTextsOfPathsAreParsed(t *testing.T) {
	for text, want := range map[string]Path{
		"a[b":   {{Name: "a"}, {Name: "b", Element: true}},
		`a."b`:  {{Name: "a"}, {Name: "b"}},
		"[":     {{Element: true}},
		".a":    {{Name: "a"}},
		"a[*]b": {{Name: "a"}, {Name: "*", Element: true}, {Name: "b"}},
	} {
		if diff := cmp.Diff(want, Parse(text)); diff != "" {
			t.Errorf("Parse(%q): %s", text, diff)
		}
	}
}

func TestPathHasPrefix(t *testing.T) {
	for _, tc := range []struct {
		path, prefix string
		want         bool
	}{
		{"a.b", "a", true}, {"a.b", "a.b", true}, {"a", "a.b", false}, {"ab", "a", false}, {"a[b]", "a.b", false}, {"a", "", true},
	} {
		if got := Parse(tc.path).HasPrefix(Parse(tc.prefix)); got != tc.want {
			t.Errorf("%q below %q: got %t, want %t", tc.path, tc.prefix, got, tc.want)
		}
	}
}

func TestPathMatchesPatterns(t *testing.T) {
	for _, tc := range []struct {
		path, pattern string
		want          bool
	}{
		{"a[x].b", "a[].b", true}, {"a[x].b", "a[*].b", true}, {"a[XY]", "a[x*]", true}, {"a[y]", "a[x*]", false},
		{"a.x.b", "a.*.b", true}, {"a.x", "a[]", false}, {"A", "a", true}, {"a.b", "a", false}, {`a.""`, "a.b", false},
	} {
		if got := Parse(tc.path).Matches(Parse(tc.pattern)); got != tc.want {
			t.Errorf("%q by %q: got %t, want %t", tc.path, tc.pattern, got, tc.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "properties.a[b].c", `a."b.c"[d]`, "/a/b~1c[d]/e", "a[]][[", `"`, ".", "a..b", "[]]]]"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := Parse(text)
		if diff := cmp.Diff(path, Parse(path.String())); diff != "" {
			t.Errorf("the text %q of the path of %q is another path: %s", path.String(), text, diff)
		}
		path = ParsePointer(text)
		if diff := cmp.Diff(path, ParsePointer(path.Pointer())); diff != "" {
			t.Errorf("the pointer %q of the path of %q is another path: %s", path.Pointer(), text, diff)
		}
		// Names of steps may contain anything.
		path = nil
		for name := range strings.SplitSeq(text, "\n") {
			path = append(path, Step{Name: strings.TrimPrefix(name, "e"), Element: strings.HasPrefix(name, "e")})
		}
		if diff := cmp.Diff(path, Parse(path.String())); diff != "" {
			t.Errorf("%q is another path: %s", path.String(), diff)
		}
		if diff := cmp.Diff(path, ParsePointer(path.Pointer())); diff != "" {
			t.Errorf("%q is another path: %s", path.Pointer(), diff)
		}
		body := map[string]any{}
		if path = Parse(text); len(path) > 0 && !path[0].Element {
			path.Set(body, "value")
			Expand(body, text)
			Delete(body, text)
			Prune(body, text)
		}
	})
}
