// Package trim removes parts of objects that the manager never reads, before they are cached. It changes the object that it is given, and
// may be repeated. Tests in virtual time show controllers objects without these parts, too, so a controller that starts to read one of
// them fails there.
package trim

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// machineConditions are the conditions of Machines that the provider reads.
var machineConditions = []string{clusterv1.MachineReadyCondition, clusterv1.MachineNodeReadyCondition, clusterv1.MachineDeletingCondition}

// RemoveUnusedParts removes managed fields, which are half of an object and are parsed whenever it is encoded, and kubectl's last-applied
// annotation, which repeats the rest of it. Of the status of Machines it keeps the fields that the provider reads.
//
// Controllers compute patches from these objects, so nothing is removed that they could write. The annotation's key stays with an empty
// value, because a merge patch that removes the last key of a map would remove the whole map.
func RemoveUnusedParts(object metav1.Object) {
	object.SetManagedFields(nil)
	if annotations := object.GetAnnotations(); annotations[corev1.LastAppliedConfigAnnotation] != "" {
		annotations = maps.Clone(annotations)
		annotations[corev1.LastAppliedConfigAnnotation] = ""
		object.SetAnnotations(annotations)
	}
	if machine, ok := object.(*clusterv1.Machine); ok {
		machine.Status = usedMachineStatus(machine.Status)
	}
}

// usedMachineStatus returns the part of a Machine's status that the provider reads: its Node, whether it is Ready, and the progress of its
// deletion. The provider never writes it.
func usedMachineStatus(status clusterv1.MachineStatus) clusterv1.MachineStatus {
	out := clusterv1.MachineStatus{NodeRef: status.NodeRef,
		Conditions: slices.DeleteFunc(status.Conditions, func(condition metav1.Condition) bool {
			return !slices.Contains(machineConditions, condition.Type)
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
