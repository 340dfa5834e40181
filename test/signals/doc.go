// Package signals has Prometheus evaluate the alerts and the dashboard of the release, with the series that stories of the provider record. It is a
// module of its own, so that the provider does not get Prometheus' dependencies.
package signals
