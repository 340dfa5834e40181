package recordings

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// exchange is one recorded request with its answer.
type exchange struct {
	Method string
	Path   string
	Body   string
	Status int
	Answer string
}

// recordings returns all exchanges by recording, in the order they were recorded.
func recordings(t *testing.T) map[string][]exchange {
	t.Helper()
	type line struct {
		Recording, Method, URL string
		Index, Status          int
		Body, Answer           json.RawMessage
	}
	byRecording := map[string][]line{}
	for _, file := range listFiles(t, "exchanges") {
		for _, raw := range readLines(t, file) {
			var l line
			if err := json.Unmarshal(raw, &l); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			name := filepath.Base(l.Recording)
			byRecording[name] = append(byRecording[name], l)
		}
	}
	out := map[string][]exchange{}
	for name, lines := range byRecording {
		slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.Index, b.Index) })
		for _, l := range lines {
			target, err := url.Parse(l.URL)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			out[name] = append(out[name], exchange{Method: l.Method, Path: target.Path, Body: string(l.Body), Status: l.Status, Answer: string(l.Answer)})
		}
	}
	return out
}

// listFiles returns the files of a directory of the distilled data.
func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no data in testdata/%s: %v", dir, err)
	}
	return files
}

func readLines(t *testing.T, file string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	scanner := bufio.NewScanner(bytes.NewReader(raw))
	scanner.Buffer(nil, len(raw)+1)
	for scanner.Scan() {
		out = append(out, bytes.Clone(scanner.Bytes()))
	}
	if err := scanner.Err(); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return out
}

var (
	address   = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[a-z]{2,}`)
	secret    = regexp.MustCompile(`"[A-Za-z0-9+/]{86}=="|Secret=[^{]|AccountKey=[^{]|BEGIN [A-Z ]*PRIVATE KEY|[?&]sig=[^{]`)
	principal = "someone@example.com"
)

// TestDataHasNoSecrets reads the distilled data as text: it has no names of persons, keys or signed URLs.
func TestDataHasNoSecrets(t *testing.T) {
	for _, file := range listFiles(t, "exchanges") {
		for _, line := range readLines(t, file) {
			if bytes.ContainsRune(line, '@') {
				for _, found := range address.FindAllString(string(line), -1) {
					if found != principal {
						t.Errorf("%s names %s", file, found)
					}
				}
			}
			if found := secret.Find(line); found != nil {
				t.Errorf("%s has %s", file, found)
			}
		}
	}
}
