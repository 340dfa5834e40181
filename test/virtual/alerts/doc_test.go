// Package alerts_test plays stories in which something goes wrong and is corrected, and records the metrics of the manager every minute, in the
// notation of Prometheus' tests. The module test/signals has Prometheus evaluate the alerts and the dashboard with them.
package alerts_test
