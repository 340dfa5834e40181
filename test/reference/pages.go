package reference

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/test/reference/commands"
)

// result is a page with the number of its entries.
type result struct {
	text    string
	entries int
}

// otherPages are made by tests of other packages.
var otherPages = map[string]string{
	"azuresim.md": "the program `azuresim`",
	"lab.md":      "the program `lab`",
}

// renderAll returns all pages by their file in docs/book/reference.
func renderAll(root fs.FS) (map[string]result, error) {
	kinds, err := readKinds(root)
	if err != nil {
		return nil, err
	}
	out := map[string]result{}
	for _, k := range kinds {
		p := k.render()
		out[k.file()] = result{p.String(), p.entries}
	}
	metrics := renderMetrics()
	out["metrics.md"] = result{metrics.String(), metrics.entries}
	for file, render := range map[string]func(fs.FS) (*page, error){
		"conditions.md": renderConditions, "events.md": renderEvents, "annotations.md": renderAnnotations, "azure-errors.md": renderCodes,
		"clusterctl-variables.md": renderTemplates, "manager.md": func(fs.FS) (*page, error) { return renderManager() },
	} {
		p, err := render(root)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out[file] = result{p.String(), p.entries}
	}
	for _, program := range []struct {
		file, title, introduction string
		command                   *cobra.Command
	}{
		{"kubectl-capz.md", "kubectl capz", "All commands and flags of the plugin of kubectl.", cli.NewCommand(&environment.Environment{})},
		{"adopt.md", "adopt", "All flags of the program `adopt`, which is also `kubectl capz adopt`.", command.NewCommand(command.Options{})},
	} {
		text, entries := commands.Render(program.command, program.title, program.introduction)
		out[program.file] = result{text, entries}
	}
	out["README.md"] = result{text: renderIndex(kinds)}
	return out, nil
}

// renderIndex returns the list of the pages.
func renderIndex(kinds []kind) string {
	p := newPage("Reference", "Look up a field, condition, flag, variable, metric or command.")
	p.WriteString("\n")
	others := map[string]string{
		"conditions.md": "[Conditions and reasons](conditions.md)", "events.md": "[Reasons of events](events.md)",
		"azure-errors.md": "[Error codes of Azure](azure-errors.md), with remedies",
		"annotations.md":  "[Annotations, labels, finalizers and tags](annotations.md)", "metrics.md": "[Metrics](metrics.md)",
		"manager.md":              "[Flags, feature gates and variables of the manager](manager.md)",
		"clusterctl-variables.md": "[Variables of clusterctl for each flavor](clusterctl-variables.md)",
		"kubectl-capz.md":         "[Commands of kubectl capz](kubectl-capz.md)", "adopt.md": "[Flags of adopt](adopt.md)",
	}
	for file, title := range otherPages {
		others[file] = fmt.Sprintf("[Commands and flags](%s) of %s", file, title)
	}
	for _, file := range slices.Sorted(maps.Keys(others)) {
		fmt.Fprintf(p, "- %s\n", others[file])
	}
	p.heading(2, "Kinds")
	p.WriteString("\n")
	for _, k := range kinds {
		fmt.Fprintf(p, "- [%s](%s)\n", k.name(), k.file())
	}
	return p.String()
}
