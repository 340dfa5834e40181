package setup

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// trim is what objects are kept in memory without. Nobody here asks who owns which field, which is half of what an object takes
// and is parsed whenever one is rendered, nor what kubectl has applied, which repeats the rest of it.
//
// Controllers patch what they read here. So nothing is missing that they could write: a value is emptied and its key stays,
// because a patch that takes the last key of a map away says that the whole map goes.
func (s *sharer) trim(obj any) (any, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return obj, nil // A deletion that was missed has no object.
	}
	object.SetManagedFields(nil)
	if annotations := object.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		annotations = maps.Clone(annotations)
		annotations[corev1.LastAppliedConfigAnnotation] = ""
		object.SetAnnotations(annotations)
	}
	if machine, ok := obj.(*clusterv1.Machine); ok {
		machine.Status = machineStatus(machine.Status)
	}
	s.share(obj)
	return obj, nil
}

// machineStatus is what is read of the status of a Machine, which nobody here writes: its Node, and how its deletion goes.
func machineStatus(status clusterv1.MachineStatus) clusterv1.MachineStatus {
	out := clusterv1.MachineStatus{NodeRef: status.NodeRef, Conditions: slices.DeleteFunc(status.Conditions, func(condition metav1.Condition) bool {
		return condition.Type != clusterv1.MachineNodeReadyCondition && condition.Type != clusterv1.MachineDeletingCondition
	})}
	for i := range out.Conditions {
		out.Conditions[i].Message = ""
	}
	out.Conditions = slices.Clone(out.Conditions)
	if status.NodeInfo != nil {
		out.NodeInfo = &corev1.NodeSystemInfo{KubeletVersion: status.NodeInfo.KubeletVersion}
	}
	return out
}
