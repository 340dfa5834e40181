package deletion

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// PausedCondition returns the condition of an object that is being deleted while it or its Cluster is paused.
func PausedCondition(obj client.Object, kind string, cluster *clusterv1.Cluster) metav1.Condition {
	var commands []string
	if cluster != nil && cluster.Spec.Paused != nil && *cluster.Spec.Paused {
		commands = append(commands,
			fmt.Sprintf(`kubectl patch -n %s cluster/%s --type=merge -p '{"spec":{"paused":false}}'`, cluster.Namespace, cluster.Name))
	}
	if annotations.HasPaused(obj) {
		commands = append(commands,
			fmt.Sprintf("kubectl annotate -n %s %s/%s %s-", obj.GetNamespace(), strings.ToLower(kind), obj.GetName(), clusterv1.PausedAnnotation))
	}
	return metav1.Condition{
		Status: metav1.ConditionFalse, Reason: clusterv1.PausedReason,
		Message: "The deletion is paused, and nothing is deleted until the pause ends. To continue: " + strings.Join(commands, " and "),
	}
}
