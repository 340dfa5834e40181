package logs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestReadNew follows a cluster through two managers whose logs grow.
func TestReadNew(t *testing.T) {
	folder, now := t.TempDir(), time.Date(2026, 11, 26, 16, 0, 0, 0, time.UTC)
	sources := []*Source{{Manager: "capi", File: filepath.Join(folder, "capi.log")}, {Manager: "capz", File: filepath.Join(folder, "capz.log")},
		{Manager: "none", File: filepath.Join(folder, "none.log")}}
	add := func(name, text string) {
		file, err := os.OpenFile(filepath.Join(folder, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (out []string) {
		lines, err := ReadNew(sources, []string{"demo", "demo-md-0-x"}, now)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			out = append(out, line.Format())
		}
		return out
	}
	add("capi.log", "I1126 15:00:02.000000   1 a.go:1] \"second\" Cluster=\"default/demo\"\nI1126 15:00:03.000000   1 a.go:1] \"other\" Cluster=\"default/demo2\"\n"+
		"E1126 15:00:05.000000   1 a.go:1] \"fifth\" Machine=\"default/demo-md-0-x\"\ngoroutine of demo\n")
	add("capz.log", "I1126 15:00:01.000000   1 b.go:1] \"first\" resource=\"/resourceGroups/Demo/x\"\n"+
		`{"ts":1795705203500.5,"msg":"JSON","Cluster":{"name":"demo"}}`+"\n"+strings.Repeat("y", 3*maxLine)+" demo\nI1126 15:00:06.000000   1 b.go:1] demo is not comp")
	if diff := cmp.Diff([]string{
		`15:00:01.000 capz               I "first" resource="/resourceGroups/Demo/x"`,
		`15:00:02.000 capi               I "second" Cluster="default/demo"`,
		`15:00:03.500 capz               {"ts":1795705203500.5,"msg":"JSON","Cluster":{"name":"demo"}}`,
		`15:00:05.000 capi               E "fifth" Machine="default/demo-md-0-x"`,
		`15:00:05.000 capi               goroutine of demo`,
	}, read()); diff != "" {
		t.Errorf("first lines (-want +got):\n%s", diff)
	}
	add("capz.log", "lete\n")
	if diff := cmp.Diff([]string{`15:00:06.000 capz               I demo is not complete`}, read()); diff != "" {
		t.Errorf("new lines (-want +got):\n%s", diff)
	}
	if got := read(); len(got) > 0 {
		t.Errorf("nothing is new: %q", got)
	}
}
