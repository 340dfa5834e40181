package logged_test

import (
	"fmt"
	"strings"
	"sync"

	"github.com/go-logr/logr"
)

// line is one line of the log.
type line struct {
	message string
	keys    []string
	values  map[string]any
}

func (l line) text(key string) string { return fmt.Sprint(l.values[key]) }

// format returns the message with the values of some keys that the line has.
func (l line) format(keys ...string) string {
	out := []string{l.message}
	for _, key := range keys {
		if value, has := l.values[key]; has {
			out = append(out, fmt.Sprintf("%s=%v", key, value))
		}
	}
	return strings.Join(out, " ")
}

// recorder keeps the lines of a manager with the default verbosity.
type recorder struct {
	lines *lines
	pairs []any
}

type lines struct {
	mu   sync.Mutex
	list []line
}

func newRecorder() recorder { return recorder{lines: &lines{}} }

// all returns the lines so far.
func (r recorder) all() []line {
	r.lines.mu.Lock()
	defer r.lines.mu.Unlock()
	return append([]line(nil), r.lines.list...)
}

// Init implements logr.LogSink, as do the following.
func (recorder) Init(logr.RuntimeInfo) {}

func (recorder) Enabled(level int) bool { return level <= 2 }

func (r recorder) Info(_ int, message string, pairs ...any) {
	l := line{message: message, values: map[string]any{}}
	for all := append(append([]any(nil), r.pairs...), pairs...); len(all) > 1; all = all[2:] {
		key := fmt.Sprint(all[0])
		l.keys, l.values[key] = append(l.keys, key), all[1]
	}
	r.lines.mu.Lock()
	defer r.lines.mu.Unlock()
	r.lines.list = append(r.lines.list, l)
}

func (r recorder) Error(err error, message string, pairs ...any) {
	r.Info(0, message, append(pairs, "err", err)...)
}

func (r recorder) WithValues(pairs ...any) logr.LogSink {
	return recorder{r.lines, append(append([]any(nil), r.pairs...), pairs...)}
}

func (r recorder) WithName(string) logr.LogSink { return r }

func newLogger(r recorder) logr.Logger { return logr.New(r) }
