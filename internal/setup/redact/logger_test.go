package redact_test

import (
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
)

func newBaseLogger(log *strings.Builder) logr.Logger {
	return funcr.New(func(prefix, arguments string) { log.WriteString(prefix + " " + arguments) },
		funcr.Options{Verbosity: 10, LogCaller: funcr.None})
}

func newLogger(log *strings.Builder) logr.Logger { return redact.Logger(newBaseLogger(log)) }

// newCallerLogger is a logger whose lines have the file and line of the call.
func newCallerLogger(log *strings.Builder) logr.Logger {
	return redact.Logger(funcr.New(func(_, arguments string) { log.WriteString(arguments) }, funcr.Options{LogCaller: funcr.All}))
}
