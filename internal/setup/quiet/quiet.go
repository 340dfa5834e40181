// Package quiet raises the verbosity that lines of controller-runtime need, so that the log of a manager has changes and problems by default,
// and not its own start. Errors are always logged. It is safe for concurrent use.
package quiet

import (
	"strings"

	"github.com/go-logr/logr"
)

// raise is added to the levels of quiet lines: those of level 0 need --v=3.
const raise = 3

// The keys with which controller-runtime marks its lines: each controller has a name, and each reconciliation an ID.
const (
	controllerKey     = "controller"
	reconciliationKey = "reconcileID"
)

// libraryName is the name of controller-runtime's loggers, and their beginning.
const libraryName = "controller-runtime"

// Logger returns a logger that writes to the same sink. Lines of controller-runtime's loggers, and those of controllers outside of
// reconciliations, such as one for each watch, are quiet.
func Logger(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil {
		return logger
	}
	// This sink adds one frame to the call stack.
	return logger.WithSink((&sink{LogSink: logger.GetSink()}).WithCallDepth(1))
}

type sink struct {
	logr.LogSink
	isLibrary, isController, isReconciliation, isNamed bool
}

func (s *sink) level(level int) int {
	if s.isLibrary || s.isController && !s.isReconciliation {
		return level + raise
	}
	return level
}

// Enabled implements logr.LogSink.
func (s *sink) Enabled(level int) bool { return s.LogSink.Enabled(s.level(level)) }

// Info implements logr.LogSink.
func (s *sink) Info(level int, message string, pairs ...any) {
	s.LogSink.Info(s.level(level), message, pairs...)
}

// WithName implements logr.LogSink.
func (s *sink) WithName(name string) logr.LogSink {
	out := *s
	out.LogSink = s.LogSink.WithName(name)
	if !s.isNamed {
		out.isNamed, out.isLibrary = true, name == libraryName || strings.HasPrefix(name, libraryName+".")
	}
	return &out
}

// WithValues implements logr.LogSink.
func (s *sink) WithValues(pairs ...any) logr.LogSink {
	out := *s
	out.LogSink = s.LogSink.WithValues(pairs...)
	for i := 0; i < len(pairs); i += 2 {
		out.isController = out.isController || pairs[i] == controllerKey
		out.isReconciliation = out.isReconciliation || pairs[i] == reconciliationKey
	}
	return &out
}

// WithCallDepth implements logr.CallDepthLogSink, so that log lines have the caller's position.
func (s *sink) WithCallDepth(depth int) logr.LogSink {
	if deeper, ok := s.LogSink.(logr.CallDepthLogSink); ok {
		out := *s
		out.LogSink = deeper.WithCallDepth(depth)
		return &out
	}
	return s
}
