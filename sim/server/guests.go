package server

import (
	"crypto/sha256"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Guest is a VM or scale-set instance whose hardware exists, as the lab sees it.
type Guest struct {
	VMID              string              `json:"vmID"`       // ARM ID
	InstanceID        string              `json:"instanceID"` // properties.vmId: another one means another machine under the same ID
	ComputerName      string              `json:"computerName"`
	ResourceGroup     string              `json:"resourceGroup"`
	SubscriptionID    string              `json:"subscriptionID"`
	Location          string              `json:"location"`
	Zone              string              `json:"zone,omitempty"`
	BootID            string              `json:"bootID"`     // changes with every boot
	PowerState        string              `json:"powerState"` // running, stopped or deallocated
	ProvisioningState string              `json:"provisioningState"`
	CustomData        string              `json:"customData,omitempty"` // base64, as sent
	UserData          string              `json:"userData,omitempty"`
	OSType            string              `json:"osType"`
	AdminUsername     string              `json:"adminUsername,omitempty"`
	SSHPublicKeys     []string            `json:"sshPublicKeys,omitempty"` // in the format of authorized_keys
	VMSize            string              `json:"vmSize"`
	VCPUs             int                 `json:"vCPUs"` // of the size; 0 if the catalogue does not have it
	MemoryGB          float64             `json:"memoryGB"`
	NICs              []GuestNIC          `json:"nics"`
	Identity          body.Object         `json:"identity,omitempty"`
	Tags              body.Object         `json:"tags,omitempty"`
	Status            compute.GuestStatus `json:"status"`
}

// GuestNIC is one network interface of a guest.
type GuestNIC struct {
	ID                       string      `json:"id"`
	PrivateIPs               []string    `json:"privateIPs"`
	PublicIPs                []string    `json:"publicIPs"`
	LoadBalancerBackendPools []guestLink `json:"loadBalancerBackendPools"`
}

type guestLink struct {
	ID string `json:"id"`
}

// guestView gives the list of guests a revision that grows when the list changes.
type guestView struct {
	s    *Server
	mu   sync.Mutex
	rev  int64
	seen string
}

// newGuestView returns a view whose revisions begin at the start time, so that a client of an earlier process never waits for one that has passed.
func newGuestView(s *Server) *guestView { return &guestView{s: s, rev: time.Now().UnixMilli()} }

func (v *guestView) currentGuests() (int64, []Guest) {
	guests := []Guest{}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.s.store.View(func(tx *store.Tx) {
		c := &provider.Call{Tx: tx, Env: v.s.env}
		for _, typ := range []string{compute.VirtualMachines, compute.ScaleSetVMs} {
			for _, r := range tx.List(typ, "") {
				if compute.HasGuest(r) {
					guests = append(guests, guestOf(c, r))
				}
			}
		}
	})
	if seen := hashGuests(guests); seen != v.seen {
		v.seen = seen
		v.rev++
	}
	return v.rev, guests
}

// hashGuests returns a hash that changes with any guest. Custom data is left out: it is large and cannot change
// during a VM's life.
func hashGuests(guests []Guest) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, g := range guests {
		g.CustomData = ""
		if enc.Encode(g) != nil {
			return ""
		}
	}
	return string(h.Sum(nil))
}

// findVM looks a VM up by its ARM ID or its vmId.
func (v *guestView) findVM(id string) *store.Resource {
	var found *store.Resource
	v.s.store.View(func(tx *store.Tx) {
		if found = tx.Get(id); found != nil {
			return
		}
		for _, typ := range []string{compute.VirtualMachines, compute.ScaleSetVMs} {
			for _, r := range tx.List(typ, "") {
				if strings.EqualFold(body.String(r.Body, "properties.vmId"), id) {
					found = r
				}
			}
		}
	})
	return found
}

func guestOf(c *provider.Call, r *store.Resource) Guest {
	id, _ := store.ParseID(r.ID)
	g := Guest{
		VMID: r.ID, InstanceID: body.String(r.Body, "properties.vmId"), ComputerName: body.String(r.Body, "properties.osProfile.computerName"),
		ResourceGroup: id.ResourceGroup, SubscriptionID: id.Subscription,
		Location: r.Location, BootID: body.String(r.Secret, "bootID"), PowerState: body.String(r.Secret, "power"),
		ProvisioningState: body.String(r.Body, "properties.provisioningState"),
		CustomData:        body.String(r.Secret, "customData"), UserData: body.String(r.Secret, "userData"),
		OSType: body.String(r.Body, "properties.storageProfile.osDisk.osType"), NICs: []GuestNIC{},
		Identity: body.Child(r.Body, "identity"), Tags: body.Child(r.Body, "tags"),
	}
	if zones := body.Strings(r.Body, "zones"); len(zones) > 0 {
		g.Zone = zones[0]
	}
	g.AdminUsername = body.String(r.Body, "properties.osProfile.adminUsername")
	for _, key := range body.Objects(r.Body, "properties.osProfile.linuxConfiguration.ssh.publicKeys") {
		g.SSHPublicKeys = append(g.SSHPublicKeys, body.String(key, "keyData"))
	}
	if g.VMSize = body.String(r.Body, "properties.hardwareProfile.vmSize"); g.VMSize == "" {
		g.VMSize = body.String(r.Body, "sku.name") // of an instance
	}
	size, _ := compute.FindSize(g.VMSize)
	g.VCPUs, g.MemoryGB = size.VCPUs, size.MemoryGB
	c.ReadNote(compute.GuestKey(g.InstanceID), &g.Status)
	for _, nic := range nicsOf(c, r) {
		n := GuestNIC{ID: nic.ID, PrivateIPs: []string{}, PublicIPs: []string{}, LoadBalancerBackendPools: []guestLink{}}
		for _, cfg := range body.Objects(nic.Body, "properties.ipConfigurations") {
			n.PrivateIPs = append(n.PrivateIPs, body.String(cfg, "properties.privateIPAddress"))
			if pip := c.Get(body.String(cfg, "properties.publicIPAddress.id")); pip != nil {
				n.PublicIPs = append(n.PublicIPs, body.String(pip.Body, "properties.ipAddress"))
			}
			for _, pool := range body.Objects(cfg, "properties.loadBalancerBackendAddressPools") {
				n.LoadBalancerBackendPools = append(n.LoadBalancerBackendPools, guestLink{body.String(pool, "id")})
			}
		}
		g.NICs = append(g.NICs, n)
	}
	return g
}

// nicsOf returns the stored interfaces of a VM, or of a scale-set instance, whose interfaces are stored below it.
func nicsOf(c *provider.Call, r *store.Resource) []*store.Resource {
	var out []*store.Resource
	for _, ref := range body.Objects(r.Body, "properties.networkProfile.networkInterfaces") {
		if nic := c.Get(body.String(ref, "id")); nic != nil {
			out = append(out, nic)
		}
	}
	if strings.EqualFold(r.Type, compute.ScaleSetVMs) {
		out = append(out, c.List(compute.ScaleSetVMs+"/networkInterfaces", r.ID)...)
	}
	return out
}

// vmOf returns the VM or scale-set instance an interface belongs to.
func vmOf(c *provider.Call, nic *store.Resource) *store.Resource {
	for _, ref := range c.Referrers(nic.ID) {
		if r := c.Get(ref.From); ref.Field == "networkInterfaces" && r != nil && strings.EqualFold(r.Type, compute.VirtualMachines) {
			return r
		}
	}
	if i := strings.LastIndex(strings.ToLower(nic.ID), "/networkinterfaces/"); i > 0 {
		return c.Get(nic.ID[:i])
	}
	return nil
}
