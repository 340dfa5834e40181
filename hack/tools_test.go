package hack

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fakeGo answers the questions of the scripts, and builds a program without effect for every package. The names of the
// programs are those that `go build -o DIRECTORY/` gives.
const fakeGo = `#!/bin/sh
case "$1" in
env) echo "${FAKE_VERSION-go1.26.1}"; exit "${FAKE_STATUS-0}" ;;
list) echo "$FAKE_SOURCE" ;;
build)
	shift
	while [ $# -gt 0 ]; do
		case "$1" in
		-o) out=$2; shift ;;
		-ldflags) shift ;;
		-*) ;;
		*)
			name=${1##*/}
			case "$name" in v[0-9]*) rest=${1%/*}; name=${rest##*/} ;; esac
			case "$out" in */) file=$out$name ;; *) file=$out ;; esac
			printf '#!/bin/sh\n' >"$file"
			chmod +x "$file" ;;
		esac
		shift
	done ;;
esac
`

// commands are the programs that the scripts need beside Go.
var commands = []string{
	"awk", "basename", "bash", "cat", "chmod", "cp", "cut", "dirname", "flock", "grep", "head", "ln", "mkdir", "mv", "rm", "sh", "sha256sum",
	"sleep", "sort", "tail", "wc",
}

// runBuild runs hack/tools/build.sh without a terminal and with a PATH that has the commands and, unless it is empty, the
// given go.
func runBuild(t *testing.T, goProgram string, environment ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runBuildOf(t, nil, goProgram, environment...)
}

// runBuildOf is runBuild of some tools.
func runBuildOf(t *testing.T, tools []string, goProgram string, environment ...string) (stdout, stderr string, err error) {
	t.Helper()
	dir := t.TempDir()
	path, source := filepath.Join(dir, "path"), filepath.Join(dir, "source")
	for _, d := range []string{path, source} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range commands {
		target, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	if goProgram != "" {
		if err := os.WriteFile(filepath.Join(path, "go"), []byte(goProgram), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	// Where Cluster API's module would be.
	if err := os.WriteFile(filepath.Join(source, "metadata.yaml"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join("tools", "build.sh"))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(script, append([]string{filepath.Join(dir, "bin")}, tools...)...)
	command.Env = append([]string{"PATH=" + path, "HOME=" + dir, "FAKE_SOURCE=" + source}, environment...)
	var out, messages bytes.Buffer
	command.Stdout, command.Stderr = &out, &messages
	err = command.Run()
	return out.String(), messages.String(), err
}

func TestBuildPrintsPlainLinesWithoutATerminal(t *testing.T) {
	out, messages, err := runBuild(t, fakeGo)
	if err != nil {
		t.Fatalf("build.sh: %v\n%s%s", err, out, messages)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "capi-core", "capi-kubeadm-control-plane"} {
		if !strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("no line of its own reports that %s is built:\n%q", name, out)
		}
	}
	if strings.ContainsAny(out+messages, "\r\x1b") {
		t.Errorf("a log file gets control characters:\n%q", out+messages)
	}
	for line := range strings.Lines(out) {
		if strings.TrimSpace(line) == "" {
			t.Errorf("an empty line:\n%q", out)
		}
	}
}

// TestBuildOfOneTool is what `make lint` does in a new checkout.
func TestBuildOfOneTool(t *testing.T) {
	out, messages, err := runBuildOf(t, []string{"golangci-lint"}, fakeGo)
	if err != nil {
		t.Fatalf("build.sh: %v\n%s%s", err, out, messages)
	}
	if !strings.Contains(out, "building 1 tools") || !strings.Contains(out, "\n  golangci-lint ") || strings.Contains(out, "kustomize") {
		t.Errorf("one tool was asked for, got\n%s", out)
	}
}

// TestBuildLeavesOutWhatFewNeed checks that the programs of a few tests are built only when they are named: each takes minutes.
func TestBuildLeavesOutWhatFewNeed(t *testing.T) {
	names := []string{"cloud-controller-manager", "azurediskplugin", "terraform-provider-azapi"}
	out, messages, err := runBuild(t, fakeGo)
	if err != nil {
		t.Errorf("without names: %v\n%s%s", err, out, messages)
	}
	for _, name := range names {
		if strings.Contains(out, name) {
			t.Errorf("without names, %s is built:\n%s", name, out)
		}
	}
	out, messages, err = runBuildOf(t, names, fakeGo)
	if err != nil || !strings.Contains(out, "building 3 tools") {
		t.Errorf("by their names: %v\n%s%s", err, out, messages)
	}
	for _, name := range names {
		if !strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("%s is named and not built:\n%s", name, out)
		}
	}
}

func TestBuildSaysWhichGoItNeeds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		program     string
		environment []string
		want        []string
	}{
		"none": {
			reason: "a newcomer has no Go", want: []string{"Go 1.26", "no go in PATH", "https://go.dev/doc/install"},
		},
		"old": {
			reason: "Go before 1.21 does not fetch the one that go.mod wants", program: fakeGo, environment: []string{"FAKE_VERSION=go1.20.14"},
			want: []string{"Go 1.26", "is 1.20.14", "https://go.dev/doc/install"},
		},
		"old and alone": {
			reason: "a later Go that may not fetch another one reports that itself", program: fakeGo,
			environment: []string{"FAKE_VERSION=go: go.mod requires go >= 1.26 (running go 1.24; GOTOOLCHAIN=local)", "FAKE_STATUS=1"},
			want:        []string{"Go 1.26", "does not provide it", "running go 1.24; GOTOOLCHAIN=local"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			out, messages, err := runBuild(t, tc.program, tc.environment...)
			if err == nil {
				t.Fatalf("%s: build.sh succeeded:\n%s", tc.reason, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(messages, want) {
					t.Errorf("%s: messages lack %q:\n%s", tc.reason, want, messages)
				}
			}
			if lines := strings.Count(messages, "\n"); lines > 2 || out != "" {
				t.Errorf("%s: want a message of a line or two and nothing else:\n%s%s", tc.reason, out, messages)
			}
		})
	}
}

func TestReleaseIsIgnored(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains("\n"+string(raw), "\n/out/\n") {
		t.Errorf("make release writes to out/, which git would add:\n%s", raw)
	}
}

// TestVersionsOfControllerManager compares the modules of cloud-controller-manager with those of the other tools. Packages of the same versions are
// compiled once for all of them.
func TestVersionsOfControllerManager(t *testing.T) {
	// newer are modules of which cloud-provider-azure requires newer versions than the other tools.
	newer := map[string]bool{"github.com/fsnotify/fsnotify": true, "github.com/prometheus/client_golang": true, "github.com/prometheus/common": true,
		"github.com/prometheus/procfs": true}
	tools, own := readVersions(t, "tools"), readVersions(t, "tools/ccm")
	same := 0
	for module, version := range own {
		switch {
		case tools[module] == "" || newer[module]:
		case tools[module] != version:
			t.Errorf("%s: hack/tools has %s, and hack/tools/ccm %s", module, tools[module], version)
		default:
			same++
		}
	}
	if same < 50 {
		t.Errorf("only %d modules are the same: are these the go.mod files of the tools?", same)
	}
}

// readVersions returns the versions of the modules that a go.mod requires.
func readVersions(t *testing.T, folder string) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)`).FindAllStringSubmatch(string(raw), -1) {
		out[match[1]] = match[2]
	}
	return out
}
