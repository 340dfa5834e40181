package command

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/inspect"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// NewLogsCommand returns the command logs.
func NewLogsCommand(e *environment.Environment) *cobra.Command {
	var cloudInit bool
	var environmentName string
	cmd := &cobra.Command{
		Use:   "logs MACHINE",
		Short: "Show the serial console log of a machine",
		Long: "Shows the serial console log of the virtual machine of a Machine, AzureMachine or AzureMachinePoolMachine, from the boot diagnostics of Azure:\n" +
			"the kernel, cloud-init with the output of kubeadm, and the host keys. With --cloud-init it shows only the output of cloud-init.\n\n" +
			"It signs in to Azure with the environment variables, or like az. It needs the action virtualMachines/retrieveBootDiagnosticsData/action.\n" +
			"Control sequences of terminals are removed.",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			found, err := findTarget(cmd, e, arguments[0], environmentName)
			if err != nil {
				return err
			}
			log, err := found.console.Read(cmd.Context(), found.machine)
			if err != nil {
				return err
			}
			if cloudInit {
				if log = inspect.CloudInitLines(log); log == "" {
					return fmt.Errorf("the serial console log of %s has no output of cloud-init. Show all of it without --cloud-init", arguments[0])
				}
			}
			_, err = io.WriteString(text.NewWriter(cmd.OutOrStdout()), log)
			return err
		},
	}
	cmd.Flags().BoolVar(&cloudInit, "cloud-init", false, "show only the output of cloud-init")
	addCloudFlag(cmd, &environmentName)
	return cmd
}
