// Package client is the only package that speaks HTTP to Azure Resource Manager.
//
// A Client is bound to one credential and one cloud. It sends one request per call and never retries: the engine is the
// only one that retries. Every failure is an *arm.Error, also a refused token. Request budgets mirror Azure's own token
// buckets, so that a call that Azure would throttle is answered here, with the time to come back, without being sent.
// Bodies and tokens are never logged.
package client
