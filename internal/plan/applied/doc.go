// Package applied keeps the facts about an object's resources in Azure that neither the spec nor Azure shows. Read and Content.Store
// keep them in one annotation, because annotations survive clusterctl move and backups, and the status does not.
//
//   - applied: the resources and paths that plans sent, so that they can be removed when they are no longer planned. A
//     write removes from a resource the properties that it leaves out. So this part contains only entries that a write
//     would leave in Azure: the resources themselves, tags, elements of lists into which others write too, settings that
//     Azure keeps if a plan does not set them, and every leaf of types that keep all properties that a request leaves out.
//   - inventory: the resources that were created for the object and cannot carry ownership tags. It contains the object that
//     it was written for. On a copy of the object, in another namespace or with another name, no entry counts.
//   - ownerID: the UID of the object from which the owner tag is computed. A restored object has another UID.
//   - subscription: the subscription of the resources, once one was seen in Azure.
//   - migration: hashes of the differences that a migration from the established provider (CAPZ) leaves in Azure, since
//     migrating changes no existing resource. Where this provider creates a resource differently, that applies to new resources, and to later
//     changes of the spec.
//
// Users can write annotations, so nothing here proves anything by itself: the engine decides with Azure's answers which
// entries count. It deletes resources that carry the ownership tag, or are children of planned resources. All other
// removals are within resources of the plan.
//
// The package is pure.
package applied
