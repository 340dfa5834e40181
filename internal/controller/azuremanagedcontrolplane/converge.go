package azuremanagedcontrolplane

import (
	"context"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/inventory"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/lifecycle"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/report"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/settled"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/managed"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
)

// converge brings Azure one pass closer to the spec.
func (r *Reconciler) converge(ctx context.Context, in *input) (ctrl.Result, error) {
	var err error
	if in.planned, err = managed.Input(ctx, r.Client, in.cluster, in.controlPlane, in.access.SubscriptionID); err != nil {
		return ctrl.Result{}, err
	}
	fingerprint, err := in.fingerprint()
	if err != nil {
		return ctrl.Result{}, err
	}
	if left := r.settled.Remaining(in.controlPlane, fingerprint); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	if err := r.ask(facts.Asking(ctx, in.object(), fingerprint), in); err != nil {
		return reportProblem(in, err), nil
	}
	if errs := plan.Check(in.planned); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	graph, extras, err := plan.Plan(in.planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan: %w", err)
	}
	if err := r.remember(ctx, in, graph, extras); err != nil {
		return ctrl.Result{}, fmt.Errorf("remember the plan: %w", err)
	}
	request := r.request(in, graph)
	request.Prune = plan.Prune(in.planned, graph)
	found := takenover.Of(in.controlPlane.Annotations)
	request.Leave = found.Leave
	outcome, err := r.Engine.Converge(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("converge: %w", err)
	}
	in.story.Saw(outcome)
	inventory.Set(in.controlPlane, outcome.Inventory)
	annotation.Set(in.controlPlane, map[string]string{infrav1.TakenOverAnnotation: found.Settled(outcome)})
	reportConverged(in, outcome, extras)
	made, _ := outcome.Result(plan.ClusterID(in.planned))
	if errs := managed.WrongSizes(ctx, r.Facts, in.access.Client, in.planned, made, in.planned.Pools...); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	use, err := r.use(ctx, in, outcome, extras)
	if err != nil {
		return reportUnusable(in, err), nil
	}
	reportSummary(in)
	if !outcome.Done() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	annotation.Set(in.controlPlane, map[string]string{plan.PlannedAnnotation: plan.Settled(in.planned, graph)})
	managed.SetSent(in.controlPlane, extras.SettledPaths, extras.Kept)
	if !conditions.IsTrue(in.controlPlane, infrav1.ReadyCondition) {
		return ctrl.Result{RequeueAfter: min(use, unhealthyRetry)}, nil
	}
	// The status that this pass writes does not change the fingerprint, the endpoint in the spec does.
	if fingerprint, err = in.fingerprint(); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.settled.SettleFor(in.key, fingerprint, use)}, nil
}

// unhealthyRetry is how soon a cluster is looked at again that is in place and not usable or not healthy.
const unhealthyRetry = time.Minute

// ask fills in what the plan wants to know of Azure.
func (r *Reconciler) ask(ctx context.Context, in *input) (err error) {
	c := in.access.Client
	if err := r.Facts.Region(ctx, c, in.planned.SubscriptionID, in.planned.ControlPlane.Spec.Location); err != nil {
		return err
	}
	key, value := plan.OwnerTag(in.planned)
	if in.planned.Facts.VNet, err = r.Facts.VirtualNetwork(ctx, c, plan.VNetID(in.planned), key, value); err != nil {
		return err
	}
	if in.planned.Facts.Subnet, err = r.Facts.Resource(ctx, c, plan.SubnetID(in.planned)); err != nil {
		return err
	}
	in.planned.Facts.Cluster, err = r.Facts.Resource(ctx, c, plan.ClusterID(in.planned))
	return err
}

// remember stores what is planned before it is made, so that what a later plan does not want any more is found.
func (r *Reconciler) remember(ctx context.Context, in *input, graph *arm.Graph, extras plan.Extras) error {
	changed := managed.SetSent(in.controlPlane, extras.SentPaths)
	changed = annotation.Set(in.controlPlane, map[string]string{plan.PlannedAnnotation: plan.Remember(in.planned, graph)}) || changed
	if !changed {
		return nil
	}
	return in.changes.Write(ctx)
}

// fingerprint covers everything a pass is computed from. Of the pools it is what the cluster's own PUT depends on.
func (in *input) fingerprint() (settled.Input, error) {
	var pools []string
	for _, pool := range in.planned.Pools {
		version := ""
		if pool.MachinePool != nil {
			version = pool.MachinePool.Spec.Template.Spec.Version
		}
		pools = append(pools, strings.Join([]string{pool.AzurePool.Name, pool.AzurePool.Spec.Mode, version}, "/"))
	}
	return settled.Fingerprint(in.cluster.Spec, in.controlPlane.Spec, in.controlPlane.Annotations, pools, managed.SecretValues(in.planned), in.access.Key)
}

func (r *Reconciler) request(in *input, graph *arm.Graph) engine.Request {
	key, value := plan.OwnerTag(in.planned)
	return engine.Request{
		Object:    in.object(),
		Client:    in.access.Client,
		Owner:     engine.Owner{TagKey: key, TagValue: value},
		Graph:     graph,
		Inventory: inventory.Of(in.controlPlane),
		Wake:      r.wake.Func(in.key),
		Anew:      lifecycle.Requested(in.controlPlane),
	}
}

// use makes a cluster that is in place usable: kubeconfigs, issuer, endpoint and versions. It returns how long that holds;
// before the cluster is in place it does nothing.
func (r *Reconciler) use(ctx context.Context, in *input, outcome arm.Outcome, extras plan.Extras) (time.Duration, error) {
	result, ok := outcome.Result(plan.ClusterID(in.planned))
	if !ok || len(result.Observed) == 0 {
		return r.Resync, nil
	}
	observed := result.Observed
	reportObserved(in, observed)
	if !result.Done() || in.controlPlane.Spec.ControlPlaneEndpoint.Host == "" {
		return r.Resync, nil
	}
	credentials, err := r.credentials(ctx, in, observed)
	if err != nil {
		return 0, err
	}
	if err := r.export(ctx, in, observed, extras.Exports, credentials); err != nil {
		return 0, err
	}
	conditions.Set(in.controlPlane, metav1.Condition{Type: infrav1.KubeconfigReadyCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason})
	status := &in.controlPlane.Status
	status.Initialization.ControlPlaneInitialized = new(true)
	status.Ready, status.Initialized = true, true
	r.health(ctx, in)
	// Nobody should wait for a workload cluster that may be out of reach.
	reportSummary(in)
	if err := in.changes.Write(ctx); err != nil {
		return 0, err
	}
	conditions.Set(in.controlPlane, r.discovery(ctx, credentials.kubeconfig))
	return min(r.Resync, credentials.holds), nil
}

// versions are the version of the control plane as AKS runs it, as Cluster API wants to see it.
func versions(version string) []clusterv1.StatusVersion {
	if version == "" {
		return nil
	}
	return []clusterv1.StatusVersion{{Version: version}}
}
