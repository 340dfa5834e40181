package azuretest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	modulefile "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const (
	modulePath = "sigs.k8s.io/cluster-api-provider-azure/sim"
	moduleRoot = ".."
	version    = "v0.1.0"
)

// serveModule writes a module proxy that has this module as a release, and returns the environment of a Go command that has no other source
// of it. Modules of others come from the files that building this test has downloaded, and what those lack from where they came from.
func serveModule(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	files := filepath.Join(dir, modulePath, "@v")
	if err := os.MkdirAll(files, 0o700); err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(files, "list"), version+"\n")
	writeFile(t, filepath.Join(files, version+".info"), string(info))
	writeFile(t, filepath.Join(files, version+".mod"), readFile(t, filepath.Join(moduleRoot, "go.mod")))
	archive, err := os.Create(filepath.Join(files, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if err := zip.CreateFromDir(archive, modulefile.Version{Path: modulePath, Version: version}, moduleRoot); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	cache, others, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	downloads := filepath.Join(cache, "cache", "download")
	return append(os.Environ(), "GOPROXY=file://"+dir+",file://"+downloads+","+others, "GOSUMDB=off", "GOWORK=off", "GOMODCACHE="+t.TempDir(),
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -modcacherw")
}

// runGo runs a Go command in a folder.
func runGo(t *testing.T, dir string, environ []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestReadmeInEmptyModule runs the README's first example in a module that has nothing else, with this module as others download it.
func TestReadmeInEmptyModule(t *testing.T) {
	environ, dir := serveModule(t), t.TempDir()
	ours, err := modfile.Parse("go.mod", []byte(readFile(t, filepath.Join(moduleRoot, "go.mod"))), nil)
	if err != nil {
		t.Fatal(err)
	}
	example := codeBlocks(readFile(t, filepath.Join(moduleRoot, "README.md")), "go")[0]
	wanted := []string{"get", modulePath + "@latest"}
	for _, r := range ours.Require {
		if strings.Contains(example, "\""+r.Mod.Path+"\"") || strings.Contains(example, "\""+r.Mod.Path+"/") {
			wanted = append(wanted, r.Mod.String())
		}
	}
	writeFile(t, filepath.Join(dir, "mine_test.go"), example)
	runGo(t, dir, environ, "mod", "init", "example.test/mine")
	runGo(t, dir, environ, wanted...)
	out := runGo(t, dir, environ, "test", "-mod=mod", "-v", ".")
	if !strings.Contains(out, "--- PASS: TestVirtualNetwork") {
		t.Errorf("the example did not run:\n%s", out)
	}
}

// TestNoOtherModules compiles azuretest in a module that requires this one only: no package of another module is needed.
func TestNoOtherModules(t *testing.T) {
	environ, dir := serveModule(t), t.TempDir()
	writeFile(t, filepath.Join(dir, "mine_test.go"), "package mine\n\nimport _ \""+modulePath+"/azuretest\"\n")
	runGo(t, dir, environ, "mod", "init", "example.test/mine")
	runGo(t, dir, environ, "get", modulePath+"/azuretest@latest")
	for target, also := range map[string][]string{
		".":                          nil,
		modulePath + "/azuretest":    nil,
		modulePath + "/cmd/azuresim": {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	} {
		if also != nil {
			runGo(t, dir, environ, "get", target+"@latest")
		}
		out := runGo(t, dir, environ, "list", "-deps", "-test="+strconv.FormatBool(target == "."), "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", target)
		packages := strings.Fields(out)
		ours := 0
		for _, p := range packages {
			switch {
			case strings.HasPrefix(p, modulePath+"/"):
				ours++
			case !strings.HasPrefix(p, "example.test/mine") && !strings.HasPrefix(p, "[") && !slices.Contains(also, p):
				t.Errorf("%s needs %s, which is neither in the standard library nor in %s", target, p, modulePath)
			}
		}
		if ours < 10 {
			t.Errorf("%s: only %d packages of the module are listed: %s", target, ours, out)
		}
	}
}
