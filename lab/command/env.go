package command

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

func envCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "env",
		Short: "Print the environment for clients of the lab, for eval in a shell",
		Long: `Print export lines for a shell:

  eval "$(bin/lab env)"

Clients whose endpoints cannot be configured (az, other operators) reach the simulated Azure through HTTPS_PROXY by its
public host names. The proxy leads nothing else outside.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := load(c)
			if err != nil {
				return err
			}
			variables := environment(s)
			for _, name := range slices.Sorted(maps.Keys(variables)) {
				fmt.Fprintf(c.OutOrStdout(), "export %s=%s\n", name, quote(variables[name]))
			}
			fmt.Fprintf(c.OutOrStdout(), "export PATH=%s:\"$PATH\"\n", quote(filepath.Dir(s.Binary("lab"))))
			return nil
		},
	}
}

func environment(s *settings.Settings) map[string]string {
	variables := management.TemplateVariables(s)
	for _, line := range management.AzureEnvironment(s) {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	variables["KUBECONFIG"] = s.Kubeconfig()
	// clusterctl reads cluster-api/clusterctl.yaml below it.
	variables["XDG_CONFIG_HOME"] = s.Dir
	variables["CLUSTERCTL_DISABLE_VERSIONCHECK"] = "true"
	variables["HTTPS_PROXY"] = s.ProxyURL()
	variables["NO_PROXY"] = "127.0.0.1,localhost"
	variables["AZURE_CLIENT_SECRET"] = s.ClientSecret
	// The Azure CLI and other Python programs.
	variables["REQUESTS_CA_BUNDLE"] = s.CABundle()
	return variables
}

// quote makes a word of a shell of any text.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
