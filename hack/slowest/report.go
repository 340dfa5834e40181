package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sync"
	"time"
)

// resultLine matches the line with which `go test` closes the output of a package. Without tests, or if they are not run, it has no
// duration.
var resultLine = regexp.MustCompile(`^(?:ok  |FAIL|\?   |)\t(\S+)(?:\s+(\d+\.\d+)s)?`)

// report collects what several commands print.
type report struct {
	mu  sync.Mutex
	out io.Writer
	ran []duration
	// used is the CPU time of commands. It includes child processes that the command waited for, and not those that it left running.
	used []duration
}

// duration belongs to a package or a command.
type duration struct {
	name string
	took time.Duration
}

// addCPU records the CPU time of a command.
func (r *report) addCPU(command string, used time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used = append(r.used, duration{command, used})
}

func sortByDuration(list []duration) {
	slices.SortFunc(list, func(a, b duration) int { return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.name, b.name)) })
}

// block prints the lines of a package, of which the last is its result line.
func (r *report) block(lines, last []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if found := resultLine.FindSubmatch(last); found != nil && len(found[2]) > 0 {
		took, err := time.ParseDuration(string(found[2]) + "s")
		if err != nil {
			return err
		}
		r.ran = append(r.ran, duration{string(found[1]), took})
	}
	_, err := r.out.Write(lines)
	return err
}

// summarize prints the CPU time of the commands and the packages that took longest. The lines begin with "---", as those that CI shows again.
func (r *report) summarize(count int, all time.Duration) error {
	sortByDuration(r.used)
	for _, d := range r.used {
		if _, err := fmt.Fprintf(r.out, "--- %6.1f s of CPU  %s\n", d.took.Seconds(), d.name); err != nil {
			return err
		}
	}
	sortByDuration(r.ran)
	slowest := r.ran[:min(count, len(r.ran))]
	if _, err := fmt.Fprintf(r.out, "--- %s for all tests; the %d slowest of %d packages that ran:\n", all.Round(time.Second), len(slowest),
		len(r.ran)); err != nil {
		return err
	}
	for _, d := range slowest {
		if _, err := fmt.Fprintf(r.out, "--- %6.1f s  %s\n", d.took.Seconds(), d.name); err != nil {
			return err
		}
	}
	return nil
}

// blocks cuts the output of a command into the blocks of its packages.
type blocks struct {
	report *report
	// lines wait for the result line of their package; line is the one that is not complete yet.
	lines, line []byte
}

// Write implements io.Writer.
func (b *blocks) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			b.line = append(b.line, rest...)
			break
		}
		b.line = append(b.line, rest[:end]...)
		b.lines = append(b.lines, b.line...)
		if resultLine.Match(b.line) {
			if err := b.report.block(b.lines, b.line); err != nil {
				return 0, err
			}
			b.lines = b.lines[:0]
		}
		rest, b.line = rest[end:], b.line[:0]
	}
	return len(p), nil
}

// flush prints the lines after the last result line, and completes the last of them.
func (b *blocks) flush() error {
	if len(b.line) > 0 {
		b.line = append(b.line, '\n')
	}
	return b.report.block(append(b.lines, b.line...), nil)
}
