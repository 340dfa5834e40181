package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
)

// clusterctlFlags are the flags of verbs that run clusterctl.
type clusterctlFlags struct {
	program, config string
}

func (f *clusterctlFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.program, "clusterctl", "clusterctl", "the program clusterctl")
	cmd.Flags().StringVar(&f.config, "clusterctl-config", "", "configuration file of clusterctl; default: the one that clusterctl finds")
}

// clusterctl returns a function that runs clusterctl for the management cluster of the flags, with the variables that the user's
// configuration does not set.
func (f *clusterctlFlags) clusterctl(e *environment.Environment, configured configuration, out io.Writer,
) func(context.Context, map[string]string, ...string) error {
	return func(ctx context.Context, variables map[string]string, arguments ...string) error {
		if e.Kubeconfig != "" {
			arguments = append(arguments, "--kubeconfig", e.Kubeconfig)
		}
		if e.Overrides.CurrentContext != "" {
			arguments = append(arguments, "--kubeconfig-context", e.Overrides.CurrentContext)
		}
		return f.run(ctx, e, out, configured.missing(variables), arguments)
	}
}

// findRelease returns a function that has clusterctl read a release of the provider for Azure from the repository of its configuration. It
// changes nothing, and reads nothing from the management cluster.
func (f *clusterctlFlags) findRelease(e *environment.Environment) func(ctx context.Context, version string) error {
	return func(ctx context.Context, version string) error {
		out := &bytes.Buffer{}
		// With --describe, clusterctl needs no variables of the release.
		err := f.run(ctx, e, out, nil, []string{"generate", "provider", "--infrastructure", "azure:" + version, "--describe"})
		if err != nil {
			return fmt.Errorf("%w: %s", err, strings.Join(strings.Fields(out.String()), " "))
		}
		return nil
	}
}

// run runs clusterctl with the configuration of the flags.
func (f *clusterctlFlags) run(ctx context.Context, e *environment.Environment, out io.Writer, variables, arguments []string) error {
	if e.RunProgram == nil {
		return errors.New("this program cannot run clusterctl")
	}
	if f.config != "" {
		arguments = append(arguments, "--config", f.config)
	}
	if err := e.RunProgram(ctx, out, variables, f.program, arguments...); err != nil {
		return fmt.Errorf("%s %s: %w", f.program, strings.Join(arguments, " "), err)
	}
	return nil
}
