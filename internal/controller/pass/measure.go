package pass

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// RecorderName is the name under which a kind's events are recorded.
func RecorderName(kind string) string { return strings.ToLower(kind) + "-reconciler" }

// end tells in events what the pass changed.
func (p *pass[O, I]) end() {
	p.story.End()
	if !p.subject.Made && conditions.IsTrue(p.object, infrav1.ReadyCondition) {
		_ = time.Since(p.object.GetCreationTimestamp().Time)
	}
}

func (r *Runner[O, I]) measure(begun time.Time, ended outcome, err error) {}
