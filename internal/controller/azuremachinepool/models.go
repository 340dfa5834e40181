package azuremachinepool

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// addModelLimit adds to the condition the actions taken because the VMs are of nearly as many models of the scale set as Azure allows.
func (in *input) addModelLimit(condition *metav1.Condition) {
	vms := in.rolloutInstances()
	inPlace, apart, mayAdd := rollout.ListUpgradable(vms), rollout.HasTooManyOldModels(in.wanted, vms), rollout.CanAddModel(in.wanted, vms)
	if !in.actions.HoldTemplate && !apart && mayAdd && (len(inPlace) == 0 || !rollout.HasManyModels(in.wanted, vms)) {
		return
	}
	message := fmt.Sprintf("The VMs use %d different models of the scale set; Azure allows %d.", rollout.CountModels(vms), in.wanted.MaxModels)
	if len(inPlace) > 0 {
		message += fmt.Sprintf(" Azure brings %d VMs to the latest model in place. They differ in bootstrap data or tags only and are not restarted.", len(inPlace))
	}
	switch {
	case apart && in.wanted.ScaledByAutoscaler:
		message += " An autoscaler owns the number of VMs, so none is replaced: delete Machines of old VMs."
	case apart:
		condition.Status = metav1.ConditionFalse
		message += " VMs of old models are replaced within the limits of spec.strategy."
	}
	if in.actions.HoldTemplate {
		condition.Status, condition.Reason = metav1.ConditionFalse, infrav1.ScaleSetModelLimitReason
		message += " The new template is applied once VMs of the oldest model are gone."
	}
	if !mayAdd {
		message += " No VMs are added meanwhile."
	}
	condition.Message = text.JoinSentences(condition.Message, message)
	if condition.Reason == infrav1.ReadyReason {
		condition.Reason = infrav1.ScaleSetModelLimitReason
	}
}
