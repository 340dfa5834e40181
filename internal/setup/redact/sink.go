package redact

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Install filters all logs that klog and logr write in this process: those of client libraries that use klog, and those of loggers
// from klog.Background. Call it once, after logging is configured and before the first log line. The returned logger is for
// controller-runtime.
func Install() logr.Logger {
	klog.SetLogFilter(filter{})
	logger := klog.Background()
	// klog's own sink writes through klog and its filter already; setting it as klog's logger would recurse.
	klogs := reflect.TypeOf(logger.GetSink()) == reflect.TypeOf(klog.NewKlogr().GetSink())
	logger = Logger(logger)
	if !klogs {
		klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true))
	}
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger)))
	return logger
}

// Logger returns a logger that writes to the same sink without secrets.
func Logger(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil {
		return logger
	}
	// This sink adds one frame to the call stack.
	return logger.WithSink(sink{logger.GetSink()}.WithCallDepth(1))
}

// sink is a logr.LogSink that removes secrets before calling another one.
type sink struct{ logr.LogSink }

// Info implements logr.LogSink.
func (s sink) Info(level int, message string, pairs ...any) {
	s.LogSink.Info(level, RedactText(message), RedactPairs(pairs)...)
}

// Error implements logr.LogSink.
func (s sink) Error(err error, message string, pairs ...any) {
	if err != nil {
		err = failure{err}
	}
	s.LogSink.Error(err, RedactText(message), RedactPairs(pairs)...)
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(pairs ...any) logr.LogSink {
	return sink{s.LogSink.WithValues(RedactPairs(pairs)...)}
}

// WithName implements logr.LogSink.
func (s sink) WithName(name string) logr.LogSink { return sink{s.LogSink.WithName(name)} }

// WithCallDepth implements logr.CallDepthLogSink, so that log lines have the caller's position.
func (s sink) WithCallDepth(depth int) logr.LogSink {
	if deeper, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return sink{deeper.WithCallDepth(depth)}
	}
	return s
}

// filter is klog's hook for the lines that klog writes itself.
type filter struct{}

// Filter implements klog.LogFilter.
func (filter) Filter(arguments []any) []any {
	out := make([]any, len(arguments))
	for i, argument := range arguments {
		out[i] = redactValue(argument)
	}
	return out
}

// FilterF implements klog.LogFilter. It formats the text before filtering, because the arguments may be parts of a body.
func (filter) FilterF(format string, arguments []any) (string, []any) {
	return "%s", []any{RedactText(strings.TrimSuffix(fmt.Sprintf(format, arguments...), "\n"))}
}

// FilterS implements klog.LogFilter.
func (filter) FilterS(message string, pairs []any) (string, []any) {
	return RedactText(message), RedactPairs(pairs)
}
