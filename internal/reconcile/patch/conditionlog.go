package patch

import (
	"context"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// logConditions logs each condition whose status or reason a write has changed, in the order of the object. All kinds write their status
// here, so the log has the history of every object. Changes of the message alone, such as a duration, are no line.
func (p *Changes) logConditions(ctx context.Context, before, after client.Object) {
	was, ok := before.(conditions.Getter)
	if !ok {
		return
	}
	former := map[string]metav1.Condition{}
	for _, condition := range was.GetConditions() {
		former[condition.Type] = condition
	}
	log := ctrl.LoggerFrom(ctx)
	if p.isRelated {
		log = log.WithValues(reflect.TypeOf(after).Elem().Name(), klog.KObj(after)) // As controller-runtime names the reconciled object.
	}
	for _, condition := range after.(conditions.Getter).GetConditions() {
		earlier := former[condition.Type]
		if earlier.Status == condition.Status && earlier.Reason == condition.Reason {
			continue
		}
		values := []any{"condition", condition.Type, "status", condition.Status, "reason", condition.Reason}
		if earlier.Reason != "" {
			values = append(values, "previousReason", earlier.Reason)
		}
		if condition.Message != "" {
			values = append(values, "message", condition.Message)
		}
		log.Info("Condition changed", values...)
	}
}
