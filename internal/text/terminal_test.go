package text_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

func TestStripTerminal(t *testing.T) {
	for name, test := range map[string]struct{ reason, in, want string }{
		"color":           {"colors of systemd", "\x1b[0;32m[  OK  ]\x1b[0m Started", "[  OK  ] Started"},
		"clear":           {"a screen is cleared", "a\x1b[2J\x1b[Hb", "ab"},
		"title":           {"the title of the window", "\x1b]0;evil\x07text", "text"},
		"title, other":    {"its other end", "\x1b]0;evil\x1b\\text", "text"},
		"reset":           {"a short sequence", "a\x1bcb", "ab"},
		"8 bits":          {"as one character", "a\u009b31mb", "ab"},
		"line ends":       {"those of a terminal", "a\r\nb", "a\nb"},
		"carriage return": {"it hides no text", "evil\rgood", "evil\ngood"},
		"not UTF-8":       {"each byte is replaced", "a\xffb", "a\ufffdb"},
		"plain":           {"text stays", "cloud-init[812]: [ok]", "cloud-init[812]: [ok]"},
	} {
		if got := text.StripTerminal(test.in); got != test.want {
			t.Errorf("%s: %s: %q, want %q", name, test.reason, got, test.want)
		}
	}
}
