package command

import (
	"fmt"
	"io"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/importing"
)

// output is the output in the format json.
type output struct {
	Manifests string                `json:"manifests"`
	Steps     []importing.Step      `json:"steps"`
	Tags      []importing.TagChange `json:"tags,omitempty"`
	Findings  []importing.Finding   `json:"findings"`
	// Check is the plan of the manifests after the tags are set. It has no objects if nothing is written.
	Check *verdict `json:"check"`
}

func writeResult(format environment.Output, out, messages io.Writer, imported *importing.Result, checked *verdict) error {
	manifests, err := imported.YAML()
	if err != nil {
		return err
	}
	if format == environment.OutputJSON {
		return environment.WriteJSON(out, output{Manifests: string(manifests), Steps: imported.Steps, Tags: imported.Tags,
			Findings: imported.Findings, Check: checked})
	}
	if _, err := out.Write(manifests); err != nil {
		return err
	}
	writeReport(messages, imported)
	writeCheck(messages, imported, checked)
	return nil
}

// writeReport writes the listed properties, their number, and the steps of the user.
func writeReport(messages io.Writer, imported *importing.Result) {
	for _, f := range imported.Findings {
		if f.Coverage != importing.Listed {
			continue
		}
		fmt.Fprintf(messages, "not in the manifests: %s", f.Resource.ShortName())
		if f.Path != "" {
			fmt.Fprintf(messages, ": %s", f.Path)
		}
		if f.Value != "" {
			fmt.Fprintf(messages, " = %s", f.Value)
		}
		fmt.Fprintf(messages, ": %s\n", f.Reason)
	}
	counts := map[importing.Coverage]int{}
	for _, coverage := range []importing.Coverage{importing.Carried, importing.Default, importing.Listed} {
		counts[coverage] = importing.Count(imported.Findings, coverage)
	}
	fmt.Fprintf(messages, "%d properties: %d carried, %d defaults of Azure, %d listed\n",
		counts[importing.Carried]+counts[importing.Default]+counts[importing.Listed], counts[importing.Carried], counts[importing.Default],
		counts[importing.Listed])
	for i, step := range imported.Steps {
		fmt.Fprintf(messages, "step %d: %s\n", i+1, step.Why)
		for _, command := range step.Commands {
			fmt.Fprintf(messages, "  %s\n", command)
		}
	}
}

// writeCheck writes the result of the plan.
func writeCheck(messages io.Writer, imported *importing.Result, checked *verdict) {
	after := ""
	if len(imported.Tags) > 0 {
		after = " after the tags of the steps are set"
	}
	for _, line := range checked.Unready {
		fmt.Fprintf(messages, "would not become Ready: %s\n", line)
	}
	for _, o := range checked.Objects {
		for _, report := range o.Reports {
			fmt.Fprintf(messages, "would report: %s %s: %s\n", o.Kind, o.Name, report)
		}
	}
	if !checked.HasChanges() {
		fmt.Fprintf(messages, "applying the manifests%s writes nothing to Azure\n", after)
		return
	}
	fmt.Fprintf(messages, "applying the manifests%s would write to Azure:\n", after)
	checked.WriteText(messages, false)
}
