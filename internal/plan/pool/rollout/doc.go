// Package rollout decides the next actions on the VMs of a pool: which VMs are removed, and how many there should be.
//
// It is pure: DecideActions is a function of the spec and the observed state. These promises hold, whatever happens to VMs
// meanwhile, whenever a process dies, and however often the spec changes:
//
//   - No VM with a Ready node is deleted if fewer than Replicas - MaxUnavailable would be left, except one that the user marked
//     when the pool gets smaller.
//   - The rollout never raises the number of VMs above Replicas + MaxSurge.
//   - No Ready VM of the latest model is deleted while the pool has one of an older model, or a broken one, with the same exception.
//   - A mark, cluster.x-k8s.io/delete-machine, only orders VMs when the pool gets smaller. Alone it changes nothing.
//   - Azure never chooses which VM goes: VMs go by name, and the size of the scale set is only lowered to the number of VMs
//     that there are.
//   - A model that Azure would refuse is never sent: VMs use at most Spec.MaxModels models. Near this limit, VMs that differ in bootstrap
//     data and tags only are brought to the latest model in place. When there are none, those of the oldest model are replaced.
//     A new template waits while VMs use more than MaxModels - 2 models, so that one model stays in reserve.
//   - A list that is older than the last write leads to no action.
//   - If VMs become Ready, the rollout converges to Replicas VMs of the latest model.
//
// A VM goes in two steps. Its Machine is deleted first, so that Cluster API cordons and drains the node with its own rules and
// timeouts; when nothing holds the VM any more, Azure deletes it.
package rollout
