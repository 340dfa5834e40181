package bench

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exampleRuns are runs of one scenario by two providers, of which the second knows less of itself.
func exampleRuns() []Run {
	return []Run{{
		Scenario: "default", Provider: "ours", Source: FromProcesses, TimeScale: 1, Clusters: 1, Machines: 5, Guests: true, Processors: 2,
		LoadBefore: "0.10", LoadAfter: "0.70",
		Phases: []Phase{{
			Name: create, WallSeconds: 400, CriticalSeconds: 100, Overhead: 1.05,
			Azure: Azure{Classes: Classes{Reads: 100, Writes: 20}, Polls: 30,
				Types: map[string]Classes{"Microsoft.Network/virtualNetworks": {Reads: 100, Writes: 20}}},
			Kubernetes: &Kubernetes{Verbs: map[string]int{"get": 3, "watch": 10, "patch": 70}},
			Process:    &Process{CPUSeconds: 4.2, PeakMiB: 90, RestMiB: 70}, Reconciliations: &Reconciliations{Count: 100, P50: 0.01, P90: 0.085, P99: 0.1},
			Requests: []Point{{0, 1}, {200, 60}, {400, 120}}, Memory: []Sample{{0, 60}, {400, 70}},
		}},
	}, {
		Scenario: "default", Provider: "<theirs>", Source: FromProcesses, TimeScale: 1, Clusters: 1, Machines: 5,
		Phases: []Phase{{
			Name: create, WallSeconds: 800,
			Azure:    Azure{Classes: Classes{Reads: 50, Deletes: 1}, Types: map[string]Classes{"operations": {Reads: 50}}},
			Requests: []Point{{0, 1}, {800, 51}},
		}},
	}}
}

// TestHTML reads the page as the XML that it also is: the table has every figure, each picture a bar for each run, and the
// page requests nothing.
func TestHTML(t *testing.T) {
	raw, err := RenderHTML(exampleRuns())
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	var cells []string
	var bar []string
	decoder := xml.NewDecoder(bytes.NewReader(raw))
	var inside []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = append(inside, token.Name.Local)
			counts[token.Name.Local]++
			for _, a := range token.Attr {
				if a.Name.Local == "href" || a.Name.Local == "src" {
					t.Errorf("%s asks for %s", token.Name.Local, a.Value)
				}
				if token.Name.Local == "rect" && a.Name.Local == "width" {
					bar = append(bar, a.Value)
				}
			}
		case xml.EndElement:
			inside = inside[:len(inside)-1]
		case xml.CharData:
			if len(inside) > 0 && inside[len(inside)-1] == "td" {
				cells = append(cells, string(token))
			}
		}
	}
	if counts["script"]+counts["link"]+counts["img"] > 0 {
		t.Errorf("the page is not self-contained: %v", counts)
	}
	columns := 4 + len(Figures)
	if len(cells) < 2*columns {
		t.Fatalf("%d cells, want two rows of %d: %q", len(cells), columns, cells)
	}
	want := [][]string{
		{"default", "1 × 5 machines", "create", "ours", "400.0", "100.0", "1.05", "100", "30", "20", "0", "0", "13", "70", "4.2", "90", "70",
			"100", "10", "85", "100"},
		{"default", "1 × 5 machines", "create", "<theirs>", "800.0", "-", "-", "50", "0", "0", "1", "0", "-", "-", "-", "-", "-", "-", "-", "-",
			"-"},
	}
	if diff := cmp.Diff(want, [][]string{cells[:columns], cells[columns : 2*columns]}); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
	if got := bar[:2]; got[0] != "95" || got[1] != "190" {
		t.Errorf("the bars of the wall time are %v wide, want 95 and 190: the second took twice as long", got)
	}
	if counts["polyline"] != 3 {
		t.Errorf("%d curves, want two of requests and one of memory", counts["polyline"])
	}
}

func TestPrint(t *testing.T) {
	var out bytes.Buffer
	if err := PrintTable(&out, exampleRuns()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if got := strings.Fields(lines[1]); !slices.Contains(got, "1.05") || !slices.Contains(got, "ours") {
		t.Errorf("the first row is %q", lines[1])
	}
	if !strings.Contains(out.String(), "time scale 1, machines that become nodes; 2 processors, load 0.10 before and 0.70 after") {
		t.Errorf("the table lacks the method of the measurement:\n%s", &out)
	}
}

// TestFiles writes runs, reads them again, and expects a refusal of files without runs.
func TestFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "folder", "a.json")
	if err := WriteRuns(file, exampleRuns()); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRuns(file, file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(exampleRuns(), exampleRuns()...), got); diff != "" {
		t.Errorf("the two outputs differ (-want +got):\n%s", diff)
	}
	if err := WriteRuns(file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRuns(file); err == nil || !strings.Contains(err.Error(), "a.json has no runs") {
		t.Errorf("a file without runs: %v", err)
	}
}
