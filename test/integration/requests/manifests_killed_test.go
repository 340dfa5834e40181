package requests_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// neighbours are documents beside an AKS cluster, each of which is written by itself.
var neighbours = []string{`
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: workload
spec:
  location: eastus
  owner: {name: c1}
`, `
apiVersion: network.azure.com/v20250501
kind: VirtualNetwork
metadata:
  name: net
spec:
  location: eastus
  owner: {name: c1}
  addressSpace: {addressPrefixes: [10.0.0.0/8]}
`, `
apiVersion: network.azure.com/v20250501
kind: VirtualNetworksSubnet
metadata:
  name: nodes
spec:
  owner: {name: net}
  addressPrefix: 10.1.0.0/16
`}

// TestManifestsKilledAtEveryWrite makes and deletes documents with managers none of which outlives a write: one dies before Azure gets
// the write, and the next one after that, before it gets the answer. All the same everything is written once, and nothing is left but the
// group, which the provider releases so that everything in it is deleted by itself.
func TestManifestsKilledAtEveryWrite(t *testing.T) {
	var undisturbed, killed life
	playUnmanaged(t, func(w *world) { undisturbed = w.playLife(0, 0) })
	making, deleting := len(undisturbed.Made), len(undisturbed.Deleted)
	if making < 6 || deleting < 3 {
		t.Fatalf("group, network, subnet, identity, cluster and window are made, and most go one by one: %v", undisturbed)
	}
	playUnmanaged(t, func(w *world) { killed = w.playLife(2*making, 2*deleting) })
	if diff := cmp.Diff(undisturbed, killed); diff != "" {
		t.Errorf("-undisturbed +killed:\n%s", diff)
	}
}

// life has the writes of the creation and of the deletion, and the resources before and after the deletion.
type life struct{ Made, Deleted, Whole, Left []string }

// playLife creates and deletes resource manifests. The given number of managers die during the creation, and during the deletion.
func (w *world) playLife(making, deleting int) (out life) {
	w.T.Helper()
	c := w.BuildASOCluster("c1", "pool0")
	group := &c.Infrastructure.Spec.Resources[0]
	group.Raw = bytes.Replace(group.Raw, []byte(`"annotations":{`),
		[]byte(`"annotations":{"serviceoperator.azure.com/reconcile-policy":"detach-on-delete",`), 1)
	for _, text := range neighbours {
		c.Infrastructure.Spec.Resources = append(c.Infrastructure.Spec.Resources, w.ParseManifest(text))
	}
	c.ControlPlane.Spec.Resources = append(c.ControlPlane.Spec.Resources, w.ParseManifest(windowManifest))
	w.killAtEachWrite(making, func() { w.CreateASOCluster(c) })
	out.Made, out.Whole = harness.DropKubeconfigReads(w.Azure.WritesSince(0)), maskDrawnIDs(w.Azure.ListResources())
	mark := w.Azure.MarkRequests()
	w.killAtEachWrite(deleting, func() { w.DeleteManifests(c) })
	out.Deleted, out.Left = harness.DropKubeconfigReads(w.Azure.WritesSince(mark)), w.Azure.ListResources()
	return out
}

// killAtEachWrite has as many managers die, each at its first write, while something is done that the last one ends.
func (w *world) killAtEachWrite(times int, do func()) {
	w.T.Helper()
	died := 0
	start := func() *virtual.Manager {
		if died < times {
			return w.StartDyingManager(1, died%2 == 0)
		}
		return w.StartProvider()
	}
	m := start()
	w.Meanwhile = func() {
		select {
		case <-m.Killed:
			m.StopManager()
			died++
			m = start()
		default:
		}
	}
	do()
	w.Meanwhile = nil
	m.StopManager()
	if died != times {
		w.T.Errorf("%d managers died, want %d", died, times)
	}
}

// byLot matches the random parts of names of scale sets, which AKS makes for every cluster.
var byLot = regexp.MustCompile(`[0-9a-f]{8,}(-[0-9a-f]{4,}){0,4}|[0-9]{8}`)

// maskDrawnIDs returns the IDs without their random parts.
func maskDrawnIDs(ids []string) []string {
	out := make([]string, 0, len(ids))
	for _, id := range ids {
		out = append(out, byLot.ReplaceAllString(id, "#"))
	}
	slices.Sort(out)
	return out
}
