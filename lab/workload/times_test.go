package workload

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// TestWrongTimes checks that a file that cannot be read is reported with its name.
func TestWrongTimes(t *testing.T) {
	s := &settings.Settings{Dir: t.TempDir()}
	if err := os.Mkdir(s.JoinPath("clusters"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := saveTimes(s, "c", Times{Options: &Options{Flavor: "aks"}}); err != nil {
		t.Fatal(err)
	}
	if times, err := LoadTimes(s, "c"); err != nil || times.Options.Flavor != "aks" {
		t.Errorf("got %+v, %v", times, err)
	}
	if err := os.WriteFile(timesFile(s, "c"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadTimes(s, "c"); err == nil || !strings.HasSuffix(err.Error(), "/clusters/c.json: unexpected end of JSON input") {
		t.Errorf("of an empty file: %v", err)
	}
}
