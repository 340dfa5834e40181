// Package page renders the state and activity of a simulated Azure as HTML for people: resource groups and resources,
// the requests of its clients, its operations in time, and the faults that are switched on.
//
// Its promise: it renders its input on the server, with one style sheet and no script, and escapes everything that
// came from a client. It does not depend on the simulator's storage, and sends no requests.
package page
