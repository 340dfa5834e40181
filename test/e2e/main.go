// Command e2e runs the end-to-end specs of Cluster API with the flavors of this provider, in a lab or on a subscription of Azure:
//
//	go run . run --spec quick-start --flavor default
//	go run . run --cloud azure --subscription ID
//	go run . sweep --subscription ID --run NAME
//
// `make e2e` and `make e2e-sweep` build the providers and the lab, and start it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	root := &cobra.Command{Use: "e2e", Short: "Run the end-to-end specs of Cluster API", SilenceUsage: true, SilenceErrors: true}
	root.AddCommand(runCommand(), checkCommand(), sweepCommand(), recordCommand(), pageCommand())
	err := root.ExecuteContext(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}
