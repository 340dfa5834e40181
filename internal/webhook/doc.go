// Package webhook gives the kinds their defaults and refuses what cannot work, before it is stored. The Default and
// Validate functions are pure: they know one object, or the old and the new one, and never ask Azure. Defaults are
// idempotent and deterministic. A kind declares them in a row of kinds, with what is random (an SSH key that nobody has, the
// name of a role assignment) and, where it is cheap, the subscription; one handler serves all rows, and config/webhook is
// written from them.
//
// AKS clusters and pools also read the Cluster, the control plane and the other pools, for the rules that need them. Whatever
// is not there yet is not checked.
//
// Rules that one object tells are in the CRDs and not repeated here: ranges, names, unions, fields that cannot change. Here
// are those that need a feature gate, addresses of several lists, defaults on both sides of an update, or the request.
//
// An update that leaves the spec as it is, and an update of an object that is being deleted, is never refused: whatever
// rule came later, finalizers can be taken off. Updates of AKS clusters and pools are only refused for what they make wrong, so
// that an object with an old error can change everywhere else.
package webhook
