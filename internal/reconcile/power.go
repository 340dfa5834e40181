package reconcile

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stopping"
)

// Power is what annotations ask of the VMs of an object, and how far the kind has carried it out.
type Power struct {
	stopping.Request
	// Starting is set while the VMs start that the provider has stopped, or that the annotation asks to start.
	Starting bool
	// known is set once the annotations were read.
	known bool
	// startingSince is when Starting began, as far as the condition Stopped shows it.
	startingSince time.Time
	// message and done are what the kind reported. reported is set once it did.
	message        string
	done, reported bool
	// impossible is set if Azure cannot stop the VMs.
	impossible bool
}

// IsRequested reports whether VMs have to be stopped or started.
func (p *Power) IsRequested() bool { return p != nil && (p.Stop || p.Starting) }

// Report records how far the request is carried out. message describes the VMs in one sentence.
func (p *Power) Report(done bool, message string) {
	p.done, p.message, p.reported = done, message, true
}

// ReportImpossible records that Azure cannot stop the VMs. message describes the cause and the remedy.
func (p *Power) ReportImpossible(message string) {
	p.Report(false, message)
	p.impossible = true
}

// Reason returns the reason of conditions of VMs that are not available because of the request.
func (p *Power) Reason() string {
	switch {
	case !p.Stop:
		return infrav1.StartingReason
	case p.impossible:
		return infrav1.NotSupportedReason
	case p.done:
		return infrav1.StoppedAsRequestedReason
	}
	return infrav1.StoppingReason
}

// Describe returns the message of conditions with that reason.
func (p *Power) Describe() string {
	if !p.Stop || p.Cause == "" {
		return p.message
	}
	return fmt.Sprintf("%s. This is because of %s. To start, set %s to \"false\"", p.message, p.Cause, infrav1.StopAnnotation)
}

// readPower reads what annotations ask of the object's VMs. The condition Stopped remembers that the provider has stopped them.
func (a *azureReconciliation[O, I]) readPower() error {
	if !a.declaration.Stoppable {
		a.warnOfStopAnnotations()
		return nil
	}
	var cluster metav1.Object
	if a.target.Cluster != nil && !a.declaration.StopsWithCluster {
		cluster = a.target.Cluster
	}
	request, errs := stopping.ReadRequest(a.Now(), a.declaration.Name, a.object, cluster)
	if len(errs) > 0 {
		return RefuseSpec(errs)
	}
	power := a.session.Power
	power.Request, power.known, a.changesAt = request, true, request.Until
	if stopped := conditions.Get(a.object, infrav1.StoppedCondition); !request.Stop && (stopped != nil || request.Run) {
		power.Starting = true
		if stopped != nil && stopped.Reason == infrav1.StartingReason {
			power.startingSince = stopped.LastTransitionTime.Time
		}
	}
	return nil
}

// warnOfStopAnnotations warns of annotations on an object without VMs of its own, where they have no effect.
func (a *azureReconciliation[O, I]) warnOfStopAnnotations() {
	for _, name := range []string{infrav1.StopAnnotation, infrav1.StopScheduleAnnotation} {
		if _, ok := a.object.GetAnnotations()[name]; ok {
			a.recording.AddIgnored(fmt.Sprintf("the annotation %s has no effect on an %s. Set it on the Cluster, or on an AzureMachine, an AzureMachinePool, "+
				"a pool of AKS or a control plane of AKS", name, a.declaration.Name))
		}
	}
}

// reportPower sets the condition Stopped of an object whose VMs are being stopped or started, and removes it from any other. The condition
// stays while the annotations cannot be read, because only it shows that the provider stopped the VMs.
func (a *azureReconciliation[O, I]) reportPower() {
	power := a.session.Power
	switch {
	case power == nil, !power.known:
	case !power.IsRequested(), power.Starting && power.done:
		conditions.Delete(a.object, infrav1.StoppedCondition)
	case power.reported:
		stopped := metav1.Condition{Type: infrav1.StoppedCondition, Status: metav1.ConditionFalse, Reason: power.Reason(), Message: power.Describe()}
		if power.Stop && power.done {
			stopped.Status = metav1.ConditionTrue
		}
		conditions.Set(a.object, stopped)
	}
}

// boundBy returns when the next reconciliation is due: after, but not later than a moment that is known to change the object; 0 is never.
func boundBy(after time.Duration, now, moment time.Time) time.Duration {
	if moment.IsZero() {
		return after
	}
	left := max(moment.Sub(now), time.Second)
	if after == 0 {
		return left
	}
	return min(after, left)
}

// heldBy is the value of Cluster API's annotation on Machines that the provider holds. Other values are those of users.
const heldBy = infrav1.StopAnnotation

// nodeGrace is how long the Node of a VM that was started may take until MachineHealthChecks count it again.
const nodeGrace = 20 * time.Minute

// HoldRemediation keeps MachineHealthChecks from replacing the Machine of a VM that is stopped, by Cluster API's annotation
// cluster.x-k8s.io/skip-remediation. It leaves an annotation of a user as it is.
func (s Session) HoldRemediation(ctx context.Context, c client.Client, machine *clusterv1.Machine) error {
	if _, ok := machine.Annotations[clusterv1.MachineSkipRemediationAnnotation]; ok || s.Observing {
		return nil
	}
	return patchSkipRemediation(ctx, c, machine, func(annotations map[string]string) {
		annotations[clusterv1.MachineSkipRemediationAnnotation] = heldBy
	})
}

// ReleaseRemediation ends HoldRemediation once the Node of a started VM is Ready, or has not become Ready for a long time. It reports
// whether the Machine is released.
func (s Session) ReleaseRemediation(ctx context.Context, c client.Client, machine *clusterv1.Machine) (released bool, err error) {
	if machine.Annotations[clusterv1.MachineSkipRemediationAnnotation] != heldBy || s.Observing {
		return true, nil
	}
	since := s.Power.startingSince
	if !conditions.IsTrue(machine, clusterv1.MachineNodeReadyCondition) && (since.IsZero() || s.Now().Sub(since) < nodeGrace) {
		return false, nil
	}
	return true, patchSkipRemediation(ctx, c, machine, func(annotations map[string]string) {
		delete(annotations, clusterv1.MachineSkipRemediationAnnotation)
	})
}

func patchSkipRemediation(ctx context.Context, c client.Client, machine *clusterv1.Machine, change func(map[string]string)) error {
	changed := machine.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	change(changed.Annotations)
	if err := c.Patch(ctx, changed, client.MergeFrom(machine)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("patch %s of Machine %s: %w", clusterv1.MachineSkipRemediationAnnotation, machine.Name, err)
	}
	return nil
}
