package harness

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// verbosity is how much is logged: more than users have, because nothing secret may be on any level.
const verbosity = 6

// Logs keep every line that was logged in the process.
type Logs struct {
	mu    sync.Mutex
	lines []string
}

func newLogs() *Logs { return &Logs{} }

func (l *Logs) logger() logr.Logger {
	return funcr.New(func(prefix, arguments string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, prefix+" "+arguments)
	}, funcr.Options{Verbosity: verbosity, LogTimestamp: true})
}

// Lines is how many lines there are.
func (l *Logs) Lines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// Since are the lines after the first ones.
func (l *Logs) Since(first int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines[first:])
}

// With are the lines that contain the text.
func (l *Logs) With(text string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []string
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}
