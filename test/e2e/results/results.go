// Package results keeps the results of end-to-end specs and writes the page that shows them. It is pure but for Load, Save and Read, which
// read and write the files that they are given.
package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
)

// Result is the last run of a case in a cloud.
type Result struct {
	Spec    string `json:"spec"`
	Flavor  string `json:"flavor"`
	Cloud   string `json:"cloud"`
	Date    string `json:"date"`
	Commit  string `json:"commit"`
	Passed  bool   `json:"passed"`
	Seconds int    `json:"seconds"`
	// Failure is the first line of the failure.
	Failure string `json:"failure,omitempty"`
	// Steps are the log: each step of the spec with the seconds since its start.
	Steps []string `json:"-"`
}

// key orders results and finds the one that a new run replaces.
func (r Result) key() string { return strings.Join([]string{r.Spec, r.Flavor, r.Cloud}, " ") }

// LogName is the name of the file with the steps.
func (r Result) LogName() string {
	return strings.Join([]string{r.Spec, r.Flavor, r.Cloud}, "-") + ".log"
}

// Read returns the results of a report of Ginkgo.
func Read(report, cloud, commit string) ([]Result, error) {
	raw, err := os.ReadFile(report)
	if err != nil {
		return nil, err
	}
	var suites []types.Report
	if err := json.Unmarshal(raw, &suites); err != nil {
		return nil, fmt.Errorf("%s: %w", report, err)
	}
	var out []Result
	for _, suite := range suites {
		for _, spec := range suite.SpecReports {
			if spec.LeafNodeType != types.NodeTypeIt || spec.State == types.SpecStateSkipped || spec.State == types.SpecStatePending {
				continue
			}
			r := Result{Cloud: cloud, Commit: commit, Date: spec.StartTime.UTC().Format(time.DateOnly), Passed: spec.State == types.SpecStatePassed,
				Seconds: int(spec.RunTime.Seconds())}
			for _, label := range spec.Labels() {
				name, value, _ := strings.Cut(label, "=")
				switch name {
				case "spec":
					r.Spec = value
				case "flavor":
					r.Flavor = value
				}
			}
			if !r.Passed {
				r.Failure, _, _ = strings.Cut(spec.Failure.Message, "\n")
			}
			for _, event := range spec.SpecEvents {
				if event.SpecEventType == types.SpecEventByStart {
					r.Steps = append(r.Steps, fmt.Sprintf("%6.1f  %s", event.TimelineLocation.Time.Sub(spec.StartTime).Seconds(), event.Message))
				}
			}
			out = append(out, r)
		}
	}
	return out, nil
}

// WithoutPaths returns results whose texts name files below a root without the root, which is a folder of the machine that ran them.
func WithoutPaths(runs []Result, root string) []Result {
	remove := strings.NewReplacer(root+string(filepath.Separator), "")
	out := slices.Clone(runs)
	for i := range out {
		out[i].Failure = remove.Replace(out[i].Failure)
		out[i].Steps = slices.Clone(out[i].Steps)
		for j, step := range out[i].Steps {
			out[i].Steps[j] = remove.Replace(step)
		}
	}
	return out
}

// ReadAll returns the results of all reports of a folder.
func ReadAll(folder, cloud, commit string) ([]Result, error) {
	reports, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, err
	}
	var out []Result
	for _, report := range reports {
		runs, err := Read(report, cloud, commit)
		if err != nil {
			return nil, err
		}
		out = append(out, runs...)
	}
	return out, nil
}

// Load returns the results of a file. A file that does not exist has none.
func Load(file string) ([]Result, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Result
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return out, nil
}

// Save adds results to a file, in place of those of earlier runs, and writes their steps into the folder logs beside it.
func Save(file string, runs []Result) error {
	have, err := Load(file)
	if err != nil {
		return err
	}
	for _, run := range runs {
		have = slices.DeleteFunc(have, func(r Result) bool { return r.key() == run.key() })
		have = append(have, run)
		logs := filepath.Join(filepath.Dir(file), "logs")
		if err := os.MkdirAll(logs, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(logs, run.LogName()), []byte(strings.Join(run.Steps, "\n")+"\n"), 0o644); err != nil {
			return err
		}
	}
	slices.SortFunc(have, func(a, b Result) int { return strings.Compare(a.key(), b.key()) })
	raw, err := json.MarshalIndent(have, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(raw, '\n'), 0o644)
}

// Find returns the result of a case in a cloud.
func Find(runs []Result, c catalog.Case, cloud string) (Result, bool) {
	for _, r := range runs {
		if r.Spec == c.Spec && r.Flavor == c.Flavor && r.Cloud == cloud {
			return r, true
		}
	}
	return Result{}, false
}
