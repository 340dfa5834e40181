package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// changeLog converges until the outcome is done, and returns the reported changes without their durations.
func changeLog(w *world, nodes ...arm.Node) []arm.Change {
	w.t.Helper()
	var out []arm.Change
	w.convergeUntil(w.newRequest(nodes...), time.Hour, func(outcome arm.Outcome) bool {
		for _, change := range outcome.Changes {
			change.Duration = 0
			out = append(out, change)
		}
		return outcome.IsDone()
	})
	return out
}

func TestChanges(t *testing.T) {
	w := newWorld(t)
	wider := vnetNode()
	wider.Body = object{"location": "eastus", "tags": ownerTags(),
		"properties": object{"addressSpace": object{"addressPrefixes": []string{"10.0.0.0/8", "192.168.0.0/16"}}}}
	for _, step := range []struct {
		reason string
		do     func()
		vnet   arm.Node
		want   []arm.Change
	}{
		{reason: "absent resources are created, also after a failure", do: func() {
			w.addFault(fault.Rule{Method: "PUT", ID: "*/virtualnetworks/vnet", Kind: fault.Fail, Code: "InternalExecutionError",
				Message: "An internal execution error occurred."})
		}, vnet: vnetNode(), want: []arm.Change{{ID: group, Kind: arm.Created}, {ID: vnet, Kind: arm.Created}}},
		{reason: "nothing happened", vnet: vnetNode()},
		{reason: "a new plan", vnet: wider,
			want: []arm.Change{{ID: vnet, Kind: arm.Updated, Paths: []string{"properties.addressSpace.addressPrefixes"}}}},
		{reason: "it was changed from outside", do: func() {
			w.addFault(fault.Rule{Kind: fault.Edit, ID: string(vnet), Now: true,
				Patch: object{"properties": object{"addressSpace": object{"addressPrefixes": []any{"10.0.0.0/8"}}}}})
		}, vnet: wider, want: []arm.Change{{ID: vnet, Kind: arm.Repaired, Paths: []string{"properties.addressSpace.addressPrefixes"}}}},
		{reason: "it was deleted from outside", do: func() {
			w.addFault(fault.Rule{Kind: fault.Remove, ID: string(vnet), Now: true})
		}, vnet: wider, want: []arm.Change{{ID: vnet, Kind: arm.Created}}},
	} {
		if step.do != nil {
			step.do()
		}
		w.advanceClock(time.Hour)
		if diff := cmp.Diff(step.want, changeLog(w, groupNode(), step.vnet)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.reason, diff)
		}
	}
	var deleted []arm.Change
	request := w.newRequest(groupNode())
	request.DeleteWholeGroups = true
	for range 20 {
		outcome, err := w.engine.Delete(context.Background(), request)
		if err != nil {
			t.Fatal(err)
		}
		deleted = append(deleted, outcome.Changes...)
		if outcome.IsDeleted() {
			break
		}
		w.advanceClock(outcome.RetryAfter)
	}
	if len(deleted) != 1 || deleted[0].Kind != arm.Deleted || deleted[0].ID != group || deleted[0].Duration <= 0 {
		t.Errorf("the deletion of the group is reported once: %+v", deleted)
	}
}
