package arm

import (
	"regexp"
	"strings"
)

// unquoted is what a shell takes as it is.
var unquoted = regexp.MustCompile(`^[A-Za-z0-9/._:=@-]*$`)

// Quoted is a word of a shell command that a message gives: a shell does nothing with what is in it.
func Quoted(word string) string {
	if unquoted.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
