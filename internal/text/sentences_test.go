package text

import "testing"

func TestJoinSentences(t *testing.T) {
	tests := map[string]struct {
		reason string
		texts  []string
		want   string
	}{
		"short": {"a short message has no period", []string{"must be 1", "Try again"}, "must be 1. Try again"},
		"sentences": {"a message of several sentences has one", []string{"must be 1. Leave it out.", "Try again"},
			"must be 1. Leave it out. Try again"},
		"end":           {"the last text stays as it is", []string{"a", "b."}, "a. b."},
		"no text":       {"an empty text is no sentence", []string{"", "a", "", "b"}, "a. b"},
		"nothing":       {"without texts there is no message", nil, ""},
		"ends with dot": {"three dots end a sentence", []string{"as in {armId: ...", "b"}, "as in {armId: ... b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := JoinSentences(test.texts...); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

func TestJoinList(t *testing.T) {
	for want, texts := range map[string][]string{"": nil, "a.": {"a."}, "a. b; c.": {"a. b.", "c."}, "a; b": {"a", "b"}} {
		if got := JoinList(texts); got != want {
			t.Errorf("%q is joined to %q, want %q", texts, got, want)
		}
	}
}

func TestJoinFirst(t *testing.T) {
	for limit, want := range map[int]string{2: "a, b and 1 more", 3: "a, b, c", 4: "a, b, c"} {
		if got := JoinFirst([]string{"a", "b", "c"}, limit); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
}
