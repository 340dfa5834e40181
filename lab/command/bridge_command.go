package command

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bridge"
)

// bridgeCommand returns the process that boots the simulated virtual machines; `lab up` starts it.
func bridgeCommand() *cobra.Command {
	var options bridge.Options
	var ports, log string
	c := &cobra.Command{
		Use:    "bridge",
		Short:  "Boot the simulator's virtual machines as nodes of workload clusters",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if ports != "" {
				if _, err := fmt.Sscanf(ports, "%d-%d", &options.MinPort, &options.MaxPort); err != nil {
					return fmt.Errorf("--kubernetes-ports %q: want MIN-MAX, as in 21100-21999", ports)
				}
			}
			out := os.Stderr
			if log != "" {
				file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
				if err != nil {
					return err
				}
				defer file.Close()
				out = file
			}
			options.Log = slog.New(slog.NewTextHandler(out, nil))
			return bridge.RunBridge(c.Context(), options)
		},
	}
	c.Flags().StringVar(&options.Simulator, "sim", "", "URL of the simulated Azure")
	c.Flags().StringVar(&options.SimulatorCAFile, "sim-ca", "", "file with the simulator's CA")
	c.Flags().StringVar(&options.ControlTokenFile, "control-token-file", "", "file with the token of the simulator's control API")
	c.Flags().Float64Var(&options.TimeScale, "time-scale", 1, "factor on the duration of booting")
	c.Flags().StringVar(&ports, "kubernetes-ports", "", "MIN-MAX of the API servers' loopback ports; empty lets the kernel choose")
	c.Flags().StringVar(&log, "log", "", "file to append the log to; empty is standard error")
	return c
}
