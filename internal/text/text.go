// Package text shortens and quotes text from outside, such as messages of Azure and names that users chose, before it is stored,
// logged or printed. It is pure except for the writer, which writes to the one that it wraps.
package text

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of the places that text goes to, in bytes.
const (
	// MaxCondition is the limit of a condition's message: maxLength in the schema of metav1.Condition, which counts characters.
	MaxCondition = 32768
	// MaxNote is the limit of an event's note.
	// https://github.com/kubernetes/kubernetes/blob/v1.35.0/pkg/apis/core/validation/events.go#L38
	MaxNote = 1024
	// MaxLog is the largest length of a value in the log. The provider chose it.
	MaxLog = 8192
)

const ellipsis = "..."

// Truncate returns a text of at maxBytes so many bytes, which ends in "..." if the text was longer. It splits no character.
func Truncate(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	end := max(0, maxBytes-len(ellipsis))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + ellipsis
}

// QuoteUnprintable quotes characters that change how a terminal or a log shows the surrounding text: control characters including line
// breaks, characters that change the direction of writing, and invalid UTF-8. Everything else stays, backslashes as well.
func QuoteUnprintable(text string) string {
	if strings.IndexFunc(text, isUnprintable) < 0 {
		return text
	}
	return quoteActive(text, "")
}

func quoteActive(text, keep string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case !isUnprintable(r) || strings.ContainsRune(keep, r):
			out.WriteString(text[i : i+width])
		case r == utf8.RuneError && width == 1:
			out.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		default:
			out.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		}
		i += width
	}
	return out.String()
}

// isUnprintable returns true for characters that QuoteUnprintable quotes. RuneError is the result of decoding invalid UTF-8.
func isUnprintable(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// NewWriter returns a writer for a terminal, which quotes as QuoteUnprintable does. It keeps line breaks and tabs, which the program writes.
func NewWriter(out io.Writer) io.Writer { return &quotingWriter{out: out} }

type quotingWriter struct {
	out io.Writer
	// begun is the beginning of a character whose end is not written yet.
	begun []byte
}

// Write implements io.Writer.
func (w *quotingWriter) Write(p []byte) (int, error) {
	all := slices.Concat(w.begun, p)
	end := len(all)
	for i := end - 1; i >= 0 && i >= end-utf8.UTFMax; i-- {
		if utf8.RuneStart(all[i]) {
			if !utf8.FullRune(all[i:]) {
				end = i
			}
			break
		}
	}
	w.begun = append([]byte(nil), all[end:]...)
	if _, err := io.WriteString(w.out, quoteActive(string(all[:end]), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}
