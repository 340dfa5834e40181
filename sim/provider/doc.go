// Package provider is the frame every simulated resource provider is written in.
//
// A resource provider is data plus a few functions. It exports
//
//	func Provider() *provider.Provider
//
// with one [Type] per resource type, and sim/server registers it. The frame implements the parts that all types share:
// routing, resource group and parent checks, locks, If-Match, location, edge zone and tag rules, serialising writes, provisioningState,
// etags, long-running operations in the wire style of the provider, and deletion of nested resources.
//
// What a Type adds, all of it optional:
//
//   - Prepare validates a PUT and sets its defaults before it is stored. It gets a [Draft] with the old body (nil when new)
//     and the new one, and changes the new one in place. References are checked with [Call.Need]. An error is answered as it is
//     and nothing is stored.
//   - Finish runs when the operation of an accepted PUT ends: allocate what only exists after success, or fail with an *Error,
//     which leaves the resource in state Failed. Return [Again] to be asked again later.
//   - CanDelete refuses a deletion (in-use rules); Deleted clears up after it.
//   - View adds computed values: back references through [Call.Referrers], inlined children, addresses.
//   - Actions are POSTs, Reads are GETs below the resource that are not resources ("instanceView").
//
// Children that Azure keeps inside their parent (subnets of a virtual network, rules of a security group) are Types with Inline
// set to the property of the parent. They are stored only there, so both doors, the parent's array and the child's own URL, show the
// same thing. Their Prepare and CanDelete run for either door.
//
// Hooks run inside one transaction of sim/store. They must not block, must not keep their arguments, and take time and
// randomness only from the [Call]. Anything that has to outlive the request belongs into the body, the resource's Secret, or the
// operation's Data: a restarted simulator continues from there.
//
// Timing is the latency model: medians as measured on Azure. The frame draws from a log-normal distribution and multiplies by the time scale.
package provider
