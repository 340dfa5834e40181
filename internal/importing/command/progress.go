package command

import (
	"fmt"
	"io"
)

// every is how many resources are between two messages.
const every = 100

// newProgress returns a function that writes a message from time to time.
func newProgress(out io.Writer) func(resources int) {
	return func(n int) {
		if n%every == 0 {
			fmt.Fprintf(out, "reading Azure: %d resources\n", n)
		}
	}
}
