package command

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// newLab saves the settings of a lab that does not run, and returns its directory.
func newLab(t *testing.T) string {
	t.Helper()
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "lab")
	if err := (&settings.Settings{Dir: dir, Root: root, BasePort: 21000, ClientSecret: "secret of the lab"}).Save(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestExecRefuses checks that a program which cannot run is reported, and a missing lab.
func TestExecRefuses(t *testing.T) {
	dir := newLab(t)
	_, err := runCommand(t, dir, "exec", "--", "no-such-program")
	expectError(t, err, `no program "no-such-program"`)
	_, err = runCommand(t, dir, "exec", "--", dir)
	expectError(t, err, dir+": permission denied")
	_, err = runCommand(t, filepath.Join(t.TempDir(), "none"), "exec", "--", "true")
	expectError(t, err, settings.ErrNoLab.Error())
}

func TestFlavorsAndVersion(t *testing.T) {
	out, err := runCommand(t, t.TempDir(), "flavors")
	if lines := strings.Fields(out); err != nil || len(lines) < 10 || !strings.Contains(out, "aks-aso\n") || strings.Contains(out, "cluster-template") {
		t.Errorf("flavors: %v %q", err, out)
	}
	if out, err := runCommand(t, t.TempDir(), "--version"); err != nil || out != "lab version v1.2.3\n" {
		t.Errorf("version: %v %q", err, out)
	}
}

// TestCompletion completes arguments and flags as a shell does.
func TestCompletion(t *testing.T) {
	dir := newLab(t)
	for name, test := range map[string]struct {
		reason     string
		args       []string
		want, lack string
	}{
		"flavor":                {"the templates exist without a lab", []string{"create", "x", "--flavor", ""}, "aks-aso\n", "cluster-template"},
		"cluster of a dead lab": {"the shell gets no error text", []string{"delete", ""}, ":1\n", "refused"},
		"second cluster":        {"only the first argument is a cluster", []string{"delete", "demo", ""}, ":4\n", "demo"},
		"process of a lab":      {"none runs", []string{"kill", ""}, ":4\n", "dead"},
	} {
		out, err := runCommand(t, dir, append([]string{"__complete"}, test.args...)...)
		if err != nil || !strings.Contains(out, test.want) || strings.Contains(out, test.lack) {
			t.Errorf("%s (%s): %v %q", name, test.reason, err, out)
		}
	}
}

// TestStatusJSON reads the status of a lab whose management cluster does not answer: it lists the processes, and the error names the
// cluster.
func TestStatusJSON(t *testing.T) {
	out, err := runCommand(t, newLab(t), "status", "-o", "json")
	expectError(t, err, "management cluster")
	var status labStatus
	if err := json.Unmarshal([]byte(out), &status); err != nil || status.Processes == nil || status.Clusters == nil {
		t.Errorf("%v: %q", err, out)
	}
	_, err = runCommand(t, newLab(t), "status", "-o", "yaml")
	expectError(t, err, `--output "yaml"`, "text or json")
}
