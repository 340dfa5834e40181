package containerservice

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/msi"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// builder creates AKS's resources in the node resource group, through their own providers. It is called again until
// all of them exist.
type builder struct {
	c    *provider.Call
	cl   *store.Resource // an editable copy of the cluster
	busy bool            // something is not ready yet
	err  error
}

// inner is the api-version of the calls to other providers.
const inner = "2024-05-01"

// ensureResource makes a resource, or changes it when it was made from another document. It returns it once its operation has ended.
func (b *builder) ensureResource(id string, doc body.Object) *store.Resource {
	if b.err != nil {
		return nil
	}
	raw, _ := json.Marshal(doc)
	sum := sha256.Sum256(raw)
	print, key := hex.EncodeToString(sum[:8]), madeKey(id)
	it := b.c.FindItem(id)
	if it != nil && body.String(b.cl.Secret, key) == print {
		switch state := body.String(it.Body, "properties.provisioningState"); state {
		case "", store.Succeeded:
			return &store.Resource{ID: it.ID, Type: it.Resource.Type, Body: it.Body, Location: it.Location}
		case store.Failed:
			b.forgetResource(id) // the next PUT of the cluster tries again
			b.err = provider.Errorf(0, "InternalOperationError", "Resource %s of the node resource group is in state Failed.", id)
		}
		b.busy = true
		return nil
	}
	call, err := b.c.CallOn("PUT", id)
	if err != nil || call.Type == nil {
		b.err = err
		return nil
	}
	call.APIVersion, call.Body, call.Header = inner, body.Clone(doc), http.Header{}
	if _, err = call.PutResource(); err != nil {
		var e *provider.Error
		if errors.As(err, &e) && (e.Status == 429 || e.Status == 409 && e.Code == "AnotherOperationInProgress") {
			b.busy = true
			return nil
		}
		b.err = err
		return nil
	}
	body.Set(b.cl.Secret, key, print)
	if it := b.c.FindItem(id); it != nil &&
		(body.String(it.Body, "properties.provisioningState") == store.Succeeded || body.String(it.Body, "properties.provisioningState") == "") {
		return &store.Resource{ID: it.ID, Type: it.Resource.Type, Body: it.Body, Location: it.Location}
	}
	b.busy = true
	return nil
}

// madeKey returns the key of the fingerprint of the document that a resource was made from.
func madeKey(id string) string {
	return "made." + strings.NewReplacer(".", "_").Replace(store.Key(id))
}

func (b *builder) forgetResource(id string) { body.Delete(b.cl.Secret, madeKey(id)) }

func (b *builder) resourceID(typ, name string) string { return inNodeGroup(b.cl, typ, name) }

func (b *builder) drawDigits() string { return body.String(b.cl.Secret, "digits") }

func (b *builder) newTracked(props body.Object) body.Object {
	o := body.Object{"location": b.cl.Location, "properties": props}
	if tags := body.Child(b.cl.Body, "tags"); tags != nil {
		o["tags"] = body.Clone(tags)
	}
	return o
}

func securityGroupName(cl *store.Resource) string {
	return "aks-agentpool-" + body.String(cl.Secret, "digits") + "-nsg"
}

func managedSubnet(cl *store.Resource) string {
	return inNodeGroup(cl, network.VirtualNetworks, "aks-vnet-"+body.String(cl.Secret, "digits")) + "/subnets/aks-subnet"
}

// buildGroup makes the group and all that does not belong to a pool.
func (b *builder) buildGroup() {
	group := nodeGroupID(b.cl.ID, b.cl.Body)
	parsed, _ := store.ParseID(b.cl.ID)
	if g := b.c.Get(group); g != nil && !store.SameID(body.String(g.Body, "managedBy"), b.cl.ID) {
		b.err = newRefusal(409, "NodeResourceGroupAlreadyExists",
			"The node resource group '%s' already exists and does not belong to this managed cluster. Choose another name in nodeResourceGroup.",
			body.String(b.cl.Body, "properties.nodeResourceGroup"))
		return
	}
	tags := body.Object{"aks-managed-cluster-name": b.cl.Name(), "aks-managed-cluster-rg": parsed.ResourceGroup}
	for k, v := range body.Child(b.cl.Body, "tags") {
		tags[k] = v
	}
	b.ensureResource(group, body.Object{"location": b.cl.Location, "managedBy": b.cl.ID, "tags": tags})
	b.createIdentities()
	b.ensureResource(b.resourceID(network.SecurityGroups, securityGroupName(b.cl)), b.newTracked(body.Object{}))
	subnet := b.nodeSubnet()
	if b.busy || b.err != nil {
		return
	}
	b.buildOutbound(subnet)
	if body.Bool(b.cl.Body, "properties.apiServerAccessProfile.enablePrivateCluster") &&
		!body.Bool(b.cl.Body, "properties.apiServerAccessProfile.enableVnetIntegration") {
		b.privateAccess(subnet)
	} else if body.Bool(b.cl.Body, "properties.apiServerAccessProfile.enableVnetIntegration") {
		b.integratedAccess(subnet)
	}
}

// createIdentities makes the kubelet's identity and those of add-ons, and shows them.
func (b *builder) createIdentities() {
	p := "properties."
	show := func(path, name string) {
		r := b.ensureResource(b.resourceID(msi.Identities, name), body.Object{"location": b.cl.Location})
		if r != nil {
			body.Set(b.cl.Body, path,
				body.Object{"resourceId": lowerGroup(r.ID), "clientId": body.String(r.Body, p+"clientId"),
					"objectId": body.String(r.Body, p+"principalId")})
		}
	}
	own := b.resourceID(msi.Identities, b.cl.Name()+"-agentpool")
	if have := body.String(b.cl.Body, p+"identityProfile.kubeletidentity.resourceId"); have == "" || store.SameID(have, own) {
		show(p+"identityProfile.kubeletidentity", b.cl.Name()+"-agentpool")
	}
	for _, name := range slices.Sorted(maps.Keys(body.Child(b.cl.Body, p+"addonProfiles"))) {
		prefix := addonIdentities[strings.ToLower(name)]
		if prefix != "" && body.Bool(b.cl.Body, p+"addonProfiles."+name+".enabled") {
			show(p+"addonProfiles."+name+".identity", prefix+b.cl.Name())
		} else if a := body.Child(b.cl.Body, p+"addonProfiles."+name); a != nil {
			delete(a, "identity")
		}
	}
	if body.Bool(b.cl.Body, p+"ingressProfile.webAppRouting.enabled") {
		show(p+"ingressProfile.webAppRouting.identity", "webapprouting-"+b.cl.Name())
	}
}

// addonIdentities are the add-ons that get an identity, and how its name begins.
var addonIdentities = map[string]string{
	"omsagent": "omsagent-", "azurepolicy": "azurepolicy-", "azurekeyvaultsecretsprovider": "azurekeyvaultsecretsprovider-",
	"ingressapplicationgateway": "ingressapplicationgateway-",
	"httpapplicationrouting":    "httpapplicationrouting-", "aciconnectorlinux": "aciconnectorlinux-", "extensionmanager": "extensionmanager-",
}

// nodeSubnet returns the ID of the nodes' subnet: the first pool's, or that of a network AKS makes.
func (b *builder) nodeSubnet() string {
	own := ""
	for _, p := range poolsOf(b.c, b.cl.ID) {
		if own = body.String(p.Body, "properties.vnetSubnetID"); own != "" {
			break
		}
	}
	kubenet := body.String(b.cl.Body, "properties.networkProfile.networkPlugin") == "kubenet"
	table := b.resourceID(network.RouteTables, "aks-agentpool-"+b.drawDigits()+"-routetable")
	if kubenet {
		b.ensureResource(table, b.newTracked(body.Object{"disableBgpRoutePropagation": false}))
	}
	if b.busy || b.err != nil {
		return own
	}
	if own == "" {
		sub := body.Object{"addressPrefix": "10.224.0.0/16",
			"networkSecurityGroup": body.Object{"id": b.resourceID(network.SecurityGroups, securityGroupName(b.cl))}}
		if kubenet {
			sub["routeTable"] = body.Object{"id": table}
		}
		own = managedSubnet(b.cl)
		if it := b.c.FindItem(own); it == nil {
			b.ensureResource(strings.TrimSuffix(own, "/subnets/aks-subnet"),
				b.newTracked(body.Object{"addressSpace": body.Object{"addressPrefixes": []any{"10.224.0.0/12"}},
					"subnets": []any{body.Object{"name": "aks-subnet", "properties": sub}}}))
		}
		return own
	}
	if kubenet {
		b.attachToSubnet(own, "routeTable", table)
	}
	return own
}

// attachToSubnet associates a resource with a subnet unless it has one already.
func (b *builder) attachToSubnet(subnetID, field, id string) {
	it := b.c.FindItem(subnetID)
	if it == nil || b.err != nil {
		return
	}
	if body.String(it.Body, "properties."+field+".id") != "" {
		if body.String(it.Body, "properties.provisioningState") == "Updating" {
			b.busy = true
		}
		return
	}
	props := body.Clone(body.Child(it.Body, "properties"))
	props[field] = body.Object{"id": id}
	b.forgetResource(it.ID)
	b.ensureResource(it.ID, body.Object{"properties": props})
}

// detachForeign takes references to the node resource group out of networks and zones that stay.
func detachForeign(c *provider.Call, cl *store.Resource, group string) {
	for _, r := range c.List("", group) {
		dissociateFromSubnets(c, r.ID, group, false)
	}
	for _, id := range body.Strings(cl.Secret, "foreign") {
		c.EraseTree(id)
	}
}

// dissociateFromSubnets takes a route table or NAT gateway out of subnets: those of networks outside the group, or all.
func dissociateFromSubnets(c *provider.Call, id, group string, all bool) {
	inside := store.Key(group) + "/"
	for _, ref := range c.Referrers(id) {
		if !all && strings.HasPrefix(store.Key(ref.From), inside) || ref.Field != "routeTable" && ref.Field != "natGateway" {
			continue
		}
		vnet := c.Edit(ref.From)
		if vnet == nil {
			continue
		}
		for _, s := range body.Objects(vnet.Body, "properties.subnets") {
			if store.SameID(body.String(s, "properties."+ref.Field+".id"), id) {
				body.Delete(s, "properties."+ref.Field)
			}
		}
		c.SaveResource(vnet)
	}
}
