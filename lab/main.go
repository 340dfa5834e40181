// Command lab runs a whole Cluster API management cluster and a simulated Azure on this machine, as plain processes.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sigs.k8s.io/cluster-api-provider-azure/lab/command"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	if err := command.New(version).ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", command.PrintableLines(err.Error()))
		stop()
		os.Exit(1)
	}
}
