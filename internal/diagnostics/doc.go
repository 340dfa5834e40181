// Package diagnostics serves what a manager tells of itself: metrics, the level of its log, and profiles. Over TLS only who the API
// server authenticates and allows to get the path is answered.
//
// The flags are those of Cluster API's managers, and the answers those of controller-runtime's filter. Both of these packages bring
// much of an API server's code with them, ten megabytes of a program that is to be small.
package diagnostics
