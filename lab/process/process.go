// Package process starts, watches and stops programs that outlive the command which started them.
//
// A started program is recorded with its process ID and start time, so that a later command stops exactly the program
// that was started here, never another one that got the same ID. It reads /proc and so needs Linux.
package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/files"
)

// Spec describes how to run a program.
type Spec struct {
	// Name is that of the record and of messages.
	Name string
	// Path is the program.
	Path string
	Args []string
	// Env is the whole environment.
	Env []string
	// Log gets standard output and error, appended.
	Log string
	// Ready returns nil once the program serves; it is called until then. A nil function means at once.
	Ready func(ctx context.Context) error
}

// Table keeps the records of a lab's processes in a directory.
type Table struct {
	// Dir has one file per process.
	Dir string
}

// record is the stored information about a started program.
type record struct {
	PID int `json:"pid"`
	// Started is the start time in clock ticks since boot, field 22 of /proc/PID/stat.
	Started uint64   `json:"started"`
	At      string   `json:"at"`
	Command []string `json:"command"`
	Env     []string `json:"env"`
	// Program identifies the file that was started, so that a rebuilt one is noticed.
	Program string `json:"program"`
	Log     string `json:"log"`
}

// State is the state of a process.
type State struct {
	Name string
	PID  int
	// Alive is false for one that died or was never started.
	Alive bool
	// Since is when it was started.
	Since time.Time
	Log   string
	// ResidentKiB is its resident memory.
	ResidentKiB int
}

// startDeadline bounds how long a program may take until it is ready. Slow machines and cold page caches need it; a
// program that exits is noticed at once.
const startDeadline = 90 * time.Second

// Start runs the program and waits until it is ready. A program that already runs with the same file, arguments and
// environment is left alone; one that runs with others is replaced. started reports whether a program was started.
//
// Of several callers that start the same process at once, in this program or in others, one starts it, and all wait until it is ready.
func (t *Table) Start(ctx context.Context, s Spec) (started bool, err error) {
	started, exited, err := t.startRecorded(ctx, s)
	if err != nil {
		return started, err
	}
	return started, waitReady(ctx, s, exited)
}

// startRecorded starts the program unless it runs, and writes its record. exited gets the end of a program that it has started.
func (t *Table) startRecorded(ctx context.Context, s Spec) (started bool, exited <-chan error, err error) {
	program, err := identifyBuild(s.Path)
	if err != nil {
		return false, nil, fmt.Errorf("%s: %w (build it with `make tools build`)", s.Name, err)
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return false, nil, err
	}
	lock, err := t.lockRecord(ctx, s.Name)
	if err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	have, err := t.readRecord(s.Name)
	if err != nil {
		return false, nil, err
	}
	if have.isAlive() {
		if have.hasStarted(s) && have.Program == program {
			return false, nil, nil
		}
		if err := t.stopRecorded(ctx, s.Name, have); err != nil {
			return false, nil, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(s.Log), 0o755); err != nil {
		return false, nil, err
	}
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return false, nil, err
	}
	defer log.Close()
	command := exec.Command(s.Path, s.Args...)
	command.Env, command.Stdout, command.Stderr = s.Env, log, log
	// A session of its own keeps the terminal's signals and hang-up away.
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return false, nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	r := record{PID: command.Process.Pid, At: time.Now().UTC().Format(time.RFC3339), Command: s.commandLine(), Env: s.Env, Program: program,
		Log: s.Log}
	if stat, ok := readStat(r.PID); ok {
		r.Started = stat.started
	}
	end := make(chan error, 1)
	go func() { end <- command.Wait() }()
	if err := t.writeRecord(s.Name, r); err != nil {
		return true, end, errors.Join(err, command.Process.Kill())
	}
	return true, end, nil
}

func (s Spec) commandLine() []string { return append([]string{s.Path}, s.Args...) }

// hasStarted reports whether the program was started with these arguments and this environment.
func (r record) hasStarted(s Spec) bool {
	return slices.Equal(r.Command, s.commandLine()) && slices.Equal(r.Env, s.Env)
}

// lockRecord waits until no other process starts or stops this process. The directory of the table has to exist.
func (t *Table) lockRecord(ctx context.Context, name string) (io.Closer, error) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		lock, err := files.Lock(filepath.Join(t.Dir, name+".lock"))
		locked := &files.LockedError{}
		if !errors.As(err, &locked) {
			return lock, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s is being started or stopped by process %d: %w", name, locked.PID, ctx.Err())
		case <-tick.C:
		}
	}
}

// IsCurrent reports whether the program runs with these arguments and this environment. Another build of it may be there since.
func (t *Table) IsCurrent(s Spec) bool {
	have, err := t.readRecord(s.Name)
	return err == nil && have.isAlive() && have.hasStarted(s)
}

// IsOutdated reports whether the program runs and its file is another build.
func (t *Table) IsOutdated(name string) bool {
	have, err := t.readRecord(name)
	if err != nil || !have.isAlive() {
		return false
	}
	program, err := identifyBuild(have.Command[0])
	return err != nil || program != have.Program
}

// waitReady calls Ready until it returns nil.
func waitReady(ctx context.Context, s Spec, exited <-chan error) error {
	if s.Ready == nil {
		return nil
	}
	deadline, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	tick := time.NewTicker(25 * time.Millisecond)
	defer tick.Stop()
	for {
		err := s.Ready(deadline)
		if err == nil {
			return nil
		}
		select {
		case exit := <-exited:
			return startError(s, fmt.Sprintf("exited before it was ready (%s)", exitText(exit)))
		case <-deadline.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("%s: %w", s.Name, ctx.Err()) // it may still become ready
			}
			return startError(s, fmt.Sprintf("was not ready after %s: %v", startDeadline, err))
		case <-tick.C:
		}
	}
}

func exitText(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// startError returns the message of a program that does not come up: what happened, the log file and its last lines.
func startError(s Spec, what string) error {
	message := fmt.Sprintf("%s %s; its log is %s", s.Name, what, s.Log)
	if lines := lastLines(s.Log, 8); lines != "" {
		message += " and ends with\n" + lines
	}
	return errors.New(message)
}

// lastLines returns the last n lines of a file, indented.
func lastLines(path string, n int) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i, line := range lines {
		if len(line) > 400 {
			line = line[:400] + "..."
		}
		lines[i] = "    " + line
	}
	return strings.Join(lines, "\n")
}

// identifyBuild identifies one build of a program. A running program keeps its file, which cannot be written then, so
// another build is another file. The time of the file proves nothing: `go build` touches a file that is up to date.
func identifyBuild(path string) (string, error) {
	var file syscall.Stat_t
	if err := syscall.Stat(path, &file); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fmt.Sprintf("%d/%d", file.Dev, file.Ino), nil
}

func (t *Table) recordFile(name string) string { return filepath.Join(t.Dir, name+".json") }

// readRecord returns the record of a process, an empty one if it was never started or was stopped. A record that cannot be read is an error:
// its process may run.
func (t *Table) readRecord(name string) (record, error) {
	raw, err := os.ReadFile(t.recordFile(name))
	if errors.Is(err, fs.ErrNotExist) {
		return record{}, nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err == nil && r.PID <= 0 {
		err = errors.New("it has no process")
	}
	if err != nil {
		return record{}, fmt.Errorf("the record %s of process %s cannot be read: %w. End %s yourself if it runs, and remove the file",
			t.recordFile(name), name, err, name)
	}
	return r, nil
}

func (t *Table) writeRecord(name string, r record) error {
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return err
	}
	return files.Replace(t.recordFile(name), raw, 0o600)
}

// ListNames returns the recorded processes, sorted.
func (t *Table) ListNames() ([]string, error) {
	entries, err := os.ReadDir(t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var names []string
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".json"); ok {
			names = append(names, name)
		}
	}
	return names, err
}

// ErrNotRunning means that a process was never started, was stopped or has died.
var ErrNotRunning = errors.New("does not run")

// CheckRunning is ErrNotRunning unless the process runs. Callers check it before they connect to a process, because
// another program may use the port of one that does not run.
func (t *Table) CheckRunning(name string) error {
	r, err := t.readRecord(name)
	if err != nil {
		return err
	}
	if !r.isAlive() {
		return fmt.Errorf("%s %w: `lab up --bare` starts it", name, ErrNotRunning)
	}
	return nil
}

// ExitError returns an error with the end of the log of a program that was started and does not run any more, nil otherwise.
func (t *Table) ExitError(name string) error {
	r, err := t.readRecord(name)
	if err != nil {
		return err
	}
	if r.PID != 0 && !r.isAlive() {
		return startError(Spec{Name: name, Log: r.Log}, "has exited")
	}
	return nil
}

// ReadState looks at a process.
func (t *Table) ReadState(name string) State {
	r, err := t.readRecord(name)
	if err != nil || r.PID == 0 {
		return State{Name: name}
	}
	s := State{Name: name, PID: r.PID, Alive: r.isAlive(), Log: r.Log}
	s.Since, _ = time.Parse(time.RFC3339, r.At)
	if s.Alive {
		s.ResidentKiB = residentMemory(r.PID)
	}
	return s
}

func (r record) isAlive() bool {
	if r.PID == 0 {
		return false
	}
	stat, ok := readStat(r.PID)
	return ok && stat.state != "Z" && stat.state != "X" && stat.started == r.Started
}

type stat struct {
	state   string
	started uint64
}

// readStat reads /proc/PID/stat. The program's name is in parentheses and may have any character, so fields are counted
// from the last one.
func readStat(pid int) (stat, bool) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, false
	}
	text := string(raw)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	started, err := strconv.ParseUint(fields[19], 10, 64)
	return stat{state: fields[0], started: started}, err == nil
}

func residentMemory(pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			return kib
		}
	}
	return 0
}
