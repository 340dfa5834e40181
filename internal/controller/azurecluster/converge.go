package azurecluster

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// converge brings Azure one pass closer to the spec.
func (r *Reconciler) converge(ctx context.Context, in *input) (ctrl.Result, error) {
	var err error
	if in.controlPlaneSize, err = r.controlPlaneSize(ctx, in.cluster); err != nil {
		return ctrl.Result{}, err
	}
	fingerprint, err := in.fingerprint()
	if err != nil {
		return ctrl.Result{}, err
	}
	if left := r.settled.Remaining(in.azureCluster, fingerprint); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}

	ctx = facts.Asking(ctx, in.object(), fingerprint)
	planned := r.planInput(in, in.access.SubscriptionID)
	if errs := cluster.Unsupported(planned); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	planned.Facts, err = r.Facts.Cluster(ctx, in.access.Client, planned, r.wake.Func(in.key))
	if err != nil {
		return reportProblem(in, err), nil
	}
	// Only a network that is being made gains from going ahead without the zones; one that stands must not look unfinished.
	provisioned := in.azureCluster.Status.Initialization.Provisioned != nil
	if planned.Facts.ZonesPending && (provisioned || cluster.NamesZones(planned)) {
		return ctrl.Result{}, nil
	}
	if errs := cluster.Check(planned); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	graph, err := cluster.Plan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan: %w", err)
	}
	// What is planned is remembered before it is made, so that what a later plan does not want any more is found.
	remembered := cluster.RememberTags(planned)
	remembered[cluster.PlannedAnnotation] = cluster.Remember(planned, graph)
	if annotation.Set(in.azureCluster, remembered) {
		if err := in.changes.Write(ctx); err != nil {
			return ctrl.Result{}, fmt.Errorf("remember the plan: %w", err)
		}
	}
	request := r.request(in, planned, graph)
	request.Prune = cluster.Prune(planned, graph)
	found := takenover.Of(in.azureCluster.Annotations)
	request.Leave = found.Leave
	outcome, err := r.Engine.Converge(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("converge: %w", err)
	}
	in.story.Saw(outcome)

	inventory.Set(in.azureCluster, outcome.Inventory)
	annotation.Set(in.azureCluster, map[string]string{plan.MadeAnnotation: plan.Made(planned, graph, outcome), infrav1.TakenOverAnnotation: found.Settled(outcome)})
	reportConverged(in, planned, outcome)
	if !outcome.Done() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	settledPlan := cluster.SettledTags(planned)
	settledPlan[cluster.PlannedAnnotation] = cluster.Settled(planned, graph)
	annotation.Set(in.azureCluster, settledPlan)
	// The status that this pass writes does not change the fingerprint, the endpoint in the spec does.
	fingerprint, err = in.fingerprint()
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.settled.Settle(in.key, fingerprint)}, nil
}

// fingerprint is of everything that decides what a pass makes.
func (in *input) fingerprint() (settled.Input, error) {
	return settled.Fingerprint(in.cluster.Spec, in.azureCluster.Spec, in.azureCluster.Annotations, in.access.Key, in.controlPlaneSize)
}

// planInput is what the plan is computed from, without the facts. The object is defaulted as the webhook does it, for
// those that were stored before a default existed.
func (r *Reconciler) planInput(in *input, subscription string) plan.ClusterInput {
	defaulted := in.azureCluster.DeepCopy()
	webhook.DefaultAzureCluster(defaulted)
	return plan.ClusterInput{
		Cluster:          in.cluster,
		AzureCluster:     defaulted,
		SubscriptionID:   subscription,
		ControlPlaneSize: in.controlPlaneSize,
		Features:         r.Features,
	}
}

func (r *Reconciler) request(in *input, planned plan.ClusterInput, graph *arm.Graph) engine.Request {
	key, value := plan.OwnerTag(planned)
	return engine.Request{
		Object:    in.object(),
		Client:    in.access.Client,
		Owner:     engine.Owner{TagKey: key, TagValue: value},
		Graph:     graph,
		Inventory: inventory.Of(in.azureCluster),
		Wake:      r.wake.Func(in.key),
		Anew:      lifecycle.Requested(in.azureCluster),
	}
}
