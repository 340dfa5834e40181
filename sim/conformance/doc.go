// Package conformance holds the simulated Azure against recorded traffic of the real one.
//
// The recordings are those of the Azure Service Operator's tests (MIT licence), read from the module cache and not
// copied. Every recording is replayed in its order against a simulator of its own, on a virtual clock that follows the
// recorded times. Each answer is compared in status code, in the presence of the headers Azure-AsyncOperation, Location
// and Retry-After, and in the keys of its body at any depth and the code of an error. The simulator may have more keys
// than the recording, not fewer. A second figure also wants the same values and no further keys; there, what Azure makes up
// (GUIDs, times, etags, public addresses, secrets) counts as equal. So does what tells only when and by whom was recorded: who
// sent the requests, whose tokens are left out; which image and which patch of Kubernetes was the latest, unless a request named
// it; and how far AKS was at the time of a poll. values_test.go has the forms.
//
// A third of the recordings, chosen by the hash of their name, is out of sight: their figures are published, what disagrees in
// them is told to nobody. Resource groups are nearly half of all exchanges and agree nearly always; there are sums without them.
//
// What the simulator cannot know is taken from the recording before it is replayed:
//
//   - operations last until just after the last answer that shows them running;
//   - what the recording updates without having created it is created before its first request, and updated if that is a read;
//   - a policy of the subscription adds the add-on azurepolicy to clusters, where no request asks for it;
//   - GUIDs that Azure made, also inside of names, lead to those that the simulator made instead;
//   - principals of types that are not served are known, and new ones are refused for as long as Azure refused them;
//   - a refusal that names the operation it had to wait for comes after the request that began it.
//
// docs/conformance.md is the result. The test fails when a type agrees less than written there, when fewer exchanges are
// replayed, and when a disagreement has no reason in the table of known ones.
//
// The package is a module of its own, so that the provider does not depend on that operator.
package conformance
