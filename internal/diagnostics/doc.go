// Package diagnostics serves the metrics, the log level and the profiles of a manager. Over TLS it serves only users that the API
// server authenticates and authorizes for the path.
//
// The flags are those of Cluster API's managers, and the answers those of controller-runtime's filter. The packages of both are not
// used, because they import much of an API server, which would make the program a half larger (docs/design/performance.md).
// TestFilterAnswersLikeControllerRuntimes compares the answers.
package diagnostics
