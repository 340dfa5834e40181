package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// exchange is one recorded request with its answer.
type exchange struct {
	Method string
	URL    *url.URL
	Body   string
	// Match has the preconditions of the request.
	Match  map[string]string
	Status int
	Header http.Header
	Answer string
	// HasRetryAfter means that the recording keeps this header of answers.
	HasRetryAfter bool
	// At is when the request reached Azure. No two exchanges of a recording have the same time.
	At time.Time
}

// recordedData has the distilled recordings. test/recordings/distil makes it.
const recordedData = "../../test/recordings/testdata"

// source is a module whose recordings are replayed.
type source struct {
	// folder is below recordedData.
	folder string
	// suffix marks the rows of its types in the document.
	suffix string
	// hasRetryAfter means that the recordings keep this header. Recorders of client libraries remove it, so that tests do not wait.
	hasRetryAfter bool
	// holdsOut means that a part of the recordings is held out.
	holdsOut bool
}

var operator, clients = source{hasRetryAfter: true, holdsOut: true}, source{folder: "azclient", suffix: ", azclient"}

// recordedLine is one exchange as test/recordings/distil writes it.
type recordedLine struct {
	Recording, Method, URL string
	Index, Status          int
	// Time is empty in old recordings.
	Time         string
	Header       map[string]string
	Match        map[string]string
	Body, Answer json.RawMessage
}

// loadRecordings returns the exchanges of a source's recordings by the name of their file.
func (s source) loadRecordings(t *testing.T) map[string][]exchange {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordedData, s.folder, "exchanges", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s of %s: %v", s.folder, recordedData, err)
	}
	byName := map[string][]recordedLine{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(bytes.NewReader(content))
		for decoder.More() {
			var line recordedLine
			if err := decoder.Decode(&line); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			name := path.Base(line.Recording)
			byName[name] = append(byName[name], line)
		}
	}
	out := map[string][]exchange{}
	for name, lines := range byName {
		slices.SortFunc(lines, func(a, b recordedLine) int { return cmp.Compare(a.Index, b.Index) })
		out[name] = s.toExchanges(t, lines)
	}
	return out
}

// readModule returns the module and version that the recordings come from.
func (s source) readModule(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recordedData, s.folder, "SOURCE"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(raw))
}

// recordedPassword replaces passwords that the recordings blank out: Azure took them, so they were allowed.
const recordedPassword = "Recorded-1"

// toExchanges returns the exchanges of one recording in the order in which the requests reached Azure.
func (s source) toExchanges(t *testing.T, lines []recordedLine) []exchange {
	t.Helper()
	var out []exchange
	// A recording without times has the one that recordings write in place of those in bodies.
	at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, line := range lines {
		raw := line.URL
		if strings.HasPrefix(raw, "/") {
			raw = "https://management.azure.com" + raw
		}
		target, err := url.Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", line.Recording, err)
		}
		e := exchange{Method: line.Method, URL: target, Body: strings.ReplaceAll(toText(line.Body), "{PASSWORD}", recordedPassword),
			Match: line.Match, Status: line.Status, Header: http.Header{}, HasRetryAfter: s.hasRetryAfter, Answer: toText(line.Answer)}
		for name, value := range line.Header {
			e.Header.Set(name, value)
		}
		// The time is that of the edge server, in whole seconds; requests of one second keep their order.
		at = at.Add(time.Millisecond)
		if stamp, err := time.Parse(time.RFC3339, line.Time); err == nil && stamp.After(at) {
			at = stamp
		}
		e.At = at
		out = append(out, e)
	}
	times := make([]time.Time, len(out))
	for i, e := range out {
		times[i] = e.At
	}
	out = afterWhatTheyShow(inOrder(out))
	for i := range out {
		out[i].At = times[i]
	}
	return out
}

// toText returns a body as it was sent. Bodies that are not JSON are kept as strings.
func toText(body json.RawMessage) string {
	var text string
	if json.Unmarshal(body, &text) == nil {
		return text
	}
	return string(body)
}

// inOrder moves a refusal that names the operation it waited for behind the request that began it: recordings list
// requests by when they were answered, and a refusal is answered sooner.
func inOrder(all []exchange) []exchange {
	for i := 0; i < len(all); i++ {
		for j := i + 1; j < min(i+6, len(all)); j++ {
			if all[j].Method != "GET" && blamesOperation(all[i], all[j].URL.Path, all[j].operationKeys()) {
				late := all[i]
				copy(all[i:j], all[i+1:j+1])
				all[j] = late
				i--
				break
			}
		}
	}
	return all
}

// afterWhatTheyShow moves a read that names a resource behind the request that creates the resource: recordings list requests by when they
// were answered, and the read was answered sooner.
func afterWhatTheyShow(all []exchange) []exchange {
	created := map[string]bool{}
	for i := 0; i < len(all); i++ {
		if all[i].Method == "PUT" && all[i].Status/100 == 2 {
			created[strings.ToLower(all[i].URL.Path)] = true
		}
		if all[i].Method != "GET" || all[i].Status != 200 {
			continue
		}
		path, shown := strings.ToLower(all[i].URL.Path), strings.ToLower(all[i].Answer)
		for j := i + 1; j < min(i+4, len(all)); j++ {
			made := strings.ToLower(all[j].URL.Path)
			if strings.EqualFold(made, path) {
				break
			}
			if all[j].Method == "PUT" && all[j].Status == 201 && !created[made] && !strings.HasPrefix(path, made) &&
				(strings.Contains(shown, made+`"`) || strings.Contains(shown, made+"/")) {
				late := all[i]
				copy(all[i:j], all[i+1:j+1])
				all[j] = late
				i--
				break
			}
		}
	}
	return all
}
