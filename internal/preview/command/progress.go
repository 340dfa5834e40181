package command

import (
	"fmt"
	"io"
	"time"
)

// quiet is how long a plan may take without a message about its progress.
const quiet = 2 * time.Second

// newProgress returns a function that prints the progress of a plan that takes long.
func newProgress(out io.Writer) func(rounds, writes int) {
	last := time.Now()
	return func(rounds, writes int) {
		if now := time.Now(); now.Sub(last) >= quiet {
			last = now
			fmt.Fprintf(out, "planning: round %d, %d writes\n", rounds, writes)
		}
	}
}
