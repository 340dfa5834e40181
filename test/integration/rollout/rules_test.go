package rollout_test

import (
	"context"
	"net/http"
	"strings"
	"sync"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// rules are the promises of package rollout, checked whenever the manager does something that could break them.
type rules struct {
	world *world

	mu sync.Mutex
	// replicas is 0 until there is a pool whose VMs count.
	limits   rollout.Limits
	replicas int
	broken   []string
	// fewest and most are how many Ready VMs and how many VMs at all there were.
	fewest, most int
}

// beginChecks begins to check.
func (r *rules) beginChecks() {
	r.world.t.Helper()
	s := r.world.settings
	limits, err := rollout.ResolveLimits(s.strategy.MaxSurge, s.strategy.MaxUnavailable, int(s.replicas))
	if err != nil {
		r.world.t.Fatal(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.limits, r.replicas, r.fewest, r.most = limits, int(s.replicas), int(s.replicas), 0
}

// endChecks ends to check.
func (r *rules) endChecks() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replicas = 0
}

func (r *rules) recordBreach(what string) { r.broken = append(r.broken, what) }

// checkRollout fails the test when a rule was broken in a rollout.
func (r *rules) checkRollout(when string) {
	r.world.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, what := range r.broken {
		r.world.t.Errorf("%s: %s", when, what)
	}
	r.broken = nil
}

// listInstances returns the VMs of the scale set as Azure has them, by name of their objects.
func (r *rules) listInstances() map[string]body.Object {
	out := map[string]body.Object{}
	for _, resource := range r.world.Sim.State() {
		id := body.String(resource, "id")
		if before, number, ok := strings.Cut(id, "/virtualMachineScaleSets/"+poolName+"/virtualMachines/"); ok && before != "" &&
			!strings.Contains(number, "/") {
			out[poolName+"-"+number] = resource
		}
	}
	return out
}

// listStaying returns the Machines whose Nodes are Ready and that are not being deleted.
func (r *rules) listStaying(ctx context.Context) map[string]bool {
	machines := &clusterv1.MachineList{}
	if err := r.world.Kubernetes.List(ctx, machines); err != nil {
		r.recordBreach(err.Error())
	}
	out := map[string]bool{}
	for i := range machines.Items {
		if machine := &machines.Items[i]; machine.DeletionTimestamp.IsZero() && conditions.IsTrue(machine, clusterv1.MachineNodeReadyCondition) {
			out[machine.Name] = true
		}
	}
	return out
}

// countReady counts Ready VMs.
func (r *rules) countReady(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replicas > 0 {
		r.fewest = min(r.fewest, len(r.listStaying(ctx)))
	}
}

// givenUp is called before the manager deletes an object.
func (r *rules) givenUp(ctx context.Context, obj client.Object) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, machine := obj.(*clusterv1.Machine); !machine || r.replicas == 0 {
		return
	}
	ready, vms := r.listStaying(ctx), r.listInstances()
	vm, there := vms[obj.GetName()]
	if !there || !ready[obj.GetName()] {
		return
	}
	if left, floor := len(ready)-1, r.replicas-r.limits.MaxUnavailable; left < floor {
		r.recordBreach(obj.GetName() + " was given up, though it leaves fewer Ready VMs than there have to be")
	}
	if r.world.isOutdated(vm) {
		return
	}
	for name, other := range vms {
		if r.world.isOutdated(other) && ready[name] {
			r.recordBreach(obj.GetName() + " is as wanted and was given up before " + name + ", which is not")
		}
	}
}

func (w *world) isOutdated(vm body.Object) bool { return body.String(vm, "sku.name") != w.size }

// checkWrite is called after Azure has answered a write.
func (r *rules) checkWrite(request *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replicas == 0 || !strings.Contains(request.URL.Path, "/virtualMachineScaleSets/") {
		return
	}
	vms := r.listInstances()
	r.most = max(r.most, len(vms))
	if len(vms) > r.replicas+r.limits.MaxSurge {
		r.recordBreach("after " + request.Method + " " + baseName(request.URL.Path) + " there are more VMs than there may be")
	}
	if request.Method == http.MethodPut {
		return
	}
	// Only a VM whose AzureMachinePoolMachine is being deleted may be deleted in Azure: its node has been drained.
	machines := &infrav1.AzureMachinePoolMachineList{}
	if err := r.world.Kubernetes.List(request.Context(), machines); err != nil {
		return
	}
	for _, machine := range machines.Items {
		if vm := vms[machine.Name]; machine.DeletionTimestamp.IsZero() && body.String(vm, "properties.provisioningState") == "Deleting" {
			r.recordBreach(machine.Name + " is deleted in Azure, and its node was not drained")
		}
	}
}

func baseName(path string) string { return path[strings.LastIndex(path, "/")+1:] }
