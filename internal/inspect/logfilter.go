package inspect

import (
	"bufio"
	"errors"
	"io"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

type ownerReference = metav1.OwnerReference

// maxLine bounds one line of a log. The rest of a longer one is left out.
const maxLine = 64 << 10

// word matches the characters of names in Kubernetes and Azure.
var word = regexp.MustCompile(`[A-Za-z0-9._-]+`)

// FilterLog returns the lines of a log that contain one of the names as a whole word, as plain text without secrets. Of more than limit bytes it returns the last.
func FilterLog(in io.Reader, names []string, limit int) (string, error) {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[strings.ToLower(name)] = true
	}
	var out strings.Builder
	reader := bufio.NewReaderSize(in, maxLine)
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			line = append([]byte(nil), line...) // The next read overwrites it.
		}
		for rest := err; errors.Is(rest, bufio.ErrBufferFull); {
			_, rest = reader.ReadSlice('\n') // The end of a long line.
			if !errors.Is(rest, bufio.ErrBufferFull) {
				err = rest
			}
		}
		if len(line) > 0 && containsName(string(line), wanted) {
			out.WriteString(redact.RedactText(strings.TrimRight(text.StripTerminal(string(line)), "\n")) + "\n")
			if out.Len() > 2*limit {
				kept := out.String()[out.Len()-limit:]
				out.Reset()
				out.WriteString(kept)
			}
		}
		if err == io.EOF {
			all := out.String()
			return all[max(0, len(all)-limit):], nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

func containsName(line string, wanted map[string]bool) bool {
	for _, found := range word.FindAllString(line, -1) {
		if wanted[strings.ToLower(found)] {
			return true
		}
	}
	return false
}
