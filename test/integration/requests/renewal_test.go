package requests_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestTokenWhileRefused lets AKS refuse a change of a cluster without local accounts, or the provider a version that AKS does not offer.
// The cluster serves, so the test expects that the kubeconfig that Cluster API reads gets a new token before the former one ends.
func TestTokenWhileRefused(t *testing.T) {
	const administrators, ranges = "00000000-0000-0000-0000-0000000000aa", "203.0.113.0/24"
	const unoffered = "1.99.0"
	for kind, test := range map[string]struct {
		object harness.Conditioned
		make   func(w *world)
		change func(w *world)
		// upgrade asks for a version that AKS does not offer.
		upgrade func(w *world)
	}{
		"AzureManagedControlPlane": {&infrav1.AzureManagedControlPlane{}, func(w *world) {
			controlPlane := w.ControlPlane("c1")
			controlPlane.Spec.AADProfile = &infrav1.AADProfile{Managed: true, AdminGroupObjectIDs: []string{administrators}}
			controlPlane.Spec.DisableLocalAccounts = new(true)
			defaults.FillAzureManagedControlPlane(controlPlane)
			w.CreateManagedCluster(controlPlane,
				harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1, Change: defaults.FillAzureManagedMachinePool})
			w.WaitReady(&infrav1.AzureManagedControlPlane{}, "c1")
		}, func(w *world) {
			own := &infrav1.AzureManagedControlPlane{}
			own.Name = "c1"
			harness.ChangeObject(w.Stage, own, func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{ranges}}
			})
		}, func(w *world) {
			own := &infrav1.AzureManagedControlPlane{}
			own.Name = "c1"
			harness.ChangeObject(w.Stage, own, func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = "v" + unoffered })
		}},
		"AzureASOManagedControlPlane": {&infrav1.AzureASOManagedControlPlane{}, func(w *world) {
			c := w.BuildASOCluster("c1", "pool0")
			c.ControlPlane.Spec.Resources[0] = withProperties(w.T, c.ControlPlane.Spec.Resources[0],
				`{"aadProfile": {"managed": true, "adminGroupObjectIDs": ["`+administrators+`"]}, "disableLocalAccounts": true}`)
			w.CreateASOCluster(c)
		}, func(w *world) {
			own := &infrav1.AzureASOManagedControlPlane{}
			own.Name = "c1"
			harness.ChangeObject(w.Stage, own, func(c *infrav1.AzureASOManagedControlPlane) {
				c.Spec.Resources[0].Raw = bytes.Replace(c.Spec.Resources[0].Raw, []byte(`"disableLocalAccounts":true`),
					[]byte(`"disableLocalAccounts":true,"apiServerAccessProfile":{"authorizedIPRanges":["`+ranges+`"]}`), 1)
			})
		}, func(w *world) {
			own := &infrav1.AzureASOManagedControlPlane{}
			own.Name = "c1"
			harness.ChangeObject(w.Stage, own, func(c *infrav1.AzureASOManagedControlPlane) { c.Spec.Version = "v" + unoffered })
		}},
	} {
		for name, refused := range map[string]struct {
			change  func(w *world)
			message string
		}{"change": {test.change, "InvalidParameter"}, "version": {test.upgrade, unoffered}} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				playUnmanaged(t, func(w *world) {
					w.StartProvider()
					test.make(w)
					virtual.WaitForSignal(nil, time.Minute)
					ends := readTokenEnd(w.T, w.readUser("c1-kubeconfig", "value").Token)
					if err := w.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.ContainerService/managedClusters", Kind: fault.Status,
						Status: 400, Code: "InvalidParameter", Count: -1}); err != nil {
						w.T.Fatal(err)
					}
					refused.change(w)
					virtual.WaitForSignal(nil, time.Until(ends)-time.Minute)
					w.ReadObject(test.object.(client.Object), "c1")
					if ready := harness.FindCondition(test.object, infrav1.ReadyCondition); !strings.Contains(ready.Message, refused.message) {
						w.T.Errorf("the change is not refused: %+v", ready)
					}
					if next := readTokenEnd(w.T, w.readUser("c1-kubeconfig", "value").Token); !next.After(ends) {
						w.T.Errorf("a minute before its end at %s, the token is one that ends at %s", ends, next)
					}
				})
			})
		}
	}
}
