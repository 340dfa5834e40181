package redact_test

import (
	"strings"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
)

func base(log *strings.Builder) logr.Logger {
	return funcr.New(func(prefix, arguments string) { log.WriteString(prefix + " " + arguments) },
		funcr.Options{Verbosity: 10, LogCaller: funcr.None})
}

func logger(log *strings.Builder) logr.Logger { return redact.Logger(base(log)) }

// callers is logger whose lines say where they come from.
func callers(log *strings.Builder) logr.Logger {
	return redact.Logger(funcr.New(func(_, arguments string) { log.WriteString(arguments) }, funcr.Options{LogCaller: funcr.All}))
}
