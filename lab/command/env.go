package command

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
)

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the environment for clients of the lab, for eval in a shell",
		Long: `Print export lines for a shell:

  eval "$(bin/lab env)"

Clients whose endpoints cannot be configured (az, other operators) reach the simulated Azure through HTTPS_PROXY by its
public host names. The proxy connects to no other host outside.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			variables := management.ClientEnvironment(s)
			for _, name := range slices.Sorted(maps.Keys(variables)) {
				fmt.Fprintf(c.OutOrStdout(), "export %s=%s\n", name, quoteForShell(variables[name]))
			}
			fmt.Fprintf(c.OutOrStdout(), "export PATH=%s:\"$PATH\"\n", quoteForShell(filepath.Dir(s.BinaryPath("lab"))))
			return nil
		},
	}
}

// quoteForShell makes a word of a shell of any text.
func quoteForShell(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
