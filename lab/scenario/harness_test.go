package scenario

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/sim/azuretest/ports"
)

// patience bounds every single command and wait but those of the lab. It is long because a machine that builds and runs other
// tests beside this one slows everything down many times over.
const patience = 10 * time.Minute

// labPatience bounds a command of the lab, which starts a management cluster and waits for all machines of a cluster,
// one after the other. The lab gives up before, after twenty minutes, and prints its unmet condition.
const labPatience = 25 * time.Minute

// lab is one running lab with its own directory and ports.
type lab struct {
	t    *testing.T
	root string
	dir  string
	port int
	// variables of templates, NAME=value, that are not the lab's.
	variables []string
	// excused are spans of the audit log, by line, in which managers lacked rights on purpose.
	excused [][2]int
	// shared is set when other stories may have the lab, left when it is as it was when the story began. seenRequests, seenChanges and
	// seenAudit are how many bytes the logs had then.
	shared, left                         bool
	seenRequests, seenChanges, seenAudit int
	// moments are those of the story, which its parts share.
	moments *moments
	// beside is a lab of the story with the same Azure; nil is none. ended is the audit log of this lab, read before the lab was stopped; nil
	// while it runs.
	beside *lab
	ended  *apiServerLog
}

// labFor returns the same lab for a part of the test, which has variables of its own.
func (l *lab) labFor(t *testing.T, variables map[string]string) *lab {
	part := *l
	part.t, part.variables = t, nil
	for name, value := range variables {
		part.variables = append(part.variables, name+"="+value)
	}
	return &part
}

// newLab prepares a lab that `lab up` will start, and stops it when the test ends.
func newLab(t *testing.T) *lab {
	t.Helper()
	root, err := settings.FindRoot()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := newFolder()
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, root: root, dir: filepath.Join(dir, "lab"), port: ports.Block(t, settings.PortBlock), moments: newMoments()}
	for _, name := range []string{"lab", "kubectl", "clusterctl", "manager", "azuresim"} {
		if _, err := os.Stat(l.binaryPath(name)); err != nil {
			t.Fatalf("%v: run `make tools build` first", err)
		}
	}
	t.Cleanup(l.endStory)
	return l
}

func (l *lab) binaryPath(name string) string { return filepath.Join(l.root, "bin", name) }

// newCommand runs a program of bin/ with the environment that `lab env` describes, as far as the management cluster is
// concerned.
func (l *lab) newCommand(ctx context.Context, program string, args ...string) *exec.Cmd {
	if program == "lab" {
		args = append(slices.Clone(args), "--dir="+l.dir)
	}
	command := exec.CommandContext(ctx, l.binaryPath(program), args...)
	command.Dir = l.root
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(l.dir, "kubeconfig"), "XDG_CONFIG_HOME="+l.dir,
		"CLUSTERCTL_DISABLE_VERSIONCHECK=true", "PATH="+filepath.Join(l.root, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.Env = append(command.Env, l.variables...)
	return command
}

// tryProgram runs a program and returns its standard output; the error has its messages.
func (l *lab) tryProgram(program string, args ...string) (string, error) {
	return l.tryWith("", program, args...)
}

func (l *lab) tryWith(input, program string, args ...string) (string, error) {
	// kubectl's own limit ends first, so that its message says what it waited for.
	limit := patience + time.Minute
	if program == "lab" {
		limit = labPatience
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), limit)
	defer cancel()
	command := l.newCommand(ctx, program, args...)
	var out, messages bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &out, &messages
	if err := command.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out.String(), messages.String())
	}
	return out.String(), nil
}

// runProgram is try for what must work.
func (l *lab) runProgram(program string, args ...string) string {
	l.t.Helper()
	out, err := l.tryProgram(program, args...)
	if err != nil {
		l.t.Fatal(err)
	}
	return out
}

// killManager kills the manager. The lab starts another one, which knows nothing of the requests of the first one.
func (l *lab) killManager() {
	l.t.Helper()
	l.runProgram("lab", "kill", settings.Azure.Name)
}

// startLab starts the lab. Stories take Azure twenty times as fast as it is, as `make lab` does.
func (l *lab) startLab(args ...string) {
	l.t.Helper()
	out := l.runProgram("lab", append([]string{"up", "--base-port", strconv.Itoa(l.port), "--time-scale", "0.05"}, args...)...)
	for line := range strings.Lines(out) {
		if strings.Contains(line, "management cluster ready") || strings.Contains(line, " is ready after ") ||
			strings.HasPrefix(line, "Azure: ") {
			l.t.Log(strings.TrimSpace(line))
		}
	}
}

// loadSettings returns those that `lab up` has kept.
func (l *lab) loadSettings() *settings.Settings {
	l.t.Helper()
	s, err := settings.Load(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	return s
}

// eventually repeats condition until it holds. seen describes the state otherwise.
func (l *lab) eventually(what string, condition func() (done bool, seen string)) {
	l.t.Helper()
	deadline, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	for {
		begin := time.Now()
		done, seen := condition()
		if done {
			return
		}
		select {
		case <-deadline.Done():
			l.t.Fatalf("%s: not after %s; last seen: %s", what, patience, seen)
		case <-time.After(pauseAfter(time.Since(begin))):
		}
	}
}

// pauseAfter is how long to wait after a check that took so long. Most checks run kubectl, which keeps a processor busy for a good part of a
// second, so several stories that only wait would otherwise slow down what they wait for.
func pauseAfter(check time.Duration) time.Duration { return max(time.Second, 3*check) }

// checkThroughout looks for the whole time and fails as soon as something is wrong.
func (l *lab) checkThroughout(d time.Duration, check func() error) {
	l.t.Helper()
	end := time.NewTimer(d)
	defer end.Stop()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		if err := check(); err != nil {
			l.t.Fatal(err)
		}
		select {
		case <-end.C:
			return
		case <-tick.C:
		}
	}
}

// workloadKubeconfig returns a file that leads to a workload cluster.
func (l *lab) workloadKubeconfig(cluster string) string {
	l.t.Helper()
	file := filepath.Join(l.t.TempDir(), cluster+".kubeconfig")
	if err := os.WriteFile(file, []byte(l.runProgram("lab", "kubeconfig", cluster)), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return file
}

// awaitNodes waits until the workload cluster has as many Ready nodes, and exactly those that the machines name.
func (l *lab) awaitNodes(cluster, kubeconfig string, count int) {
	l.t.Helper()
	l.eventually(fmt.Sprintf("%d Ready nodes, those of the machines", count), func() (bool, string) {
		nodes, err := l.readyNodes(kubeconfig)
		if err != nil {
			return false, err.Error()
		}
		if len(nodes) != count {
			return false, fmt.Sprintf("nodes %v", nodes)
		}
		machines := l.machineNodes(cluster)
		return slices.Equal(nodes, machines), fmt.Sprintf("nodes %v, machines' nodes %v", nodes, machines)
	})
	l.moments.markStable(cluster)
}

// scaleWorkers changes the number of workers and waits until machines and nodes follow.
func (l *lab) scaleWorkers(cluster, kubeconfig string, workers, nodes int) {
	l.t.Helper()
	begin := time.Now()
	deployment := "machinedeployment/" + cluster + "-md-0"
	l.runProgram("kubectl", "scale", deployment, "--replicas", strconv.Itoa(workers))
	for _, field := range []string{".status.replicas", ".status.readyReplicas"} {
		l.runProgram("kubectl", "wait", deployment, fmt.Sprintf("--for=jsonpath={%s}=%d", field, workers), "--timeout", patience.String())
	}
	l.awaitNodes(cluster, kubeconfig, nodes)
	l.t.Logf("%d workers after %.0f s", workers, time.Since(begin).Seconds())
}

// showLogs shows the end of each process's log and the output of `lab status`.
func (l *lab) showLogs() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	out, err := l.newCommand(ctx, "lab", "status").CombinedOutput()
	l.t.Logf("lab status: %v\n%s", err, out)
	files, err := filepath.Glob(filepath.Join(l.dir, "logs", "*.log"))
	if err != nil {
		l.t.Error(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			l.t.Error(err)
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(raw)), "\n")
		l.t.Logf("end of %s:\n%s", filepath.Base(file), strings.Join(lines[max(0, len(lines)-10):], "\n"))
	}
}
