package compute_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	group  = "/subscriptions/s/resourceGroups/MC_rg"
	vnet   = group + "/providers/Microsoft.Network/virtualNetworks/vnet"
	setID  = group + "/providers/Microsoft.Compute/virtualMachineScaleSets/aks-np-12345678-vmss"
	prefix = "aks-np-12345678-vmss"
)

// inTransaction runs f in a transaction on a store with a network.
func inTransaction(t *testing.T, f func(c *provider.Call)) {
	t.Helper()
	s, err := store.Open(store.NewVirtual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), "")
	if err != nil {
		t.Fatal(err)
	}
	env := &provider.Env{TimeScale: 1, Rand: rand.New(rand.NewPCG(1, 2)), Locations: []string{"westus3"}, Quota: map[string]int{"cores": 20}}
	env.Register(network.Provider(), compute.Provider())
	id, err := store.ParseID(setID)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(func(tx *store.Tx) error {
		c := &provider.Call{Tx: tx, Env: env, Method: "PUT", ID: id, Type: env.TypeOf(compute.VirtualMachines)}
		c.SaveResource(&store.Resource{ID: vnet, Type: network.VirtualNetworks, Location: "westus3",
			Body: map[string]any{"properties": map[string]any{"provisioningState": "Succeeded", "subnets": []any{
				map[string]any{"name": "nodes", "properties": map[string]any{"addressPrefix": "10.224.0.0/28", "provisioningState": "Succeeded"}}}}}})
		f(c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newScaleSet(t *testing.T, capacity int) compute.ScaleSet {
	t.Helper()
	id, err := store.ParseID(setID)
	if err != nil {
		t.Fatal(err)
	}
	return compute.ScaleSet{ID: id, Location: "westus3", Size: "Standard_D2s_v3", Capacity: capacity,
		Tags: map[string]string{"aks-managed-poolName": "np"}, OSType: "Linux",
		Image:    map[string]any{"id": group + "/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204/versions/1"},
		SubnetID: vnet + "/subnets/nodes", OSDiskSizeGB: 128}
}

func listNames(c *provider.Call, id store.ID) []string {
	var out []string
	for _, r := range compute.ListInstances(c, id) {
		out = append(out, body.String(r.Body, "properties.osProfile.computerName")+" "+compute.ListAddresses(c, r)[0]+" "+body.String(r.Secret,
			"power"))
	}
	return out
}

func TestApplyScaleSet(t *testing.T) {
	inTransaction(t, func(c *provider.Call) {
		s := newScaleSet(t, 2)
		if err := compute.ApplyScaleSet(c, s); err != nil {
			t.Fatal(err)
		}
		want := []string{prefix + "000000 10.224.0.4 running", prefix + "000001 10.224.0.5 running"}
		if diff := cmp.Diff(want, listNames(c, s.ID)); diff != "" {
			t.Errorf("instances after the first apply (-want +got):\n%s", diff)
		}
		for _, r := range compute.ListInstances(c, s.ID) {
			if compute.HasGuest(r) || body.String(r.Body, "tags.aks-managed-poolName") != "np" {
				t.Errorf("instance %s must have no guest and the tags of the set: %v", r.ID, r.Body["tags"])
			}
		}
		s.Capacity = 3
		s.Image = map[string]any{"id": group + "/providers/Microsoft.Compute/galleries/AKSUbuntu/images/2204/versions/2"}
		if err := compute.ApplyScaleSet(c, s); err != nil {
			t.Fatal(err)
		}
		images := func() []string {
			var out []string
			for _, r := range compute.ListInstances(c, s.ID) {
				id := body.String(r.Body, "properties.storageProfile.imageReference.id")
				out = append(out, id[len(id)-1:])
			}
			return out
		}
		if diff := cmp.Diff([]string{"1", "1", "2"}, images()); diff != "" {
			t.Errorf("old instances keep their image until they are upgraded (-want +got):\n%s", diff)
		}
		before := body.String(compute.ListInstances(c, s.ID)[1].Secret, "bootID")
		compute.UpgradeInstances(c, s.ID, "1")
		if diff := cmp.Diff([]string{"1", "2", "2"}, images()); diff != "" {
			t.Errorf("upgrade of instance 1 (-want +got):\n%s", diff)
		}
		if body.String(compute.ListInstances(c, s.ID)[1].Secret, "bootID") == before {
			t.Error("the upgraded instance did not boot anew")
		}
		compute.RemoveInstances(c, s.ID, "0")
		compute.PowerInstances(c, s.ID, "deallocated", "2")
		want = []string{prefix + "000001 10.224.0.5 running", prefix + "000002 10.224.0.6 deallocated"}
		if diff := cmp.Diff(want, listNames(c, s.ID)); diff != "" {
			t.Errorf("instances after one was removed and one deallocated (-want +got):\n%s", diff)
		}
		if n := body.Int(c.Get(setID).Body, "sku.capacity"); n != 2 {
			t.Errorf("capacity %d, want 2", n)
		}
		compute.RemoveScaleSet(c, s.ID)
		if left := c.List("", group+"/providers/Microsoft.Compute"); len(left) != 0 {
			t.Errorf("%d resources are left, such as %s", len(left), left[0].ID)
		}
	})
}

func TestApplyScaleSetRefusals(t *testing.T) {
	cases := map[string]struct {
		reason string
		change func(s *compute.ScaleSet)
		code   string
	}{
		"quota":  {"cores are counted", func(s *compute.ScaleSet) { s.Capacity = 11 }, "OperationNotAllowed"},
		"size":   {"sizes must exist", func(s *compute.ScaleSet) { s.Size = "Standard_None" }, "InvalidParameter"},
		"subnet": {"the subnet must exist", func(s *compute.ScaleSet) { s.SubnetID = vnet + "/subnets/none" }, "InvalidResourceReference"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			inTransaction(t, func(c *provider.Call) {
				s := newScaleSet(t, 1)
				tc.change(&s)
				err := compute.ApplyScaleSet(c, s)
				refused, ok := err.(*provider.Error)
				if !ok || refused.Code != tc.code {
					t.Errorf("%s: %v, want %s", tc.reason, err, tc.code)
				}
			})
		})
	}
}
