// Package commands makes the page of a command line from its cobra commands, for the reference of each program.
package commands

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Render returns the Markdown page of a program and all its subcommands, and the number of commands and flags on it.
func Render(root *cobra.Command, title, introduction string) (text string, entries int) {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s This page is generated from the code.\n", title, introduction)
	root.InitDefaultHelpFlag()
	entries = write(&out, root)
	return out.String(), entries
}

// write writes the sections of a command and of those below it.
func write(out *strings.Builder, command *cobra.Command) (entries int) {
	if command.Hidden || command.Name() == "help" || command.Name() == "completion" {
		return 0
	}
	fmt.Fprintf(out, "\n## %s\n\n%s.\n", command.CommandPath(), strings.TrimSuffix(cell(command.Short), "."))
	if command.Long != "" {
		fmt.Fprintf(out, "\n%s\n", cell(command.Long))
	}
	if command.Runnable() {
		fmt.Fprintf(out, "\nUsage: `%s`\n", strings.ReplaceAll(command.UseLine(), "`", "'"))
		entries++
	}
	if command.Example != "" {
		fmt.Fprintf(out, "\n```sh\n%s\n```\n", strings.TrimRight(unindent(command.Example), "\n"))
	}
	var rows []string
	command.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" || f.Name == "version" {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value := ""
		if f.DefValue != "" && f.DefValue != "[]" && f.DefValue != "false" && f.DefValue != "0" {
			value = "`" + strings.ReplaceAll(f.DefValue, "|", "\\|") + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", strings.TrimSpace(name+" "+kind), value, cell(usage)))
	})
	if len(rows) > 0 {
		fmt.Fprintf(out, "\n| Flag | Default | Meaning |\n|---|---|---|\n%s\n", strings.Join(rows, "\n"))
		entries += len(rows)
	}
	below := slices.Clone(command.Commands())
	slices.SortFunc(below, func(a, b *cobra.Command) int { return strings.Compare(a.Name(), b.Name()) })
	for _, each := range below {
		entries += write(out, each)
	}
	return entries
}

// unindent removes the two spaces that lines of examples begin with in cobra's help.
func unindent(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimPrefix(line, "  "))
	}
	return strings.Join(lines, "\n")
}

// cell returns a text as Markdown without markup, on one line.
func cell(text string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "*", "\\*", "[", "\\[", "]", "\\]").Replace(strings.Join(strings.Fields(text), " "))
}
