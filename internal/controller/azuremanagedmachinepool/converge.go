package azuremanagedmachinepool

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
)

const (
	// autoscaledResync is how soon an autoscaled pool is looked at again: nobody tells when AKS has changed it.
	autoscaledResync = time.Minute
	// instancesRetry is how soon the instances are read again when they are not as many as the pool says.
	instancesRetry = 5 * time.Second
)

// converge brings Azure one pass closer to the spec.
func (r *Reconciler) converge(ctx context.Context, in *input) (ctrl.Result, error) {
	if err := r.prepare(ctx, in); err != nil {
		return ctrl.Result{}, err
	}
	fingerprint, err := in.fingerprint()
	if err != nil {
		return ctrl.Result{}, err
	}
	if left := r.settled.Remaining(in.azurePool, fingerprint); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	if err := r.ask(facts.Asking(ctx, in.object(), fingerprint), in); err != nil {
		return reportProblem(in, err), nil
	}
	if errs := plan.CheckPool(in.planned, in.pool); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	graph, extras, err := plan.PoolPlan(in.planned, in.pool)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan: %w", err)
	}
	if managed.SetSent(in.azurePool, extras.SentPaths) {
		if err := in.changes.Write(ctx); err != nil {
			return ctrl.Result{}, fmt.Errorf("remember the plan: %w", err)
		}
	}
	outcome, err := r.Engine.Converge(ctx, r.request(in, graph))
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("converge: %w", err)
	}
	in.story.Saw(outcome)
	inventory.Set(in.azurePool, outcome.Inventory)
	reportConverged(in, outcome, extras)
	result, _ := outcome.Result(plan.PoolID(in.planned, in.pool))
	if errs := managed.WrongSizes(ctx, r.Facts, in.access.Client, in.planned, result, in.pool); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	if !outcome.Done() {
		reportSummary(in)
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	managed.SetSent(in.azurePool, extras.SettledPaths, extras.Kept)
	complete, err := r.instances(ctx, in, result.Observed)
	if err != nil {
		return reportScaleSet(in, err), nil
	}
	if err := r.follow(ctx, in, result.Observed); err != nil {
		return ctrl.Result{}, err
	}
	reportSummary(in)
	if !complete {
		return ctrl.Result{RequeueAfter: instancesRetry}, nil
	}
	if fingerprint, err = in.fingerprint(); err != nil {
		return ctrl.Result{}, err
	}
	most := r.Resync
	if plan.ObservePool(result.Observed).Properties.EnableAutoScaling {
		most = min(most, autoscaledResync)
	}
	return ctrl.Result{RequeueAfter: r.settled.SettleFor(in.key, fingerprint, most)}, nil
}

// prepare gathers what the plan is computed from, without the facts.
func (r *Reconciler) prepare(ctx context.Context, in *input) (err error) {
	in.pool = managed.Pool(in.azurePool, in.machinePool)
	in.planned, err = managed.Input(ctx, r.Client, in.cluster, in.controlPlane, in.access.SubscriptionID)
	return err
}

// ask fills in what the plan wants to know of Azure.
func (r *Reconciler) ask(ctx context.Context, in *input) (err error) {
	c := in.access.Client
	if in.planned.Facts.Cluster, err = r.Facts.Resource(ctx, c, plan.ClusterID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.AgentPool, err = r.Facts.Resource(ctx, c, plan.PoolID(in.planned, in.pool))
	return err
}

// instances reads the virtual machines of the pool, and tells whether they are as many as the pool says.
func (r *Reconciler) instances(ctx context.Context, in *input, observed json.RawMessage) (complete bool, err error) {
	group := arm.ResourceGroupID(in.planned.SubscriptionID, plan.NodeResourceGroup(in.planned))
	ids, exists, err := r.Facts.PoolInstances(ctx, in.access.Client, group, plan.PoolName(in.pool))
	if err != nil {
		return false, err
	}
	count := count(observed)
	reportInstances(in, providerIDs(ids), count, exists)
	return len(ids) == int(count), nil
}

// count is the number of nodes that Azure says the pool has or is to have.
func count(observed json.RawMessage) int32 {
	if count := plan.ObservePool(observed).Properties.Count; count != nil {
		return *count
	}
	return 0
}

// fingerprint covers everything a pass is computed from. Of the control plane it is what pools depend on; its status says
// when the cluster was upgraded by AKS.
func (in *input) fingerprint() (settled.Input, error) {
	return settled.Fingerprint(in.controlPlane.Spec, in.controlPlane.Status.AutoUpgradeVersion, in.controlPlane.Status.Version,
		in.machinePool.Spec, in.machinePool.Annotations, in.azurePool.Spec, in.azurePool.Annotations, managed.SecretValues(in.planned), in.access.Key)
}

func (r *Reconciler) request(in *input, graph *arm.Graph) engine.Request {
	key, value := plan.OwnerTag(in.planned)
	return engine.Request{
		Object:    in.object(),
		Client:    in.access.Client,
		Owner:     engine.Owner{TagKey: key, TagValue: value},
		Graph:     graph,
		Inventory: inventory.Of(in.azurePool),
		Wake:      r.wake.Func(in.key),
		Anew:      lifecycle.Requested(in.azurePool),
	}
}
