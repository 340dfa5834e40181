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
	// marked are the indexes of the lines for which hasMarker is true.
	marked []int
}

func newLogs() *Logs { return &Logs{} }

// NewLogger returns a logger whose lines are kept.
func (l *Logs) NewLogger() logr.Logger {
	return funcr.New(func(prefix, arguments string) {
		line := prefix + " " + arguments
		marked := hasMarker(line)
		l.mu.Lock()
		defer l.mu.Unlock()
		if marked {
			l.marked = append(l.marked, len(l.lines))
		}
		l.lines = append(l.lines, line)
	}, funcr.Options{Verbosity: verbosity, LogTimestamp: true})
}

// CountLines returns how many lines there are.
func (l *Logs) CountLines() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// LinesSince returns the lines after the first ones.
func (l *Logs) LinesSince(first int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines[first:])
}

// markedLinesSince returns those of the lines after the first ones that may contain a value of NewSecretValue.
func (l *Logs) markedLinesSince(first int) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.marked {
		if at >= first {
			out = append(out, l.lines[at])
		}
	}
	return out
}

// LinesContaining returns the lines that contain the text.
func (l *Logs) LinesContaining(text string) []string {
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
