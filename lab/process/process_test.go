package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

func shellSpec(t *testing.T, dir, script string) Spec {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	ready := filepath.Join(dir, "ready")
	return Spec{Name: "worker", Path: path, Args: []string{"-c", script}, Env: []string{"PATH=" + os.Getenv("PATH"), "READY=" + ready},
		Log: filepath.Join(dir, "worker.log"),
		Ready: func(context.Context) error {
			_, err := os.Stat(ready)
			return err
		}}
}

func TestStart(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	table := &Table{Dir: filepath.Join(dir, "run")}
	spec := shellSpec(t, dir, `echo up; : >"$READY"; exec sleep 600`)
	t.Cleanup(func() {
		if err := table.Stop(ctx, spec.Name); err != nil {
			t.Error(err)
		}
	})

	if started, err := table.Start(ctx, spec); err != nil || !started {
		t.Fatalf("Start = %v, %v, want true", started, err)
	}
	first := table.ReadState(spec.Name)
	if !first.Alive || first.ResidentKiB == 0 {
		t.Fatalf("State = %+v, want it alive with resident memory", first)
	}
	if started, err := table.Start(ctx, spec); err != nil || started {
		t.Fatalf("second Start = %v, %v: a running process with the same command is left alone", started, err)
	}
	changed := spec
	changed.Env = append([]string{"MORE=1"}, spec.Env...)
	if started, err := table.Start(ctx, changed); err != nil || !started {
		t.Fatalf("Start with another environment = %v, %v, want true", started, err)
	}
	second := table.ReadState(spec.Name)
	if second.PID == first.PID {
		t.Error("the process with the old environment still runs")
	}
	if err := table.Kill(ctx, spec.Name); err != nil {
		t.Fatal(err)
	}
	if table.ReadState(spec.Name).Alive {
		t.Error("State is alive after Kill")
	}
	if started, err := table.Start(ctx, changed); err != nil || !started {
		t.Fatalf("Start after a crash = %v, %v, want true", started, err)
	}
}

// TestStartAtOnce starts one process by several callers, as two commands or a command and the kubelet do.
func TestStartAtOnce(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	pids := filepath.Join(dir, "pids")
	spec := shellSpec(t, dir, `echo $$ >>'`+pids+`'; : >"$READY"; exec sleep 600`)
	var group sync.WaitGroup
	var starts atomic.Int32
	for range 4 {
		group.Go(func() {
			// Each has a table of its own, as in another program.
			started, err := (&Table{Dir: filepath.Join(dir, "run")}).Start(ctx, spec)
			if err != nil {
				t.Error(err)
			}
			if started {
				starts.Add(1)
			}
		})
	}
	group.Wait()
	if n := starts.Load(); n != 1 {
		t.Errorf("%d callers started the process, want 1", n)
	}
	if err := (&Table{Dir: filepath.Join(dir, "run")}).Stop(ctx, spec.Name); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(raw)) {
		number, err := strconv.Atoi(pid)
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := readStat(number); ok && stat.state != "Z" {
			t.Errorf("process %d runs after Stop", number)
			if err := syscall.Kill(number, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDamagedRecord checks that a process whose record cannot be read does not count as one that was stopped.
func TestDamagedRecord(t *testing.T) {
	ctx := context.Background()
	for name, content := range map[string]string{"empty": "", "part": `{"pid": 12`, "no process": `{}`, "no object": `7`} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			table := &Table{Dir: dir}
			spec := shellSpec(t, dir, `: >"$READY"; exec sleep 600`)
			if err := os.WriteFile(table.recordFile(spec.Name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			_, startErr := table.Start(ctx, spec)
			for what, err := range map[string]error{"Start": startErr, "Stop": table.Stop(ctx, spec.Name), "Kill": table.Kill(ctx, spec.Name),
				"CheckRunning": table.CheckRunning(spec.Name), "ExitError": table.ExitError(spec.Name)} {
				if err == nil || !strings.Contains(err.Error(), table.recordFile(spec.Name)) || !strings.Contains(err.Error(), "remove the file") {
					t.Errorf("%s: %v, want an error about the record", what, err)
				}
			}
			if raw, err := os.ReadFile(table.recordFile(spec.Name)); err != nil || string(raw) != content {
				t.Errorf("the record is %q, %v, want it unchanged", raw, err)
			}
		})
	}
}

func TestStartNoticesAnotherBuild(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	table := &Table{Dir: filepath.Join(dir, "run")}
	// The shell itself waits, for a pipe that no program opens: a program that becomes another one would give its file
	// up.
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	spec := shellSpec(t, dir, `: >"$READY"; read line <'`+pipe+`'`)
	raw, err := os.ReadFile(spec.Path)
	if err != nil {
		t.Fatal(err)
	}
	spec.Path = filepath.Join(dir, "program")
	build := func() {
		t.Helper()
		if err := os.Remove(spec.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(spec.Path, raw, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	build()
	t.Cleanup(func() {
		if err := table.Stop(ctx, spec.Name); err != nil {
			t.Error(err)
		}
	})
	for _, step := range []struct {
		reason string
		change func()
		want   bool
	}{
		{"nothing runs", func() {}, true},
		{"go build touches a file that is up to date", func() {
			if err := os.Chtimes(spec.Path, time.Time{}, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}, false},
		{"a build replaces the file", build, true},
	} {
		step.change()
		if started, err := table.Start(ctx, spec); err != nil || started != step.want {
			t.Errorf("%s: Start = %v, %v, want %v", step.reason, started, err, step.want)
		}
	}
}

func TestStartTellsWhyAProgramDoesNotComeUp(t *testing.T) {
	cases := map[string]struct {
		reason, script, path string
		want                 []string
	}{
		"Exits": {"the log's last lines are the cause", `echo "port is taken" >&2; exit 3`, "",
			[]string{"worker exited before it was ready (exit status 3)", "worker.log", "port is taken"}},
		"Missing": {"tools are built by make", "", "/nonexistent/tool", []string{"worker", "/nonexistent/tool", "make tools build"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			spec := shellSpec(t, dir, tc.script)
			if tc.path != "" {
				spec.Path = tc.path
			}
			_, err := (&Table{Dir: dir}).Start(context.Background(), spec)
			if err == nil {
				t.Fatal("Start reported success")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: error %q does not have %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestStop(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	table := &Table{Dir: filepath.Join(dir, "run")}
	if err := table.Stop(ctx, "never-started"); err != nil {
		t.Errorf("Stop of a process that was never started: %v", err)
	}

	// A recycled process ID must not be killed: the record's start time is another one.
	stranger := exec.Command("sleep", "600")
	if err := stranger.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- stranger.Wait() }()
	if err := table.writeRecord("old", record{PID: stranger.Process.Pid, Started: 1}); err != nil {
		t.Fatal(err)
	}
	if err := table.Stop(ctx, "old"); err != nil {
		t.Error(err)
	}
	select {
	case err := <-exited:
		t.Errorf("Stop ended a process it did not start: %v", err)
	default:
	}
	if _, err := os.Stat(table.recordFile("old")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record still exists: %v", err)
	}
	if err := stranger.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-time.After(10 * time.Second):
		t.Error("the process did not end")
	}
}
