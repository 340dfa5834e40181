package azuremachinepool

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// maxRechecks limits how many VMs one reconciliation reads one by one. The others wait for the next reconciliation, so that an emptied
// scale set causes no burst of requests.
const maxRechecks = 20

// recheckMissing reads each VM that is missing in the list although this process did not delete it. An outdated list, or one that changed
// between two pages, would otherwise cost a Machine with its pods, or release one that is being deleted while its VM still runs.
func (k *Kind) recheckMissing(ctx context.Context, session reconcile.Session, in *input, list []json.RawMessage) error {
	in.gone, in.recheckIncomplete = map[string]bool{}, false
	scaleSet, asked := pool.ScaleSetID(in.planned), 0
	for _, m := range in.missingMembers() {
		id, err := arm.ParseID(m.vm.Spec.ProviderID)
		if err != nil || !isFlexible(in) && !id.IsWithin(scaleSet) || k.requests.hasDeleted(session.Name, id) {
			// Its provider ID cannot be a VM of the scale set, or Azure carries out or has carried out the deletion.
			in.gone[m.vm.Name] = true
			continue
		}
		if asked++; asked > maxRechecks {
			in.recheckIncomplete = true
			break
		}
		shown, err := k.Facts.ReadScaleSetVM(ctx, session.Caller(), scaleSet, id, isFlexible(in))
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
	if in.vms, err = pool.ReadInstances(in.planned, session.Migration, list); err != nil {
		return reconcile.ReadFailed(err)
	}
	return nil
}
