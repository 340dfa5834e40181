package azurecluster

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/cluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// converge brings Azure one pass closer to the spec.
func (r *Reconciler) converge(ctx context.Context, in *input) (ctrl.Result, error) {
	fingerprint, err := settled.Fingerprint(in.cluster.Spec, in.azureCluster.Spec, in.azureCluster.Annotations, in.access.Key)
	if err != nil {
		return ctrl.Result{}, err
	}
	// The pass that settled the object may have read it from the cache before what the pass before it wrote had arrived
	// there, and so have seen nothing to write: then what is stored still says that something is waited for.
	if left := r.settled.Remaining(in.key, fingerprint); left > 0 && conditions.IsTrue(in.azureCluster, infrav1.ReadyCondition) {
		return ctrl.Result{RequeueAfter: left}, nil
	}

	planned := r.planInput(in)
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
	if annotate(in.azureCluster, remembered) {
		if err := r.patch(ctx, in); err != nil {
			return ctrl.Result{}, fmt.Errorf("remember the plan: %w", err)
		}
	}
	request := r.request(in, planned, graph)
	request.Prune = cluster.Prune(planned, graph)
	outcome, err := r.Engine.Converge(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("converge: %w", err)
	}

	if err := inventory.Set(in.azureCluster, outcome.Inventory); err != nil {
		return ctrl.Result{}, err
	}
	reportConverged(in, planned, outcome)
	if !outcome.Done() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	settledPlan := cluster.SettledTags(planned)
	settledPlan[cluster.PlannedAnnotation] = cluster.Settled(planned, graph)
	annotate(in.azureCluster, settledPlan)
	// The status that this pass writes does not change the fingerprint, the endpoint in the spec does.
	fingerprint, err = settled.Fingerprint(in.cluster.Spec, in.azureCluster.Spec, in.azureCluster.Annotations, in.access.Key)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.settled.Settle(in.key, fingerprint)}, nil
}

// annotate sets annotations, or takes away those with an empty value, and tells whether anything changed.
func annotate(obj metav1.Object, values map[string]string) (changed bool) {
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	for key, value := range values {
		changed = changed || annotations[key] != value
		annotations[key] = value
		if value == "" {
			delete(annotations, key)
		}
	}
	obj.SetAnnotations(annotations)
	return changed
}

// planInput is what the plan is computed from, without the facts. The object is defaulted as the webhook does it, for
// those that were stored before a default existed.
func (r *Reconciler) planInput(in *input) plan.ClusterInput {
	defaulted := in.azureCluster.DeepCopy()
	webhook.DefaultAzureCluster(defaulted)
	return plan.ClusterInput{
		Cluster:        in.cluster,
		AzureCluster:   defaulted,
		SubscriptionID: in.access.SubscriptionID,
		Features:       r.Features,
	}
}

func (r *Reconciler) request(in *input, planned plan.ClusterInput, graph *arm.Graph) engine.Request {
	key, value := plan.OwnerTag(planned)
	return engine.Request{
		Object:    "AzureCluster/" + in.key.String(),
		Client:    in.access.Client,
		Owner:     engine.Owner{TagKey: key, TagValue: value},
		Graph:     graph,
		Inventory: inventory.Of(in.azureCluster),
		Wake:      r.wake.Func(in.key),
	}
}
