// Package metrics has what the provider counts of its own work, for Prometheus, and registers it with controller-runtime's
// registry, which the manager serves. It only counts what others tell it, and never blocks them.
//
// Names begin with capz_, as the provider's environment variables do with CAPZ_, and follow Prometheus' conventions. Labels
// hold kinds, resource types, methods and the like, never names of objects: their number does not grow with the fleet. The
// book's page on metrics has a line for each.
package metrics
