// Package rollout decides the next actions on the VMs of a pool: which VMs are removed, and how many there should be.
//
// It is pure: DecideActions is a function of the spec and the observed state. These promises hold, whatever happens to VMs
// meanwhile, whenever a process dies, and however often the spec changes:
//
//   - No VM with a Ready node is given up when fewer than Replicas - MaxUnavailable would be left, except one that the user marked
//     when the pool gets smaller.
//   - There are never more VMs than Replicas + MaxSurge because of it.
//   - No Ready VM of the latest model is given up while there is one of an older model, or a broken one, with the same exception.
//   - A mark, cluster.x-k8s.io/delete-machine, only orders VMs when the pool gets smaller. Alone it changes nothing.
//   - Azure never chooses which VM goes: VMs go by name, and the size of the scale set is only lowered to the number of VMs
//     that there are.
//   - A model that Azure would refuse is never sent: VMs are of at most Spec.MaxModels models. Close to that, VMs that differ in bootstrap
//     data and tags only are brought to the latest model in place. When there are none, those of the oldest model are replaced.
//     A new template waits while VMs are of all models but two, so that one stays in reserve.
//   - A list that is older than the last write leads to no action.
//   - Where VMs come up, everything ends with Replicas VMs of the latest model.
//
// A VM goes in two steps. Its Machine is deleted first, so that Cluster API cordons and drains the node with its own rules and
// timeouts; when nothing holds the VM any more, Azure deletes it.
package rollout
