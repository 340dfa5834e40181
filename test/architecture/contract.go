package architecture

import (
	"regexp"
	"strings"
)

var (
	// listed is an entry of a list.
	listed = regexp.MustCompile(`^([*-]|\d+\.) `)
	// demand is a word that makes a rule of a sentence.
	demand = regexp.MustCompile(`\b(MUST|SHOULD)\b`)
	spaces = regexp.MustCompile(`\s+`)
	// ended is the end of a sentence and the letter that begins the next one.
	ended = regexp.MustCompile(`\. ([A-Z])`)
)

// findDemands are the sentences of a page in Markdown that have the word MUST or SHOULD. A list belongs to the sentence before it that ends with a
// colon, and each line of code is a sentence.
func findDemands(page string) []string {
	var out []string
	parts := splitParagraphs(page)
	for i := 0; i < len(parts); i++ {
		text := parts[i]
		if strings.HasSuffix(text, ":") && i+1 < len(parts) && listed.MatchString(parts[i+1]) {
			i++
			text += " " + parts[i]
		}
		text = ended.ReplaceAllString(spaces.ReplaceAllString(text, " "), ".\n$1")
		for sentence := range strings.SplitSeq(text, "\n") {
			if demand.MatchString(sentence) {
				out = append(out, sentence)
			}
		}
	}
	return out
}

// splitParagraphs returns the paragraphs of a page, each in one line, and the lines of its code.
func splitParagraphs(page string) []string {
	var out, lines []string
	end := func() {
		if len(lines) > 0 {
			out = append(out, strings.Join(lines, " "))
		}
		lines = nil
	}
	code := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			code = !code
			end()
		case line == "":
			end()
		default:
			lines = append(lines, line)
			if code {
				end()
			}
		}
	}
	end()
	return out
}
