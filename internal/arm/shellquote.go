package arm

import (
	"regexp"
	"strings"
)

// shellSafe is what a shell takes as it is.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9/._:=@-]*$`)

// ShellQuote is a word of a shell command that a message gives: a shell does nothing with what is in it.
func ShellQuote(word string) string {
	if shellSafe.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
