// Package power sends the start and stop actions for AKS clusters and agent pools, and reports their progress. A call sends at most one action
// and does not wait for its end. It may be repeated. The progress is written only to the conditions in memory.
package power

import (
	"context"
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/managedcluster"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// recheck is how soon a cluster is read again while AKS stops or starts it.
const recheck = 15 * time.Second

// ChangeAKSCluster stops or starts an AKS cluster as annotations ask. It returns the stopReason with the time of the next check while that is
// under way.
// https://learn.microsoft.com/en-us/azure/aks/start-stop-cluster
func ChangeAKSCluster(ctx context.Context, session reconcile.Session, cluster arm.Result) error {
	power := session.Power
	if !power.IsRequested() || !cluster.Managed {
		return nil
	}
	state := managedcluster.ProvisioningState(cluster.Observed)
	moving := state == "" || !managedcluster.IsTerminalState(state)
	if !moving && power.Stop == managedcluster.IsStopped(cluster.Observed) {
		power.Report(true, map[bool]string{true: "The AKS cluster is stopped", false: "The AKS cluster is running"}[power.Stop])
		return nil
	}
	action, progress := "start", "The AKS cluster is being started"
	if power.Stop {
		action, progress = "stop", "The AKS cluster is being stopped"
	}
	power.Report(false, progress)
	if moving {
		return reconcile.RecheckIn(recheck, nil)
	}
	sent := session.RunAction(ctx, engine.Action{Object: session.Name, Method: "POST", ID: cluster.ID, SubPath: action})
	if sent.Err != nil {
		power.Report(false, "AKS does not "+action+" the cluster: "+sent.Err.Error())
		return reconcile.RecheckIn(arm.ReadRetryDelay(sent.Err), sent.Err)
	}
	after := reconcile.UntilResync
	if sent.State == arm.Ready {
		// The cluster is read again to check the result.
		after = time.Second
	}
	return reconcile.RecheckIn(after, nil)
}

// ReportAKSCluster sets the condition of the resources of a control plane, and Available, to False while its cluster is stopped as
// annotations ask.
func ReportAKSCluster(controlPlane conditions.Setter, conditionType string, power *reconcile.Power, observed json.RawMessage) {
	if power.IsRequested() && managedcluster.IsStopped(observed) {
		for _, of := range []string{conditionType, clusterv1.AvailableCondition} {
			conditions.Set(controlPlane, metav1.Condition{Type: of, Status: metav1.ConditionFalse, Reason: power.Reason(),
				Message: power.Describe()})
		}
	}
}
