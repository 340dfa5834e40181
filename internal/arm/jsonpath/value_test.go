package jsonpath

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testBody = `{
	"name": "lb",
	"properties": {
		"probes": [{"name": "HTTPSProbe", "properties": {"port": 443}}, {"name": "Other", "properties": {"port": 80}}],
		"users": [{"id": "/subscriptions/s/A/"}],
		"endpoints": [{"service": "Microsoft.Storage"}],
		"prefixes": ["10.0.0.0/8", "1"],
		"rules": [{"port": 1}, {"port": 2}],
		"labels": {"example.com/team": "red", "other": null},
		"identities": {"/subscriptions/s/U": {}}
	}
}`

func decodeJSON(t *testing.T, text string) map[string]any {
	t.Helper()
	var out map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestGetReturnsTheValueAtAPath(t *testing.T) {
	for path, tc := range map[string]struct {
		reason     string
		want, fold any
	}{
		"name":                               {reason: "A member.", want: "lb", fold: "lb"},
		"Name":                               {reason: "Only GetFold ignores case.", fold: "lb"},
		"name.below":                         {reason: "A text has no members."},
		"properties.probes.name":             {reason: "A list has no members."},
		"properties.probes[httpsprobe].name": {reason: "Names of elements have no case.", want: "HTTPSProbe", fold: "HTTPSProbe"},
		"properties.probes[HTTPSProbe].properties.port": {reason: "Values are below elements.", want: json.Number("443"),
			fold: json.Number("443")},
		"properties.probes[0].name": {reason: "Named elements have no position."},
		"properties.probes[]":       {reason: "Get knows no pattern."},
		"properties.users[/subscriptions/s/a].id": {reason: "An ID identifies, without the slash at its end.",
			want: "/subscriptions/s/A/", fold: "/subscriptions/s/A/"},
		"properties.endpoints[microsoft.storage].service": {reason: "A service identifies.", want: "Microsoft.Storage",
			fold: "Microsoft.Storage"},
		"properties.prefixes[10.0.0.0/8]": {reason: "A text identifies itself.", want: "10.0.0.0/8", fold: "10.0.0.0/8"},
		"properties.prefixes[1]":          {reason: "A text goes before a position.", want: "1", fold: "1"},
		"properties.prefixes[0]":          {reason: "Texts have positions, too.", want: "10.0.0.0/8", fold: "10.0.0.0/8"},
		"properties.rules[1].port": {reason: "Other elements have a position.", want: json.Number("2"),
			fold: json.Number("2")},
		"properties.rules[2].port":             {reason: "There is no third element."},
		"properties.rules[-1].port":            {reason: "Positions do not count from the end."},
		`properties.labels."example.com/team"`: {reason: "A key with a dot is in quotes.", want: "red", fold: "red"},
		"properties.labels.other":              {reason: "null is nil."},
		"properties.identities[/subscriptions/S/u]": {reason: "A key in brackets has no case.", want: map[string]any{},
			fold: map[string]any{}},
	} {
		t.Run(path, func(t *testing.T) {
			body := decodeJSON(t, testBody)
			if diff := cmp.Diff(tc.want, Get(body, path)); diff != "" {
				t.Errorf("%s\nGet: %s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.want, Parse(path).Get(body)); diff != "" {
				t.Errorf("%s\nPath.Get: %s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.fold, GetFold(body, path)); diff != "" {
				t.Errorf("%s\nGetFold: %s", tc.reason, diff)
			}
		})
	}
}

func TestHasCountsNull(t *testing.T) {
	for path, want := range map[string]bool{
		"": true, "name": true, "Name": false, "properties.labels.other": true, "properties.labels.third": false,
		"properties.probes[other]": true, "properties.probes[third]": false, "properties.identities[/subscriptions/S/u]": true,
		"name.below": false,
	} {
		if got := Parse(path).Has(decodeJSON(t, testBody)); got != want {
			t.Errorf("%q: got %t, want %t", path, got, want)
		}
	}
}

func TestSetChangesOnlyTheValueAtThePath(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, body, path, want string
	}{
		"new member":        {reason: "Missing objects are created.", body: `{"x":1}`, path: "a.b", want: `{"x":1,"a":{"b":"new"}}`},
		"instead of a text": {reason: "A value that is no object gives way.", body: `{"a":1}`, path: "a.b", want: `{"a":{"b":"new"}}`},
		"below an element": {reason: "Elements are found by name.", body: `{"a":[{"name":"x"},{"name":"y"}]}`, path: "a[Y].b",
			want: `{"a":[{"name":"x"},{"name":"y","b":"new"}]}`},
		"an element":       {reason: "An element is replaced.", body: `{"a":["x","y"]}`, path: "a[y]", want: `{"a":["x","new"]}`},
		"missing element":  {reason: "No element is created.", body: `{"a":[{"name":"x"}]}`, path: "a[y].b", want: `{"a":[{"name":"x"}]}`},
		"missing list":     {reason: "No list is created.", body: `{}`, path: "a[y].b", want: `{}`},
		"member of a list": {reason: "A list has no members and stays.", body: `{"a":["x"]}`, path: "a.b", want: `{"a":["x"]}`},
		"entry in any case": {reason: "An entry in brackets has no case.", body: `{"a":{"/S/u":1}}`, path: "a[/s/U]",
			want: `{"a":{"/S/u":"new"}}`},
		"member in another case": {reason: "A member has its case.", body: `{"A":1}`, path: "a", want: `{"A":1,"a":"new"}`},
		"quoted":                 {reason: "A key with a dot is one member.", body: `{}`, path: `a."b.c"`, want: `{"a":{"b.c":"new"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			body := decodeJSON(t, tc.body)
			Set(body, tc.path, "new")
			if diff := cmp.Diff(decodeJSON(t, tc.want), body); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDeleteAndPrune(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, body, path, deleted, pruned string
	}{
		"member": {reason: "Only Prune deletes the object that becomes empty.", body: `{"a":{"b":{"c":1}}}`, path: "a.b.c",
			deleted: `{"a":{"b":{}}}`, pruned: `{}`},
		"one of two": {reason: "Others stay.", body: `{"a":{"b":1,"c":1}}`, path: "a.b", deleted: `{"a":{"c":1}}`, pruned: `{"a":{"c":1}}`},
		"absent":     {reason: "There is nothing to delete.", body: `{"a":1}`, path: "b.c", deleted: `{"a":1}`, pruned: `{"a":1}`},
		"other case": {reason: "A member has its case.", body: `{"a":1}`, path: "A", deleted: `{"a":1}`, pruned: `{"a":1}`},
		"all elements": {reason: "Only Delete knows patterns.", body: `{"a":[{"name":"x","b":1},{"name":"y"}]}`, path: "a[].b",
			deleted: `{"a":[{"name":"x"},{"name":"y"}]}`, pruned: `{"a":[{"name":"x","b":1},{"name":"y"}]}`},
		"an element": {reason: "An element is deleted from its list.", body: `{"a":[{"name":"x"},{"name":"y"}]}`, path: "a[X]",
			deleted: `{"a":[{"name":"y"}]}`, pruned: `{"a":[{"name":"x"},{"name":"y"}]}`},
		"all entries": {reason: "A pattern matches every key.", body: `{"a":{"x":{"b":1},"y":{"b":2,"c":3}}}`, path: "a.*.b",
			deleted: `{"a":{"x":{},"y":{"c":3}}}`, pruned: `{"a":{"x":{"b":1},"y":{"b":2,"c":3}}}`},
		"whole body": {reason: "The body itself stays.", body: `{"a":1}`, path: "", deleted: `{"a":1}`, pruned: `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			body := decodeJSON(t, tc.body)
			Delete(body, tc.path)
			if diff := cmp.Diff(decodeJSON(t, tc.deleted), body); diff != "" {
				t.Errorf("%s\nDelete: %s", tc.reason, diff)
			}
			body = decodeJSON(t, tc.body)
			Prune(body, tc.path)
			if diff := cmp.Diff(decodeJSON(t, tc.pruned), body); diff != "" {
				t.Errorf("%s\nPrune: %s", tc.reason, diff)
			}
		})
	}
}

func TestExpandReturnsAllMatches(t *testing.T) {
	for pattern, want := range map[string][]string{
		"":                                     {""},
		"name":                                 {"name"},
		"Name":                                 {"Name"},
		"properties.probes[]":                  {"properties.probes[HTTPSProbe]", "properties.probes[Other]"},
		"properties.probes[ht*].name":          {"properties.probes[HTTPSProbe].name"},
		"properties.probes[*].missing":         nil,
		"properties.rules[].port":              {"properties.rules[0].port", "properties.rules[1].port"},
		"properties.prefixes[10.*]":            {"properties.prefixes[10.0.0.0/8]"},
		"properties.labels.*":                  {`properties.labels."example.com/team"`, "properties.labels.other"},
		"properties.labels[ex*]":               {"properties.labels[example.com/team]"},
		"properties.identities[]":              {"properties.identities[/subscriptions/s/U]"},
		"properties.users[/subscriptions/s/a]": {"properties.users[/subscriptions/s/A]"},
		`properties.""`:                        nil,
	} {
		t.Run(pattern, func(t *testing.T) {
			var got []string
			body := decodeJSON(t, testBody)
			for _, match := range Expand(body, pattern) {
				got = append(got, match.Path.String())
				if diff := cmp.Diff(match.Value, match.Path.GetFold(body)); diff != "" {
					t.Errorf("the value is not the one at %s: %s", match.Path, diff)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWalkVisitsEverythingInOrder(t *testing.T) {
	var got []string
	Walk(decodeJSON(t, `{"b":[{"c":1},"x"],"a":{"skipped":{"below":1}},"d":null}`), func(path Path, value any) bool {
		got = append(got, path.String())
		return path.String() != "a.skipped"
	})
	if diff := cmp.Diff([]string{"", "a", "a.skipped", "b", "b[0]", "b[0].c", "b[1]", "d"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWalkTextsVisitsKeysAndTexts(t *testing.T) {
	count := map[string]int{}
	WalkTexts(decodeJSON(t, `{"a":["x",{"b":"y"}],"c":1}`), func(text string) { count[text]++ })
	if diff := cmp.Diff(map[string]int{"a": 1, "x": 1, "b": 1, "y": 1, "c": 1}, count); diff != "" {
		t.Error(diff)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	body := decodeJSON(t, testBody)
	copied := Clone(body).(map[string]any)
	if diff := cmp.Diff(body, copied); diff != "" {
		t.Fatal(diff)
	}
	Delete(copied, "properties.*")
	Set(copied, "name", "other")
	if diff := cmp.Diff(decodeJSON(t, testBody), body); diff != "" {
		t.Errorf("changes of the copy are in the original: %s", diff)
	}
	if CloneObject(nil) == nil {
		t.Error("a copy of no object cannot be written to")
	}
}

func TestElementsAreIdentifiedByWhatAllHave(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, lists, want string
	}{
		"names":        {reason: "A name goes before an ID.", lists: `[[{"name":"a","id":"1"}],[{"name":"b"}]]`, want: "name"},
		"IDs":          {reason: "One element has no name.", lists: `[[{"name":"a","id":"1"}],[{"id":"2"}]]`, want: "id"},
		"services":     {reason: "Service endpoints have neither.", lists: `[[{"service":"a"}]]`, want: "service"},
		"mixed":        {reason: "Nothing identifies all.", lists: `[[{"name":"a"}],[{"id":"2"}]]`, want: ""},
		"texts":        {reason: "Texts have no members.", lists: `[["a"]]`, want: ""},
		"empty lists":  {reason: "There is no element.", lists: `[[],[]]`, want: ""},
		"another case": {reason: "Azure changes the case of keys.", lists: `[[{"Name":"a"}]]`, want: "name"},
	} {
		t.Run(name, func(t *testing.T) {
			var lists [][]any
			if err := json.Unmarshal([]byte(tc.lists), &lists); err != nil {
				t.Fatal(err)
			}
			if got := ElementKey(lists...); got != tc.want {
				t.Errorf("%s Got %q, want %q.", tc.reason, got, tc.want)
			}
		})
	}
}

func TestLookUpPrefersTheExactKey(t *testing.T) {
	object := map[string]any{"B": 1, "b": 2, "C": 3, "c": 4}
	for key, want := range map[string]any{"b": 2, "B": 1, "c": 4} {
		if got, ok := LookUp(object, key); !ok || got != want {
			t.Errorf("%q: got %v, want %v", key, got, want)
		}
	}
	if got, ok := LookUp(map[string]any{"Bb": 1, "BB": 2}, "bb"); !ok || got != 2 {
		t.Errorf("got %v, want the first in order", got)
	}
	if _, ok := LookUp(object, "d"); ok {
		t.Error("there is no such key")
	}
}

func TestGetAllocatesNothing(t *testing.T) {
	body := decodeJSON(t, testBody)
	if allocations := testing.AllocsPerRun(100, func() { Get(body, "properties.probes[Other].properties.port") }); allocations > 0 {
		t.Errorf("got %v allocations", allocations)
	}
}
