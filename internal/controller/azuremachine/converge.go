package azuremachine

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
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/takenover"
	"sigs.k8s.io/cluster-api-provider-azure/internal/webhook"

	"sigs.k8s.io/cluster-api/util"
)

// converge brings Azure one pass closer to the spec.
func (r *Reconciler) converge(ctx context.Context, in *input) (ctrl.Result, error) {
	fingerprint, err := in.fingerprint()
	if err != nil {
		return ctrl.Result{}, err
	}
	if left := r.settled.Remaining(in.azureMachine, fingerprint); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}

	ctx = facts.Asking(ctx, in.object(), fingerprint)
	planned := r.planInput(in, in.access.SubscriptionID)
	if errs := machine.Unsupported(planned); len(errs) > 0 {
		reportRefusal(in, errs)
		return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
	}
	planned.MachineFacts, err = r.Facts.Machine(ctx, in.access.Client, planned)
	if err != nil {
		return reportProblem(in, err), nil
	}
	if in.azureMachine.Spec.ProviderID != nil && !planned.MachineFacts.VMExists {
		reportVMGone(in, planned)
		return ctrl.Result{RequeueAfter: r.Resync}, nil
	}
	if !planned.MachineFacts.VMExists {
		if planned.BootstrapData, err = r.bootstrapData(ctx, in); err != nil {
			return ctrl.Result{}, err
		}
		if planned.AzureMachine.Spec.OSDisk.OSType == infrav1.WindowsOS {
			planned.AdminPassword = r.passwords.of(in.azureMachine.UID)
		}
		if errs := machine.Check(planned); len(errs) > 0 {
			reportRefusal(in, errs)
			return ctrl.Result{RequeueAfter: report.RefusedRetry}, nil
		}
	}
	graph, err := machine.Plan(planned)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("plan: %w", err)
	}
	if err := r.remember(ctx, in, planned, graph); err != nil {
		return ctrl.Result{}, err
	}
	request := r.request(in, planned, graph)
	request.Prune = machine.Prune(planned, graph)
	found := takenover.Of(in.azureMachine.Annotations)
	request.Leave = found.Leave
	outcome, err := r.Engine.Converge(ctx, request)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("converge: %w", err)
	}
	in.story.Saw(outcome)

	inventory.Set(in.azureMachine, outcome.Inventory)
	annotation.Set(in.azureMachine, map[string]string{infrav1.TakenOverAnnotation: found.Settled(outcome)})
	identities, after := r.addIdentities(ctx, in, planned, outcome)
	reportConverged(in, planned, outcome, identities)
	if !outcome.Done() {
		return ctrl.Result{RequeueAfter: outcome.RetryAfter}, nil
	}
	annotation.Set(in.azureMachine, map[string]string{machine.PlannedAnnotation: machine.Settled(planned, graph)})
	if identities != nil {
		return ctrl.Result{RequeueAfter: after}, nil
	}
	if fingerprint, err = in.fingerprint(); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.settled.Settle(in.key, fingerprint)}, nil
}

// remember stores what is planned before it is made: tags and extensions, so that they are found when a later spec drops
// them. A machine that is new and has no extensions needs nothing stored yet.
func (r *Reconciler) remember(ctx context.Context, in *input, planned plan.MachineInput, graph *arm.Graph) error {
	remembered := map[string]string{machine.PlannedAnnotation: machine.Remember(planned, graph)}
	key, tags := machine.RememberTags(planned)
	if _, written := in.azureMachine.Annotations[key]; written {
		remembered[key] = tags
	}
	if !annotation.Set(in.azureMachine, remembered) {
		return nil
	}
	if err := in.changes.Write(ctx); err != nil {
		return fmt.Errorf("remember the plan: %w", err)
	}
	return nil
}

// fingerprint covers everything a pass is computed from. The providerID counts: the pass that sets it is not the last.
func (in *input) fingerprint() (settled.Input, error) {
	return settled.Fingerprint(in.cluster.Spec, in.azureCluster.Spec, in.machine.Spec, in.machine.Labels,
		in.azureMachine.Spec, in.azureMachine.Annotations, in.access.Key)
}

// planInput is what the plan is computed from, without the facts. The objects are defaulted as the webhook does it, for
// those that were stored before a default existed.
func (r *Reconciler) planInput(in *input, subscription string) plan.MachineInput {
	azureCluster, azureMachine := in.azureCluster.DeepCopy(), in.azureMachine.DeepCopy()
	webhook.DefaultAzureCluster(azureCluster)
	webhook.DefaultAzureMachine(azureMachine, subscription)
	return plan.MachineInput{
		ClusterInput: plan.ClusterInput{
			Cluster:        in.cluster,
			AzureCluster:   azureCluster,
			SubscriptionID: subscription,
			Features:       r.Features,
			Facts:          plan.ClusterFacts{Zones: zones(in.azureCluster)},
		},
		Machine:      in.machine,
		AzureMachine: azureMachine,
		ControlPlane: util.IsControlPlaneMachine(in.machine),
	}
}

// zones are the availability zones of the region as the AzureCluster found them.
func zones(azureCluster *infrav1.AzureCluster) []string {
	var out []string
	for _, domain := range azureCluster.Status.FailureDomains.Domains {
		out = append(out, domain.Name)
	}
	return out
}

func (r *Reconciler) request(in *input, planned plan.MachineInput, graph *arm.Graph) engine.Request {
	key, value := plan.OwnerTag(planned.ClusterInput)
	return engine.Request{
		Object: in.object(),
		Client: in.access.Client,
		Owner:  engine.Owner{TagKey: key, TagValue: value},
		Graph:  graph,
		// Role assignments carry no tags.
		Inventory: inventory.Of(in.azureMachine),
		Wake:      r.wake.Func(in.key),
		Anew:      lifecycle.Requested(in.azureMachine),
	}
}
