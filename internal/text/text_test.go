package text_test

import (
	"bytes"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

func TestCut(t *testing.T) {
	for name, test := range map[string]struct {
		reason, text string
		most         int
		want         string
	}{
		"short":      {"it stays", "abc", 3, "abc"},
		"long":       {"the end shows that something is missing", "abcdefgh", 6, "abc..."},
		"characters": {"half a character would be none", "aäöü", 6, "aä..."},
		"exactly":    {"characters before the bound are whole", "ääää", 7, "ää..."},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text.Truncate(test.text, test.most); got != test.want || len(got) > test.most {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	for name, test := range map[string]struct{ reason, text, want string }{
		"plain":      {"nothing to quote", `a "b" c:\d ä ✔`, `a "b" c:\d ä ✔`},
		"escape":     {"it would colour or clear a terminal", "a\x1b[2Jb", `a\x1b[2Jb`},
		"C1":         {"terminals take it as an escape as well", "a\u009b2Jb", `a\u009b2Jb`},
		"line break": {"it would forge a line of a log", "a\nI0101 forged\r", `a\nI0101 forged\r`},
		"direction":  {"it would show the text in another order", "a\u202eb\u2066", `a\u202eb\u2066`},
		"separator":  {"some readers take it for a line break", "a\u2028b", `a\u2028b`},
		"no UTF-8":   {"a terminal may take the byte for a control character", "a\x9bb\xff", `a\x9bb\xff`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text.QuoteUnprintable(test.text); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}

// TestWriter writes byte by byte: characters stay whole, and the program's own line breaks and tabs stay.
func TestWriter(t *testing.T) {
	var out bytes.Buffer
	writer := text.NewWriter(&out)
	for _, b := range []byte("a\tä✔\x1b[2J\n\u202eb\r\n") {
		if n, err := writer.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got, want := out.String(), "a\tä✔\\x1b[2J\n\\u202eb\\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("an escape character is written")
	}
}
