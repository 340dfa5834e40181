package azuremanagedcontrolplane

import (
	"cmp"
	"context"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

// settlingPeriod is how long after its creation Azure Resource Health may report a healthy cluster as degraded or unknown.
const settlingPeriod = time.Hour

// healthReading is the health of a cluster of this age in Azure Resource Health, or why it could not be read.
type healthReading struct {
	health facts.Health
	err    error
	age    time.Duration
}

// readHealth reads the health of the cluster, if that is enabled.
func (k *Kind) readHealth(ctx context.Context, session reconcile.Session, in *input) *healthReading {
	if !k.ResourceHealth {
		return nil
	}
	out := &healthReading{age: session.Now().Sub(in.controlPlane.CreationTimestamp.Time)}
	out.health, out.err = k.Facts.ReadHealth(ctx, session.Access.Client, plan.ClusterID(in.planned))
	return out
}

// reportHealth sets the condition about Azure Resource Health. If Azure could not be asked, the condition is Unknown and not False.
func reportHealth(in *input) {
	if in.health.err != nil {
		condition, _ := status.ProblemCondition(infrav1.AzureResourceAvailableCondition, in.health.err)
		if condition.Status == metav1.ConditionUnknown {
			status.SetCondition(in.controlPlane, condition)
			return
		}
		condition.Status = metav1.ConditionUnknown
		conditions.Set(in.controlPlane, condition)
		return
	}
	conditions.Set(in.controlPlane, healthCondition(in.health.health, in.health.age))
}

// healthCondition returns the condition for the health of a cluster of this age. It is pure.
func healthCondition(health facts.Health, age time.Duration) metav1.Condition {
	condition := metav1.Condition{Type: infrav1.AzureResourceAvailableCondition, Status: metav1.ConditionTrue, Reason: infrav1.ReadyReason}
	if strings.EqualFold(health.State, "Available") || !strings.EqualFold(health.State, "Unavailable") && age < settlingPeriod {
		return condition
	}
	condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.AzureResourceUnavailableReason
	condition.Message = "Azure Resource Health reports " + cmp.Or(health.State, "nothing")
	if health.Reason != "" {
		condition.Message += " (" + health.Reason + ")"
	}
	condition.Message += ": " + cmp.Or(health.Summary, "no details")
	return condition
}
