package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// runCommand runs a command of the lab in a directory and returns its output.
func runCommand(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := New("v1.2.3")
	root.SetArgs(append([]string{"--dir", dir}, args...))
	root.SetOut(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// takePort returns the first port of a block on which another program listens.
func takePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	// The kernel gives ports near the end, where no block of ports begins.
	return min(listener.Addr().(*net.TCPAddr).Port, 65536-settings.PortBlock)
}

func expectError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

// enterSourceTree makes a source tree with the templates of this one and a release with a feature gate, and goes there.
func enterSourceTree(t *testing.T) {
	t.Helper()
	own, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	root := &settings.Settings{Root: t.TempDir()}
	files := map[string]string{
		filepath.Join(root.Root, "lab", "README"):                           "",
		filepath.Join(root.MadeRelease(), "infrastructure-components.yaml"): "--feature-gates=EdgeZone=${EXP_EDGEZONE:=false}",
	}
	for _, m := range settings.Managers[:len(settings.Managers)-1] {
		files[filepath.Join(root.BinaryPath("manifests"), m.Label+".yaml")] =
			"--feature-gates=ClusterTopology=${A:=false},KubeadmBootstrapFormatIgnition=${B:=false}"
	}
	for file, content := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(own, "templates"), filepath.Join(root.Root, "templates")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root.Root)
}

func TestUpRefusesBeforeItStartsAnything(t *testing.T) {
	enterSourceTree(t)
	busy := takePort(t)
	for name, tc := range map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"flavor": {
			reason: "there is no such template", args: []string{"--flavor", "aksx"},
			want: []string{"--flavor aksx", "aks, aks-aso, ", "default, "},
		},
		"even": {
			reason: "Cluster API refuses it when the other objects exist", args: []string{"--control-plane-machines", "2"},
			want: []string{"--control-plane-machines 2", "odd"},
		},
		"port": {
			reason: "another lab, perhaps", args: []string{"--base-port", strconv.Itoa(busy)},
			want: []string{"--base-port", "another process listens"},
		},
		"gate": {
			reason: "no later command could start this lab", args: []string{"--feature-gates", "Nope=true"},
			want: []string{"--feature-gates=Nope=true", "no variable for a gate Nope; it has EdgeZone", "`lab up --feature-gates=`"},
		},
		"gate without a value": {
			reason: "it would change nothing", args: []string{"--feature-gates", "EdgeZone"},
			want: []string{"--feature-gates=EdgeZone", "EdgeZone=true"},
		},
		"release": {
			reason: "there is no such folder", args: []string{"--release", "/nonexistent/v9.9.9"},
			want: []string{"--release /nonexistent/v9.9.9", "`lab up --release=`"},
		},
		"beside": {
			reason: "there is no such lab", args: []string{"--beside", "/nonexistent"},
			want: []string{"simulated Azure of another lab", "/nonexistent"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "lab")
			_, err := runCommand(t, dir, append([]string{"up", "--bare", "--base-port", strconv.Itoa(ports.Block(t, settings.PortBlock))}, tc.args...)...)
			expectError(t, err, tc.want...)
			if entries, err := os.ReadDir(dir); err == nil {
				t.Errorf("%s: %v are left in the lab's directory", tc.reason, entries)
			}
			_, err = runCommand(t, dir, "status")
			expectError(t, err, settings.ErrNoLab.Error())
		})
	}
	dir := filepath.Join(t.TempDir(), "lab")
	if err := (&settings.Settings{Dir: dir}).Save(); err != nil {
		t.Fatal(err)
	}
	_, err := runCommand(t, dir, "create", "c", "--flavor", "aksx")
	expectError(t, err, "--flavor aksx")
}

// TestCommandsOfALabThatDoesNotRun runs commands for a lab on whose ports another program listens, as after a start that failed.
func TestCommandsOfALabThatDoesNotRun(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab"), Root: root, BasePort: takePort(t)}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"status"}, {"create", "c"}, {"delete", "c"}, {"kubeconfig", "c"}, {"timeline", "c"}, {"demand", "c", "pool0", "1"},
	} {
		_, err := runCommand(t, s.Dir, args...)
		expectError(t, err, "kube-apiserver does not run", "lab up")
	}
}

// startProcess starts a process of the lab, which ends with the test.
func startProcess(t *testing.T, s *settings.Settings, name string) *process.Table {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	table := management.ProcessTable(s)
	if _, err := table.Start(t.Context(), process.Spec{Name: name, Path: shell, Args: []string{"-c", "exec sleep 600"},
		Env: os.Environ(), Log: filepath.Join(t.TempDir(), "log")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Stop(context.WithoutCancel(t.Context()), name); err != nil {
			t.Error(err)
		}
	})
	return table
}

// TestDamagedSettings stops a lab whose settings no command can read.
func TestDamagedSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, content string
	}{
		"empty":       {"the disk was full", ""},
		"part":        {"the disk was full", `{"dir": "/lab", "basePo`},
		"wrong types": {"a person edited them", `{"basePort": "21000"}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab")}
			if err := s.Save(); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(s.JoinPath("lab.json"), []byte(tc.content), 0o600); err != nil {
				t.Fatal(err)
			}
			table := startProcess(t, s, "etcd")
			for _, command := range []string{"status", "up"} {
				_, err := runCommand(t, s.Dir, command)
				expectError(t, err, s.JoinPath("lab.json"), "`lab down`")
			}
			_, err := runCommand(t, s.Dir, "down", "--keep")
			expectError(t, err, settings.ErrDamaged.Error(), "without --keep")
			if table.ReadState("etcd").Alive {
				t.Errorf("%s: a process of the lab runs on after lab down", tc.reason)
			}
			if out, err := runCommand(t, s.Dir, "down"); err != nil || !strings.Contains(out, "stopped; logs are in") {
				t.Errorf("%s: down: %q, %v", tc.reason, out, err)
			}
			_, err = runCommand(t, s.Dir, "status")
			expectError(t, err, settings.ErrNoLab.Error())
		})
	}
}

// TestLockedLab runs commands while another one starts or stops the lab.
func TestLockedLab(t *testing.T) {
	enterSourceTree(t)
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab"), BasePort: ports.Block(t, settings.PortBlock)}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	table := startProcess(t, s, "etcd")
	lock, err := files.Lock(s.JoinPath("lock"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(s.JoinPath("lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"up", "--bare", "--time-scale", "0.5"}, {"down"}, {"down", "--keep"}} {
		_, err := runCommand(t, s.Dir, args...)
		expectError(t, err, "another lab command, process "+strconv.Itoa(os.Getpid()), s.Dir)
	}
	if after, err := os.ReadFile(s.JoinPath("lab.json")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the settings were %s and are %s, %v", before, after, err)
	}
	if !table.ReadState("etcd").Alive {
		t.Error("lab down stopped a process")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := runCommand(t, s.Dir, "down"); err != nil {
		t.Error(err)
	}
}

// TestFlagsOfNewLabs changes flags of an existing lab that only a new one can have.
func TestFlagsOfNewLabs(t *testing.T) {
	enterSourceTree(t)
	other := &settings.Settings{Dir: filepath.Join(t.TempDir(), "other")}
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "my lab"), BasePort: ports.Block(t, settings.PortBlock)}
	if err := errors.Join(other.Save(), s.Save()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(s.JoinPath("lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--without-provider", "--beside=" + other.Dir} {
		_, err := runCommand(t, s.Dir, "up", "--bare", flag)
		name, _, _ := strings.Cut(flag, "=")
		expectError(t, err, name+": the lab in "+s.Dir+" exists", "down --dir '", "my lab'`")
	}
	if after, err := os.ReadFile(s.JoinPath("lab.json")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the settings were %s and are %s, %v", before, after, err)
	}
	// The same value changes nothing, so the command goes on and fails because no program is built.
	if _, err = runCommand(t, s.Dir, "up", "--bare", "--without-provider=false", "--beside="); err == nil || strings.Contains(err.Error(), "only a new lab") {
		t.Errorf("flags with the values of the lab: %v", err)
	}
}

// TestKillOfUnknownProcess names the processes that there are.
func TestKillOfUnknownProcess(t *testing.T) {
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab")}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	startProcess(t, s, "etcd")
	_, err := runCommand(t, s.Dir, "kill", "nope")
	expectError(t, err, "nope does not run", "running are: etcd")
}

// TestDownWithDamagedRecord stops a lab of which one record cannot be read: it is not forgotten, and the other processes end.
func TestDownWithDamagedRecord(t *testing.T) {
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab")}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	table := startProcess(t, s, "etcd")
	record := filepath.Join(s.ProcessesPath(), "bridge.json")
	if err := os.WriteFile(record, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := runCommand(t, s.Dir, "down")
	expectError(t, err, record)
	if table.ReadState("etcd").Alive {
		t.Error("etcd runs on")
	}
	if err := os.Remove(record); err != nil {
		t.Fatalf("the record is gone: %v", err)
	}
	if _, err := runCommand(t, s.Dir, "down"); err != nil {
		t.Error(err)
	}
}

// TestLabBesideIsGone stops a lab whose simulated Azure belonged to a lab that is gone. It is not taken for a new lab.
func TestLabBesideIsGone(t *testing.T) {
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	s := &settings.Settings{Dir: filepath.Join(t.TempDir(), "lab"), Root: root, BasePort: takePort(t), Beside: filepath.Join(t.TempDir(), "gone")}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	table := startProcess(t, s, "etcd")
	before, err := os.ReadFile(s.JoinPath("lab.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status"}, {"up", "--bare"}, {"up", "--bare", "--beside", s.Dir}} {
		_, err := runCommand(t, s.Dir, args...)
		expectError(t, err, s.Dir)
		if errors.Is(err, settings.ErrNoLab) {
			t.Errorf("%v: %v", args, err)
		}
	}
	if after, err := os.ReadFile(s.JoinPath("lab.json")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the settings were %s and are %s, %v", before, after, err)
	}
	if out, err := runCommand(t, s.Dir, "down"); err != nil || !strings.Contains(out, "stopped; logs are in") {
		t.Errorf("down: %q, %v", out, err)
	}
	if table.ReadState("etcd").Alive {
		t.Error("a process of the lab runs on after lab down")
	}
	_, err = runCommand(t, s.Dir, "status")
	expectError(t, err, settings.ErrNoLab.Error())
}

// TestInterrupted tells the end of a program by a signal from its failure.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]bool{"kill -INT $$": true, "kill -TERM $$": true, "kill -KILL $$": false, "exit 1": false} {
		err := exec.CommandContext(t.Context(), "sh", "-c", script).Run()
		if got := isInterrupted(fmt.Errorf("clusterctl init: %w", err)); got != want {
			t.Errorf("%s ends with %v: interrupted %v, want %v", script, err, got, want)
		}
	}
}
