package arm

import (
	"regexp"
	"strings"
)

// shellSafe matches words without special characters of a shell.
var shellSafe = regexp.MustCompile(`^[A-Za-z0-9/._:=@-]*$`)

// ShellQuote quotes a word of a shell command in a message, so that the shell does not interpret it.
func ShellQuote(word string) string {
	if shellSafe.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
