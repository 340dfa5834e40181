package environment

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Output is a format of results. It implements pflag.Value, so that another value is refused while flags are parsed.
type Output string

// The formats.
const (
	OutputText Output = "text"
	OutputJSON Output = "json"
)

// Set implements pflag.Value.
func (o *Output) Set(value string) error {
	switch Output(value) {
	case OutputText, OutputJSON:
		*o = Output(value)
		return nil
	default:
		return fmt.Errorf("%q is not an output format. Use text or json", value)
	}
}

// String implements pflag.Value.
func (o *Output) String() string { return string(*o) }

// Type implements pflag.Value.
func (o *Output) Type() string { return "format" }

// AddOutputFlag adds --output to a command whose result has both formats.
func (e *Environment) AddOutputFlag(cmd *cobra.Command) {
	e.Output = OutputText
	cmd.Flags().VarP(&e.Output, "output", "o", "format of the result: text or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(
		[]cobra.Completion{string(OutputText), string(OutputJSON)}, cobra.ShellCompDirectiveNoFileComp)) // The flag exists.
}

// WriteJSON writes a result in the format json, as one indented value.
func WriteJSON(out io.Writer, result any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(result)
}
