package azuremachinepool

import (
	"context"
	"encoding/json"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

// looksAgain is how many VMs a pass asks Azure for one by one at most. The others wait for the next pass, so that a scale set which
// somebody has emptied costs no burst of requests.
const looksAgain = 20

// lookAgain asks Azure for each VM that the list leaves out although nobody deletes it, before anything is done about that: a list
// that is behind, or that changed between two of its pages, would cost a Machine with its pods.
func (k *Kind) lookAgain(ctx context.Context, turn reconcile.Turn, in *input, list []json.RawMessage) error {
	in.gone, in.unchecked = map[string]bool{}, false
	scaleSet, asked := pool.ScaleSetID(in.planned), 0
	for _, m := range in.missing() {
		id, err := arm.ParseID(m.vm.Spec.ProviderID)
		if err != nil || !flexible(in) && !id.IsWithin(scaleSet) {
			// It stands for nothing that the scale set could have, whoever wrote it.
			in.gone[m.vm.Name] = true
			continue
		}
		if asked++; asked > looksAgain {
			in.unchecked = true
			break
		}
		shown, err := k.Facts.ReadScaleSetVM(ctx, turn.Access.Client, scaleSet, id, flexible(in))
		if err != nil {
			return reconcile.Unread(err)
		}
		if shown == nil {
			in.gone[m.vm.Name] = true
			continue
		}
		list = append(list, shown)
	}
	var err error
	if in.vms, err = pool.Instances(in.planned, turn.Found, list); err != nil {
		return reconcile.Unread(err)
	}
	return nil
}
