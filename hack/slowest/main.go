// Command slowest runs commands with `go test` in them, prints their output, and at the end the CPU time of each command and the packages
// that took longest.
//
//	go run ./hack/slowest [-at-once N] COMMAND...
//
// Each command is a line for bash. All of them run, also after one has failed; then slowest fails, too. The output of a
// package stays together when several commands run at once.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// listed is how many packages are named at the end.
const listed = 10

func main() {
	atOnce := flag.Int("at-once", 1, "how many commands run side by side")
	flag.Parse()
	// An interrupt reaches the commands, too. Their last output is printed before this program ends.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM)
	if err := run(os.Stdout, max(*atOnce, 1), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run runs the commands in their order and tells which failed.
func run(out io.Writer, atOnce int, commands []string) error {
	begin := time.Now()
	report := &report{out: out}
	failures := make([]error, len(commands))
	slots := make(chan struct{}, atOnce)
	var group sync.WaitGroup
	for i, command := range commands {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			if err := runOne(report, command); err != nil {
				failures[i] = fmt.Errorf("%s: %w", command, err)
			}
		})
	}
	group.Wait()
	return errors.Join(errors.Join(failures...), report.summarize(listed, time.Since(begin)))
}

func runOne(report *report, command string) error {
	blocks := &blocks{report: report}
	shell := exec.Command("bash", "-c", command)
	shell.Stdout, shell.Stderr = blocks, blocks
	err := shell.Run()
	if state := shell.ProcessState; state != nil {
		report.addCPU(command, state.UserTime()+state.SystemTime())
	}
	return errors.Join(err, blocks.flush())
}
