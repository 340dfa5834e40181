package azuremachinepool

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// maxRechecks is how many VMs a pass asks Azure for one by one at most. The others wait for the next pass, so that a scale set which
// somebody has emptied costs no burst of requests.
const maxRechecks = 20

// recheckMissing asks Azure for each VM that the list leaves out although nobody deletes it, before anything is done about that: a list
// that is behind, or that changed between two of its pages, would cost a Machine with its pods.
func (k *Kind) recheckMissing(ctx context.Context, session reconcile.Session, in *input, list []json.RawMessage) error {
	in.gone, in.recheckIncomplete = map[string]bool{}, false
	scaleSet, asked := pool.ScaleSetID(in.planned), 0
	for _, m := range in.missingMembers() {
		id, err := arm.ParseID(m.vm.Spec.ProviderID)
		if err != nil || !isFlexible(in) && !id.IsWithin(scaleSet) {
			// It stands for nothing that the scale set could have, whoever wrote it.
			in.gone[m.vm.Name] = true
			continue
		}
		if asked++; asked > maxRechecks {
			in.recheckIncomplete = true
			break
		}
		shown, err := k.Facts.ReadScaleSetVM(ctx, session.Access.Client, scaleSet, id, isFlexible(in))
		if err != nil {
			return reconcile.ReadFailed(err)
		}
		if shown == nil {
			in.gone[m.vm.Name] = true
			continue
		}
		list = append(list, shown)
	}
	var err error
	if in.vms, err = pool.Instances(in.planned, session.Migration, list); err != nil {
		return reconcile.ReadFailed(err)
	}
	return nil
}
