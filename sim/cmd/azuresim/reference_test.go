package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the page of the reference")

// TestReference compares the page of the reference with the flags.
func TestReference(t *testing.T) {
	const page = "../../../docs/book/reference/azuresim.md"
	var want strings.Builder
	want.WriteString("# azuresim\n\nAll flags of the simulated Azure. [The simulated Azure](../simulator.md) describes how to use it. This page is generated from the code.\n\n" +
		"| Flag | Default | Meaning |\n|---|---|---|\n")
	command().Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		value := ""
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" {
			value = "`" + f.DefValue + "`"
		}
		usage = strings.NewReplacer("|", `\|`, "<", "&lt;", "[", `\[`, "]", `\]`, "\n", " ").Replace(usage)
		fmt.Fprintf(&want, "| `%s` | %s | %s |\n", strings.TrimSpace("--"+f.Name+" "+kind), value, usage)
	})
	if *update {
		if err := os.WriteFile(page, []byte(want.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != want.String() {
		t.Errorf("docs/book/reference/azuresim.md is out of date. Run: cd sim && go test ./cmd/azuresim -run TestReference -update. %v", err)
	}
}
