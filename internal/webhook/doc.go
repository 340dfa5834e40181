// Package webhook sets the defaults of objects and refuses invalid ones before they are stored. The Default and Validate functions
// are pure: their input is one object, or the old and the new one, and they send no requests to Azure. Defaults are idempotent and
// deterministic. A kind declares them in a row of kinds, together with random values (an SSH key whose private half is discarded,
// the name of a role assignment) and, where it is cheap to find, the subscription. One handler serves all rows, and config/webhook
// is generated from them.
//
// Rules of AKS clusters and pools may also read the Cluster, the control plane and the other pools. A rule is skipped if an object
// that it needs does not exist yet.
//
// Rules that a CRD can express are not repeated here: ranges, names, unions, immutable fields. This package has the rules that need
// a feature gate, addresses of several lists, defaults on both sides of an update, or the request.
//
// An update that does not change the spec is never refused, and one of an object that is being deleted only for another name of a resource
// that its deletion has to find, so that finalizers can be removed even if a newer rule refuses the object. Updates of AKS clusters and
// pools are only refused for errors that they introduce, so that an object with an old error can still change elsewhere.
package webhook
