// Package pass runs the passes of every kind whose objects have conditions. A kind that has something in Azure declares itself
// by a Kind: what its objects belong to, what a plan of them is computed from, the plan, and what the status says of its
// outcome. One that has nothing there is a Local, which only says what is so. Everything else is the same for all kinds and is
// here.
//
// One pass over an object of a Kind is, in this order; that of a Local is the first two and the last:
//
//  1. load: the object and what it belongs to. What is gone is forgotten.
//  2. enter: outdated forms are renewed, a paused object says so and is left alone, the finalizer is committed before
//     anything is made.
//  3. open: the right to ask Azure as the identity of the object, which is kept from going before the object.
//  4. settled: an object that was found in order is left alone until its input changes or a resync is due.
//  5. plan: facts are asked for, and the graph of what is to be is computed.
//  6. remember: what will have to be taken away again is stored before it is made.
//  7. converge: the engine brings Azure one step closer.
//  8. report: the status says what was found, once, in one patch at the end; events tell what is new in it.
//
// The pass over an object that is being deleted goes from 2 to what has to be gone first, then opens the identity, plans and
// has the engine delete, and lets the object go when nothing is left.
//
// No pass waits for Azure: the engine wakes the object when something moved. A pass ends early by an error that is a verdict,
// as Refused or Unread; every other error is the manager's own trouble and is tried again with back-off.
package reconcile
