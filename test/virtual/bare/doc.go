// Package bare has the tests of users with a new subscription: every flavor is created in a simulated subscription that has only the resources,
// roles and registrations that the commands of docs/book/getting-started.md make.
package bare
