package text

import (
	"regexp"
	"strings"
)

// terminalSequence matches control sequences of terminals: CSI, strings such as OSC with their end, and short ones.
// https://www.ecma-international.org/publications-and-standards/standards/ecma-48/
var terminalSequence = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)|\x1b[ -/]*[0-~]|\u009b[0-?]*[ -/]*[@-~]")

// StripTerminal removes the control sequences of terminals from a log, and makes line feeds of all line ends. A carriage return within a line
// ends it, so that it hides nothing. Other control characters stay, for a writer that quotes them.
func StripTerminal(text string) string {
	text = terminalSequence.ReplaceAllString(strings.ToValidUTF8(text, "\ufffd"), "")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}
