// Package metrics has the Prometheus metrics of the provider and registers them with controller-runtime's registry, which the
// manager serves. Its functions only count and never block their callers.
//
// Names begin with capz_, as the provider's environment variables do with CAPZ_, and follow Prometheus' conventions. Labels are
// kinds, resource types, methods and the like, never names of objects, so that the number of series does not grow with the number
// of objects. The book's page on metrics describes each metric.
package metrics
