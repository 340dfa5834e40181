// Package harness runs the provider's manager in process between a real kube-apiserver and the simulated Azure.
//
// Its promise: a test package has one Environment (kube-apiserver, CRDs, webhooks), and each test has a Stage of its own (namespace,
// simulator, managers), so tests run side by side without seeing each other's requests, faults or objects. The harness plays Cluster
// API's part: owner references, labels, and the fields that Cluster API writes into a Cluster. When a test ends its stage checks that
// no secret value showed up in logs, conditions, events or the simulator's request log.
package harness
