// Package page renders what a simulated Azure has and does as HTML for people: resource groups and resources, the requests of its
// clients, its operations in time, and the faults that are switched on.
//
// Its promise: it renders what it is given, on the server, with one style sheet and no script, and everything that came from a client is
// escaped. It knows nothing of how the simulator stores things, and asks for nothing by itself.
package page
