package command

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// escapeControls quotes what steers a terminal: control characters, characters that change the direction of writing, and bytes that are no UTF-8.
// Names and messages of objects and of virtual machines come from outside.
func escapeControls(line string) string {
	var out strings.Builder
	for i, width := 0, 0; i < len(line); i += width {
		var r rune
		r, width = utf8.DecodeRuneInString(line[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			out.WriteString(`\x` + strconv.FormatUint(uint64(line[i])|0x100, 16)[1:])
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029':
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// PrintableLines quotes the same in a text of several lines.
func PrintableLines(lines string) string {
	var out []string
	for line := range strings.SplitSeq(lines, "\n") {
		out = append(out, escapeControls(line))
	}
	return strings.Join(out, "\n")
}
