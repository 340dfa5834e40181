package conformance

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	yaml "go.yaml.in/yaml/v3"
)

// operator is the module with the recordings. Its version is pinned: docs/conformance.md is about these files.
const operator = "github.com/Azure/azure-service-operator/v2@v2.18.0"

// exchange is one recorded request with its answer.
type exchange struct {
	Method string
	URL    *url.URL
	Body   string
	Status int
	Header http.Header
	Answer string
	// At is when the request reached Azure. No two exchanges of a recording have the same time.
	At time.Time
}

// recordingFiles returns the files with recordings.
func recordingFiles(t *testing.T) []string {
	t.Helper()
	raw, err := exec.Command("go", "mod", "download", "-json", operator).Output()
	if err != nil {
		t.Fatalf("go mod download %s: %v\n%s", operator, err, raw)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(raw, &module); err != nil {
		t.Fatal(err)
	}
	var files []string
	err = filepath.WalkDir(filepath.Join(module.Dir, "internal"), func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.HasSuffix(path, ".yaml") && strings.Contains(filepath.ToSlash(path), "/recordings/") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", module.Dir, err)
	}
	slices.Sort(files)
	return files
}

// recordedPassword replaces passwords that the recordings blank out: Azure took them, so they were allowed.
const recordedPassword = "Recorded-1"

// loadRecording reads one recording.
func loadRecording(t *testing.T, file string) []exchange {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var recording struct {
		Interactions []struct {
			Request struct {
				Body   string `yaml:"body"`
				URL    string `yaml:"url"`
				Method string `yaml:"method"`
			} `yaml:"request"`
			Response struct {
				Body    string              `yaml:"body"`
				Headers map[string][]string `yaml:"headers"`
				Code    int                 `yaml:"code"`
			} `yaml:"response"`
		} `yaml:"interactions"`
	}
	if err := yaml.Unmarshal(raw, &recording); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var out []exchange
	// A recording without times has the one that recordings write in place of those in bodies.
	at := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	for _, i := range recording.Interactions {
		target, err := url.Parse(i.Request.URL)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		e := exchange{Method: i.Request.Method, URL: target, Body: strings.ReplaceAll(i.Request.Body, "{PASSWORD}", recordedPassword),
			Status: i.Response.Code, Header: http.Header{}, Answer: i.Response.Body}
		for name, values := range i.Response.Headers {
			e.Header[http.CanonicalHeaderKey(name)] = values
		}
		// The time is that of the edge server, in whole seconds; requests of one second keep their order.
		at = at.Add(time.Millisecond)
		if _, after, found := strings.Cut(e.Header.Get("X-Msedge-Ref"), "Ref C: "); found {
			if stamp, err := time.Parse(time.RFC3339, strings.TrimSpace(after)); err == nil && stamp.After(at) {
				at = stamp
			}
		}
		e.At = at
		out = append(out, e)
	}
	return inOrder(out)
}

// inOrder moves a refusal that names the operation it waited for behind the request that began it: recordings list
// requests by when they were answered, and a refusal is answered sooner.
func inOrder(all []exchange) []exchange {
	for i := 0; i < len(all); i++ {
		for j := i + 1; j < min(i+6, len(all)); j++ {
			if all[j].Method != "GET" && blamesOperation(all[i], all[j].URL.Path, all[j].operationKeys()) {
				late := all[i]
				copy(all[i:j], all[i+1:j+1])
				late.At, all[j-1].At = all[j-1].At, late.At
				all[j] = late
				i--
				break
			}
		}
	}
	return all
}
