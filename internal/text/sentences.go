package text

import (
	"fmt"
	"strings"
)

// JoinSentences joins texts to sentences. Each text but the last ends with one period, whether it had one or not, because texts of
// several sentences end with one and short ones do not. Empty texts are left out.
func JoinSentences(texts ...string) string {
	var out strings.Builder
	for _, each := range texts {
		if each == "" {
			continue
		}
		if out.Len() > 0 {
			if !strings.HasSuffix(out.String(), ".") {
				out.WriteByte('.')
			}
			out.WriteByte(' ')
		}
		out.WriteString(each)
	}
	return out.String()
}

// JoinList joins texts with semicolons. A period in front of a semicolon is left out.
func JoinList(texts []string) string {
	out := make([]string, 0, len(texts))
	for i, each := range texts {
		if i < len(texts)-1 {
			each = strings.TrimSuffix(each, ".")
		}
		out = append(out, each)
	}
	return strings.Join(out, "; ")
}

// JoinFirst joins the first texts, at most limit, with commas, and adds the number of the others. A message that quotes a list of a user must not
// be as long as the list, because many messages can quote the same list.
func JoinFirst(texts []string, limit int) string {
	if len(texts) <= limit {
		return strings.Join(texts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(texts[:limit], ", "), len(texts)-limit)
}
