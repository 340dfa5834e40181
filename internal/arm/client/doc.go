// Package client is the only package that sends HTTP requests to Azure Resource Manager.
//
// A Client is bound to one credential and one cloud. It sends one request per call and never retries: only the engine retries. Every
// failure is an *arm.Error, including a refused token. Request budgets mirror Azure's own token buckets: a request that Azure would
// throttle is not sent, and the error has the time until it can be. Bodies and tokens are never logged.
package client
