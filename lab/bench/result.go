package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/userinput"
)

// Sources of figures.
const (
	// FromProcesses is a lab: a provider that is a process, a real API server, the simulator, and the computer's clock.
	FromProcesses = "processes"
	// FromVirtualTime is our controllers in virtual time: requests are exact, and there is no process to measure.
	FromVirtualTime = "virtual time"
)

// Run is one scenario with one provider.
type Run struct {
	Scenario string `json:"scenario"`
	// Provider is the name of the run in comparisons.
	Provider string    `json:"provider"`
	Source   string    `json:"source"`
	Begun    time.Time `json:"begun"`
	// Seed is that of the simulator's durations.
	Seed      int     `json:"seed"`
	TimeScale float64 `json:"timeScale"`
	// Clusters have as many Machines or Pools each. Guests is whether machines boot and become nodes.
	Clusters int  `json:"clusters"`
	Machines int  `json:"machines,omitempty"`
	Pools    int  `json:"pools,omitempty"`
	Guests   bool `json:"guests"`
	// Processors and the load over a minute are what times have to be read with.
	Processors int     `json:"processors"`
	LoadBefore string  `json:"loadBefore"`
	LoadAfter  string  `json:"loadAfter"`
	Phases     []Phase `json:"phases"`
}

// Size returns how much there is of what, in words.
func (r Run) Size() string {
	if r.Pools > 0 {
		return fmt.Sprintf("%d × %d pools", r.Clusters, r.Pools)
	}
	return fmt.Sprintf("%d × %d machines", r.Clusters, r.Machines)
}

// Phase is one part of a run.
type Phase struct {
	Name string `json:"name"`
	// Begun and Ended bound the time that is counted.
	Begun time.Time `json:"begun"`
	Ended time.Time `json:"ended"`
	// WallSeconds is the time from its begin until its condition is met. CriticalSeconds is the longest chain of
	// Azure's operations in it that wait for one another, and Overhead is WallSeconds divided by CriticalSeconds. The
	// latter two are zero where nothing is created.
	WallSeconds float64 `json:"wallSeconds"`
	// ProvisionedSeconds is the time until the infrastructure was provisioned, which Overhead is about.
	ProvisionedSeconds float64 `json:"provisionedSeconds,omitempty"`
	CriticalSeconds    float64 `json:"criticalSeconds,omitempty"`
	Overhead           float64 `json:"overhead,omitempty"`
	Azure              Azure   `json:"azure"`
	// The rest is not known in virtual time; Reconciliations only where the provider serves the metrics of controller-runtime.
	Kubernetes      *Kubernetes      `json:"kubernetes,omitempty"`
	Process         *Process         `json:"process,omitempty"`
	Reconciliations *Reconciliations `json:"passes,omitempty"`
	// Requests are the numbers of requests to Azure up to a moment, and Memory is the resident memory then.
	Requests []Point  `json:"requests,omitempty"`
	Memory   []Sample `json:"memory,omitempty"`
}

// Point is a count up to a moment, in seconds from the begin of the phase.
type Point struct {
	Seconds float64 `json:"seconds"`
	Count   int     `json:"count"`
}

// File is what --json writes.
type File struct {
	Runs []Run `json:"runs"`
}

// WriteRuns writes runs to a file.
func WriteRuns(path string, runs []Run) error {
	raw, err := json.MarshalIndent(File{Runs: runs}, "", "  ")
	if err != nil {
		return err
	}
	return writeFile(path, raw)
}

// ReadRuns reads the runs of several files.
func ReadRuns(paths ...string) ([]Run, error) {
	var runs []Run
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var file File
		if err := userinput.DecodeJSON(raw, nil, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(file.Runs) == 0 {
			return nil, fmt.Errorf("%s has no runs: it is not an output of `lab bench --json`", path)
		}
		runs = append(runs, file.Runs...)
	}
	return runs, nil
}

func writeFile(path string, raw []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o644)
}
