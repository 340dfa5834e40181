package redact

import (
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// Install has everything that klog and logr write in this process pass through here: what client libraries give to klog, and
// what takes its logger from klog.Background. It is called once, after logging is configured and before anybody logs. The
// logger that it returns is for controller-runtime.
func Install() logr.Logger {
	klog.SetLogFilter(filter{})
	logger := klog.Background()
	// klog's own sink writes through klog, and with it through the filter; giving it back to klog would go in circles.
	klogs := reflect.TypeOf(logger.GetSink()) == reflect.TypeOf(klog.NewKlogr().GetSink())
	logger = Logger(logger)
	if !klogs {
		klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true))
	}
	slog.SetDefault(slog.New(logr.ToSlogHandler(logger)))
	return logger
}

// Logger writes to the same sink without secrets.
func Logger(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil {
		return logger
	}
	// One more, for this sink stands between who logs and who writes.
	return logger.WithSink(sink{logger.GetSink()}.WithCallDepth(1))
}

// sink is a logr.LogSink in front of another.
type sink struct{ logr.LogSink }

// Info implements logr.LogSink.
func (s sink) Info(level int, message string, pairs ...any) {
	s.LogSink.Info(level, Text(message), Pairs(pairs)...)
}

// Error implements logr.LogSink.
func (s sink) Error(err error, message string, pairs ...any) {
	if err != nil {
		err = failure{err}
	}
	s.LogSink.Error(err, Text(message), Pairs(pairs)...)
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(pairs ...any) logr.LogSink {
	return sink{s.LogSink.WithValues(Pairs(pairs)...)}
}

// WithName implements logr.LogSink.
func (s sink) WithName(name string) logr.LogSink { return sink{s.LogSink.WithName(name)} }

// WithCallDepth implements logr.CallDepthLogSink, so that lines name the place that logged.
func (s sink) WithCallDepth(depth int) logr.LogSink {
	if deeper, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		return sink{deeper.WithCallDepth(depth)}
	}
	return s
}

// filter is klog's hook for the calls that it writes itself.
type filter struct{}

// Filter implements klog.LogFilter.
func (filter) Filter(arguments []any) []any {
	out := make([]any, len(arguments))
	for i, argument := range arguments {
		out[i] = value(argument)
	}
	return out
}

// FilterF implements klog.LogFilter. The text is made here: with the verbs a body may come in pieces.
func (filter) FilterF(format string, arguments []any) (string, []any) {
	return "%s", []any{Text(strings.TrimSuffix(fmt.Sprintf(format, arguments...), "\n"))}
}

// FilterS implements klog.LogFilter.
func (filter) FilterS(message string, pairs []any) (string, []any) {
	return Text(message), Pairs(pairs)
}
