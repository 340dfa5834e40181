// Package tracing records the work of the manager as traces of OpenTelemetry: a span per reconciliation, per stage, per request to Azure
// and per operation of Azure. It is off by default.
//
// Only the runner and the hook for operations know a Tracer. All other code starts spans below the span of its context, so without a Tracer
// it starts none and allocates nothing. Spans have names, numbers, codes and IDs of Azure, and no bodies, tokens or texts of errors.
package tracing
