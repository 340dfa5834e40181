package setup

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// trim removes unused parts of objects before they are cached: managed fields, which are half of an object and are parsed whenever
// it is encoded, and kubectl's last-applied annotation, which repeats the rest of it.
//
// Controllers compute patches from these objects, so trim removes nothing that they could write. It empties the annotation's value
// and keeps its key, because a merge patch that removes the last key of a map would remove the whole map.
func (s *sharer) trim(obj any) (any, error) {
	object, ok := obj.(metav1.Object)
	if !ok {
		return obj, nil // A missed deletion is a tombstone and no object.
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

// machineStatus returns the part of a Machine's status that is read here: its Node, and the progress of its deletion. The provider
// never writes it.
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
