package azuremachinepool

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
)

// TestConditionOfManyModels checks the condition about VMs of many models: the measures that are taken, and those that are not.
func TestConditionOfManyModels(t *testing.T) {
	const count = "The VMs use %d different models of the scale set; Azure allows 10."
	for reason, test := range map[string]struct {
		// inPlace and apart are of how many old models there is a VM each that can be brought to the latest one in place, or cannot.
		inPlace, apart int
		before         metav1.Condition
		elsewhere      bool
		hold           bool
		status         metav1.ConditionStatus
		reason         string
		message        string
	}{
		"few models": {inPlace: 3, status: metav1.ConditionTrue, reason: infrav1.ReadyReason},
		"brought together in place": {inPlace: 4, status: metav1.ConditionTrue, reason: infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count,
				5) + " Azure brings 4 VMs to the latest model in place. They differ in bootstrap data or tags only and are not restarted."},
		"nothing is done yet": {apart: 5, status: metav1.ConditionTrue, reason: infrav1.ReadyReason},
		"replaced": {apart: 7, status: metav1.ConditionFalse, reason: infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count, 8) + " VMs of old models are replaced within the limits of spec.strategy."},
		"the limit is reached": {apart: 9, status: metav1.ConditionFalse, reason: infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count, 10) + " VMs of old models are replaced within the limits of spec.strategy. No VMs are added meanwhile."},
		"an autoscaler owns the size": {apart: 7, elsewhere: true, status: metav1.ConditionTrue, reason: infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count, 8) + " An autoscaler owns the number of VMs, so none is replaced: delete Machines of old VMs."},
		"the template is held": {apart: 7, hold: true,
			before: metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.ScaleSetModelOutOfDateReason,
				Message: "8 of 8 VMs are of an older template"}, status: metav1.ConditionFalse, reason: infrav1.ScaleSetModelLimitReason,
			message: "8 of 8 VMs are of an older template. " + fmt.Sprintf(count,
				8) + " VMs of old models are replaced within the limits of spec.strategy. The new template is applied once VMs of the oldest model " +
				"are gone."},
		"the template is held until VMs are gone": {apart: 6, hold: true, status: metav1.ConditionFalse,
			reason:  infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count, 7) + " The new template is applied once VMs of the oldest model are gone."},
		"the template is held, and an autoscaler owns the size": {apart: 7, hold: true, elsewhere: true, status: metav1.ConditionFalse,
			reason: infrav1.ScaleSetModelLimitReason,
			message: fmt.Sprintf(count,
				8) + " An autoscaler owns the number of VMs, so none is replaced: delete Machines of old VMs. The new template is applied once VMs " +
				"of the oldest model are gone."},
		"after the message of a rollout": {inPlace: 4,
			before: metav1.Condition{Status: metav1.ConditionFalse, Reason: infrav1.ScaleSetModelOutOfDateReason,
				Message: "1 of 5 VMs are of an older template"}, status: metav1.ConditionFalse, reason: infrav1.ScaleSetModelOutOfDateReason,
			message: "1 of 5 VMs are of an older template. " + fmt.Sprintf(count,
				5) + " Azure brings 4 VMs to the latest model in place. They differ in bootstrap data or tags only and are not restarted."},
	} {
		in := &input{wanted: rollout.Spec{MaxModels: rollout.MaxModels, ScaledByAutoscaler: test.elsewhere},
			vms: []pool.Instance{{ID: "latest", ProvisioningState: "Succeeded"}}}
		for n := range test.inPlace + test.apart {
			in.vms = append(in.vms, pool.Instance{ID: arm.ID(fmt.Sprint(n)), ProvisioningState: "Succeeded", Model: fmt.Sprint(n),
				Upgradable: n < test.inPlace})
		}
		in.actions.HoldTemplate = test.hold
		got := test.before
		if got.Reason == "" {
			got.Status, got.Reason = metav1.ConditionTrue, infrav1.ReadyReason
		}
		in.addModelLimit(&got)
		if got.Status != test.status || got.Reason != test.reason || got.Message != test.message {
			t.Errorf("%s: %s %s %q, want %s %s %q", reason, got.Status, got.Reason, got.Message, test.status, test.reason, test.message)
		}
	}
}
