package reconcile

import (
	"time"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/metrics"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/deletion"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/eventlog"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/patch"
)

// pass is one pass over one object.
type pass[O Object, I any] struct {
	*Runner[O, I]
	key     client.ObjectKey
	object  O
	subject Subject
	in      *I
	// changes are those of the pass to the object, story what events tell of it.
	changes *patch.Changes
	story   *eventlog.Pass
	// shown is set when the object shows the error of the pass.
	shown bool
	// held is what a person has to know who wants the object to go; nil of one that has nothing in Azure.
	held func() deletion.Held
}

func (p *pass[O, I]) deleting() bool { return !p.object.GetDeletionTimestamp().IsZero() }

// end tells what the pass changed.
func (p *pass[O, I]) end() {
	p.story.End()
	if !p.subject.Made && !p.deleting() && conditions.IsTrue(p.object, infrav1.ReadyCondition) {
		metrics.Ready(p.declared.Name, time.Since(p.object.GetCreationTimestamp().Time).Seconds())
	}
}

// measure counts a pass.
func (r *Runner[O, I]) measure(begun time.Time, ended outcome, err error) {
	if err != nil {
		ended = troubled
	}
	metrics.Pass(r.declared.Name, string(ended), time.Since(begun).Seconds())
}
