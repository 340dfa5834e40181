package status

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestSummaryNeedsCurrentReads summarizes a resource that cannot be read again, on objects of each kind whose summary was and was not True.
func TestSummaryNeedsCurrentReads(t *testing.T) {
	const silent, refused = "as last seen; Azure does not answer: timeout", "as last seen; Azure cannot be asked: the client secret has expired"
	for name, test := range map[string]struct {
		reason         string
		before         metav1.ConditionStatus
		resource       metav1.Condition
		status         metav1.ConditionStatus
		want, progress string
	}{
		"all is read": {"it becomes Ready", metav1.ConditionFalse, metav1.Condition{Reason: infrav1.ReadyReason},
			metav1.ConditionTrue, infrav1.ReadyReason, ""},
		"was Ready": {"an outage must not look like a broken object", metav1.ConditionTrue,
			metav1.Condition{Reason: infrav1.LastSeenReason, Message: silent}, metav1.ConditionTrue, infrav1.LastSeenReason, ""},
		"was not Ready": {"its provisioning is not complete", metav1.ConditionFalse,
			metav1.Condition{Reason: infrav1.LastSeenReason, Message: silent}, metav1.ConditionFalse, infrav1.WaitingReason, infrav1.ReconcilingCondition},
		"had no Ready": {"nothing shows that its provisioning is complete", "",
			metav1.Condition{Reason: infrav1.LastSeenReason, Message: silent}, metav1.ConditionFalse, infrav1.WaitingReason, infrav1.ReconcilingCondition},
		"was not Ready, and a person has to act": {"waiting does not help", metav1.ConditionFalse,
			metav1.Condition{Reason: infrav1.LastSeenReason, Message: refused}, metav1.ConditionFalse, infrav1.WaitingReason, infrav1.StalledCondition},
	} {
		for kind, object := range map[string]Object{
			"AzureCluster": &infrav1.AzureCluster{}, "AzureMachine": &infrav1.AzureMachine{}, "AzureMachinePool": &infrav1.AzureMachinePool{},
			"AzureManagedControlPlane": &infrav1.AzureManagedControlPlane{}, "AzureManagedMachinePool": &infrav1.AzureManagedMachinePool{},
			"AzureASOManagedCluster": &infrav1.AzureASOManagedCluster{}, "AzureASOManagedControlPlane": &infrav1.AzureASOManagedControlPlane{},
			"AzureASOManagedMachinePool": &infrav1.AzureASOManagedMachinePool{},
		} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				test.resource.Type, test.resource.Status = infrav1.ResourceGroupReadyCondition, metav1.ConditionTrue
				for _, summary := range []string{infrav1.ReadyCondition, infrav1.NetworkInfrastructureReadyCondition} {
					if test.before != "" {
						conditions.Set(object, metav1.Condition{Type: summary, Status: test.before, Reason: infrav1.ReadyReason})
					}
					SetCondition(object, SummaryCondition(summary, []metav1.Condition{test.resource}))
				}
				SetProgress(object, false)
				got := conditions.Get(object, infrav1.ReadyCondition)
				if got.Status != test.status || got.Reason != test.want {
					t.Errorf("%s: Ready is %s, %s: %s", test.reason, got.Status, got.Reason, got.Message)
				}
				network := conditions.Get(object, infrav1.NetworkInfrastructureReadyCondition)
				if network.Status != test.status || network.Reason != test.want {
					t.Errorf("%s: %s is %s, %s: %s", test.reason, network.Type, network.Status, network.Reason, network.Message)
				}
				for _, progress := range infrav1.ProgressConditions {
					if conditions.IsTrue(object, progress) != (progress == test.progress) {
						t.Errorf("%s: %s is %t", test.reason, progress, conditions.IsTrue(object, progress))
					}
				}
			})
		}
	}
}
