package network

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// States of a peering. A stored peering is initiated, or was connected with a peering of the other network.
const (
	peeringInitiated    = "Initiated"
	peeringConnected    = "Connected"
	peeringDisconnected = "Disconnected"
)

const (
	peeringStatePath = "properties.peeringState"
	// syncedPath has the address ranges of the other network that the peering took over last.
	syncedPath = "properties.remoteAddressSpace"
	spacePath  = "properties.addressSpace"
)

func peeringType() *provider.Type {
	return &provider.Type{
		Name: VirtualNetworks + "/virtualNetworkPeerings", Style: provider.Network, Etag: provider.Weak, Untracked: true,
		Inline:      "properties.virtualNetworkPeerings",
		KeepOmitted: func(string) bool { return true },
		Create:      provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(2)},
		Delete:      provider.Timing{HTTP: 500 * time.Millisecond, LRO: provider.Seconds(10), Spread: 0.1},
		RetryAfter:  10,
		ReadOnlyPaths: []string{"properties.peeringState", "properties.peeringSyncLevel", "properties.resourceGuid",
			"properties.remoteVirtualNetworkAddressSpace", "properties.remoteAddressSpace", "properties.remoteVirtualNetworkEncryption",
			"properties.didReferenceOutboundRemoteAddressSpace"},
		// Recordings of 2020-11-01 and 2024-03-01, and the changelog of the SDK module armnetwork.
		Since: map[string]string{"properties.peeringSyncLevel": "2021-03-01", "properties.remoteVirtualNetworkAddressSpace": "2021-03-01",
			"properties.peerCompleteVnets": "2023-11-01"},
		Prepare: preparePeering, View: viewPeering,
		Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
			connectPeerings(c, r)
			return nil
		},
	}
}

func preparePeering(c *provider.Call, d *provider.Draft) error {
	// A PUT of the network leaves its peerings as they are, also those with networks that are gone: an assumption.
	ofNetwork := d.Old != nil && !store.SameID(c.ID.String(), d.ID)
	it, err := c.RequireReference(body.String(d.New, "properties.remoteVirtualNetwork.id"), d.ID, VirtualNetworks, "")
	switch {
	case err != nil && !ofNetwork:
		return withoutRetry(err)
	case err == nil:
		if err := checkPeeredSpaces(d, it); err != nil {
			return err
		}
	}
	if ofNetwork {
		body.Set(d.New, peeringStatePath, body.String(d.Old, peeringStatePath))
		body.Set(d.New, syncedPath, body.Get(d.Old, syncedPath))
	} else if err := cmp.Or(setPeeringState(c, d, it), checkGateways(d, it)); err != nil {
		return err
	}
	body.Default(d.New, "properties.allowVirtualNetworkAccess", true)
	body.Default(d.New, "properties.allowForwardedTraffic", false)
	body.Default(d.New, "properties.allowGatewayTransit", false)
	body.Default(d.New, "properties.useRemoteGateways", false)
	body.Default(d.New, "properties.doNotVerifyRemoteGateways", false)
	body.Default(d.New, "properties.peerCompleteVnets", true)
	body.Default(d.New, "properties.routeServiceVips", body.Object{})
	resourceGUID(c, d)
	return nil
}

// withoutRetry returns the refusal of a reference to a network that is being written: 400 with the code that other types have as a detail
// of the 429 RetryableError. Recording Test_Network_v1api20240301_CreationAndDeletion.
func withoutRetry(err error) error {
	var e *provider.Error
	if errors.As(err, &e) && e.Status == 429 && len(e.Details) == 1 {
		return invalidValue(e.Details[0].Code, "%s", e.Details[0].Message)
	}
	return err
}

// checkPeeredSpaces refuses a peering of networks whose address spaces overlap.
func checkPeeredSpaces(d *provider.Draft, remote *provider.Item) error {
	if store.SameID(remote.ID, d.ParentID) {
		return invalidValue("InvalidResourceReference", "Peering %s cannot refer to its own virtual network.", d.ID)
	}
	mine, _ := parsePrefixes(d.Parent, "", "properties.addressSpace.addressPrefixes")
	theirs, _ := parsePrefixes(remote.Body, "", "properties.addressSpace.addressPrefixes")
	for _, a := range mine {
		for _, b := range theirs {
			if a.Overlaps(b) {
				return invalidValue("VnetAddressSpacesOverlap",
					"Cannot create or update peering %s. Virtual networks %s and %s cannot be peered because their address spaces overlap.", d.ID,
					d.ParentID, remote.ID)
			}
		}
	}
	return nil
}

// gatewaySubnet is the subnet of the gateways of a network. It stands for a gateway, which is not simulated.
const gatewaySubnet = "GatewaySubnet"

// checkGateways refuses the use of a gateway that the other network does not have (hashicorp/terraform#30569), and of the gateways of two
// networks: https://learn.microsoft.com/azure/virtual-network/virtual-networks-faq. The code of the second refusal is assumed.
func checkGateways(d *provider.Draft, remote *provider.Item) error {
	if !body.Bool(d.New, "properties.useRemoteGateways") {
		return nil
	}
	if _, subnet := body.FindNamed(body.Objects(remote.Body, "properties.subnets"), gatewaySubnet); subnet == nil {
		return invalidValue("RemoteVnetHasNoGateways",
			"Peering %s cannot have UseRemoteGateway flag set to true because remote virtual network %s referenced by the peering does not have any gateways.",
			d.ID, remote.ID)
	}
	for _, p := range body.Objects(d.Parent, "properties.virtualNetworkPeerings") {
		if body.Bool(p, "properties.useRemoteGateways") && !strings.EqualFold(body.String(p, "name"), d.Name) {
			return invalidValue("OnlyOnePeeringCanUseRemoteGateways",
				"Peering %s cannot have UseRemoteGateway flag set to true because another peering of virtual network %s already has it.", d.ID, d.ParentID)
		}
	}
	return nil
}

// setPeeringState refuses a peering while the one of the other network is disconnected. A PUT of a disconnected peering initiates it again.
// Sources: hashicorp/terraform-provider-azurerm#14051, Azure/bicep-registry-modules#6556.
func setPeeringState(c *provider.Call, d *provider.Draft, remote *provider.Item) error {
	back := findPeering(remote.Body, d.ParentID)
	was := peeringState(d.Old, back, remote)
	if body.String(back, peeringStatePath) == peeringConnected && was != peeringConnected {
		return invalidValue("RemotePeeringIsDisconnected",
			"Cannot create or update peering %s because remote peering %s referencing parent virtual network %s is in Disconnected state. Update or re-create the remote peering to get it back to Initiated state. Peering gets Disconnected when remote vnet or remote peering is deleted and re-created.",
			d.ID, remote.ID+"/virtualNetworkPeerings/"+body.String(back, "name"), d.ParentID)
	}
	// A PUT alone does not take over new address ranges: Azure/bicep#18379, hashicorp/terraform-provider-azurerm#18444.
	if synced := body.Get(d.Old, syncedPath); synced != nil && was != peeringDisconnected && !strings.EqualFold(c.Query.Get("syncRemoteAddressSpace"), "true") {
		body.Set(d.New, syncedPath, synced)
	} else {
		body.Set(d.New, syncedPath, body.Get(remote.Body, spacePath))
	}
	if was == peeringDisconnected {
		was = peeringInitiated
	}
	body.Set(d.New, peeringStatePath, was)
	return nil
}

// findPeering returns the peering of a network with another one, nil if there is none.
func findPeering(network body.Object, with string) body.Object {
	for _, p := range body.Objects(network, "properties.virtualNetworkPeerings") {
		if store.SameID(body.String(p, "properties.remoteVirtualNetwork.id"), with) {
			return p
		}
	}
	return nil
}

// peeringState returns the state of a stored peering. It is disconnected if the peering that it was connected with is gone, or was created
// again. back is the peering of the other network, nil if there is none.
func peeringState(stored, back body.Object, remote *provider.Item) string {
	switch {
	case remote == nil:
		return peeringDisconnected
	case body.String(stored, peeringStatePath) != peeringConnected:
		return peeringInitiated
	case body.String(back, peeringStatePath) != peeringConnected:
		return peeringDisconnected
	}
	return peeringConnected
}

// connectPeerings connects the peerings of a network, whose operation has ended, with those of other networks.
func connectPeerings(c *provider.Call, r *store.Resource) {
	for _, p := range body.Objects(r.Body, "properties.virtualNetworkPeerings") {
		it := c.FindItem(body.String(p, "properties.remoteVirtualNetwork.id"))
		if it == nil || body.String(p, peeringStatePath) == peeringConnected {
			continue
		}
		remote := c.Edit(it.ID)
		back := findPeering(remote.Body, r.ID)
		if back == nil || body.String(back, peeringStatePath) == peeringConnected ||
			body.String(back, "properties.provisioningState") != store.Succeeded {
			continue
		}
		body.Set(p, peeringStatePath, peeringConnected)
		body.Set(back, peeringStatePath, peeringConnected)
		c.SaveResource(remote)
	}
}

func viewPeering(c *provider.Call, it *provider.Item) {
	remote := c.FindItem(body.String(it.Body, "properties.remoteVirtualNetwork.id"))
	var back body.Object
	level := "RemoteNotInSync"
	if remote != nil {
		body.Set(it.Body, "properties.remoteVirtualNetworkAddressSpace", body.Get(remote.Body, spacePath))
		back = findPeering(remote.Body, it.Resource.ID)
		level = syncLevel(isSynced(it.Body, remote.Body), isSynced(back, it.Resource.Body))
	}
	body.Set(it.Body, peeringStatePath, peeringState(it.Body, back, remote))
	body.Set(it.Body, "properties.peeringSyncLevel", level)
}

// touchPeered stores the networks that are peered with one whose address ranges change: the levels of their peerings change with them.
func touchPeered(c *provider.Call, d *provider.Draft) {
	if body.Equal(body.Child(d.Old, spacePath), body.Child(d.New, spacePath)) {
		return
	}
	for _, p := range body.Objects(d.Old, "properties.virtualNetworkPeerings") {
		if it := c.FindItem(body.String(p, "properties.remoteVirtualNetwork.id")); it != nil {
			c.SaveResource(c.Edit(it.ID))
		}
	}
}

// isSynced reports whether a peering has the address ranges of a network.
func isSynced(peering, network body.Object) bool {
	ranges := func(o body.Object, path string) []string {
		return slices.Sorted(slices.Values(body.Strings(o, path+".addressPrefixes")))
	}
	return peering != nil && slices.Equal(ranges(peering, syncedPath), ranges(network, spacePath))
}

// syncLevel returns the level of a peering: https://learn.microsoft.com/rest/api/virtualnetwork/virtual-network-peerings/get#virtualnetworkpeeringlevel
func syncLevel(local, remote bool) string {
	switch {
	case local && remote:
		return "FullyInSync"
	case local:
		return "RemoteNotInSync"
	case remote:
		return "LocalNotInSync"
	}
	return "LocalAndRemoteNotInSync"
}
