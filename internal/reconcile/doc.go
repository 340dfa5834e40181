// Package reconcile has the one Reconcile of every kind whose objects have conditions. A kind with resources in Azure implements Kind:
// the Target of an object, the input of its plan, the plan, its own actions, and the status that follows from the engine's outcome. A
// kind without resources in Azure implements LocalKind, which only reports. Everything else is the same for all kinds and lives here.
//
// A reconciliation of a Kind has these stages; that of a LocalKind has the first two and the last two:
//
//  1. load: read the object and the objects that it belongs to. Forget an object that is gone.
//  2. enter: convert outdated formats, keep the Paused condition, stop for a paused object, store the finalizer first.
//  3. open: get access to Azure as the object's identity, and put a finalizer on the identity so that it outlives the object.
//  4. stable: stop if the object is in order, its input is unchanged and no sync is due.
//  5. plan: ask Azure for facts and compute the graph of desired resources.
//  6. record: store in lastApplied which resources have to be removed later, before they are created.
//  7. converge: the engine brings Azure one step closer to the graph.
//  8. act: the kind makes the requests and writes that are not the engine's, such as the deletion of one VM or a kubeconfig.
//  9. report: set the conditions, from the outcome and the findings of act alone.
//  10. store: write the changes in one patch of the status and one of the rest, and emit events for them.
//
// For an object that is being deleted, stage 2 is followed by BeforeDelete, which may wait for other objects. Then the identity is
// opened, the deletion is planned and prepared, the engine deletes, and the finalizers are removed once nothing is left.
//
// No reconciliation waits for Azure: the engine wakes the object when an operation ends. A reconciliation ends early with an error that
// is a stopReason, for example from RefuseSpec or ReadFailed. Every other error is a failure of the manager itself and is retried with
// back-off.
package reconcile
