package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// Times are the moments of a cluster's life that its figures are computed from.
type Times struct {
	// Options are those that the cluster was made with.
	Options *Options `json:"options,omitempty"`
	// Applied is when the API server took the object of the cluster's infrastructure, zero until it took all of the manifest.
	Applied time.Time `json:"applied"`
	// Provisioned is when the infrastructure of the cluster was seen provisioned; Ready is when all of it was seen ready.
	Provisioned time.Time `json:"provisioned,omitzero"`
	Ready       time.Time `json:"ready,omitzero"`
	// Bootstrap is when each Secret with bootstrap data was seen.
	Bootstrap map[string]time.Time `json:"bootstrap,omitempty"`
}

func timesFile(s *settings.Settings, name string) string { return s.JoinPath("clusters", name+".json") }

func saveTimes(s *settings.Settings, name string, times Times) error {
	raw, err := json.Marshal(times)
	if err != nil {
		return err
	}
	return files.Replace(timesFile(s, name), raw, 0o644)
}

func removeTimes(s *settings.Settings, name string) error {
	if err := os.Remove(timesFile(s, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// LoadTimes returns the moments that Create saw.
func LoadTimes(s *settings.Settings, name string) (Times, error) {
	var times Times
	raw, err := os.ReadFile(timesFile(s, name))
	if err != nil {
		return times, err
	}
	if err := json.Unmarshal(raw, &times); err != nil {
		return Times{}, fmt.Errorf("%s: %w", timesFile(s, name), err)
	}
	return times, nil
}
