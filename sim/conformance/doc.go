// Package conformance compares the simulated Azure with recorded traffic of the real one.
//
// The recordings are those of the Azure Service Operator's tests (MIT licence) and of cloud-provider-azure's client library (Apache License
// 2.0); test/recordings/distil makes the data of them that test/recordings/testdata has. Every recording is replayed in
// its order against a simulator of its own, on a virtual clock that follows the
// recorded times. Each answer is compared in status code, in the presence of the headers Azure-AsyncOperation, Location
// and Retry-After, and in the keys of its body at any depth and the code of an error. The simulator may have more keys
// than the recording, not fewer. A second figure also wants the same values and no further keys; there, values that
// Azure generates (GUIDs, times, etags, public addresses, secrets) count as equal. So do values that depend only on the
// time and the author of the recording: the sender of the requests, whose tokens are left out; the latest image and
// patch of Kubernetes, unless a request named them; and the progress of AKS at the time of a poll. values_test.go has
// the forms.
//
// About a ninth of the recordings, chosen by the hash of their name, is held out: their figures are published, their
// disagreements are not. Resource groups are nearly half of all exchanges and agree nearly always; there are sums
// without them. The recordings of the client library have rows of their own, and are all visible.
//
// Facts that the simulator cannot know are taken from the recording before it is replayed:
//
//   - operations last until just after the last answer that shows them running;
//   - a resource that exists at its first request is created before, as it was read or is updated, with the resources that it refers to;
//     all that are read first are created together;
//   - a deleted vault that is read first was made and deleted before;
//   - subscriptions that requests name exist;
//   - policies of the subscription add to clusters, machines, scale sets and groups what no request asks for: policies_test.go has them;
//   - GUIDs that Azure made, also inside of names, lead to those that the simulator made instead;
//   - principals of types that are not served are known, and new ones are refused for as long as Azure refused them;
//   - a server of the gateway that still names the parent of a nested resource has not learnt of the deletion of the group;
//   - a refusal that names the operation it had to wait for comes after the request that began it, and so does a read that
//     names a resource after the request that creates the resource;
//   - versions of Kubernetes that AKS no longer offers stand for those that it offers.
//
// Recorders have removed some facts from the recordings of the client library: times, GUIDs, etags and Retry-After. The etag of a precondition is
// the current one where Azure accepted it, and a present Retry-After is not compared.
//
// The error NotLatestOperation in the status of an operation is not compared: AKS sends it when its database is slow.
//
// docs/conformance.md has the result. The test fails when a type agrees less than written there, when fewer exchanges
// are replayed, and when a disagreement has no reason in the table of known ones.
//
// The package is a module of its own, because its azurecli command and its tests are no part of the simulator.
package conformance
