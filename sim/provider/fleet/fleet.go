// Package fleet simulates the Fleet Manager of Microsoft.ContainerService: fleets and their members.
//
// Its promise: a member joins and leaves the way Azure's does. The managed cluster must exist, is busy meanwhile, and can be in one
// fleet only. A member under a fleet that does not exist is refused by Azure Resource Manager. Update runs and strategies are left out.
//
// Source of shapes, limits and states: module armcontainerservicefleet v1.2.0 and recordings of the Azure Service Operator.
package fleet

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Full names of the types.
const (
	Fleets  = "Microsoft.ContainerService/fleets"
	Members = Fleets + "/members"

	managedClusters = "Microsoft.ContainerService/managedClusters"
)

var apiVersions = []string{"2025-08-01-preview", "2025-04-01-preview", "2025-03-01", "2024-05-02-preview", "2024-04-01", "2023-10-15",
	"2023-03-15-preview"}

// ResourceTypes returns the resource types, for the provider of Microsoft.ContainerService.
func ResourceTypes() []*provider.Type {
	fleet := &provider.Type{
		Name: Fleets, APIVersions: apiVersions, Style: provider.Containers, Etag: provider.Bare, DeleteRetryAfter: -1, DeleteShows: true,
		Create: provider.Timing{HTTP: 2 * time.Second, LRO: 20 * time.Second}, Update: provider.Timing{HTTP: time.Second, LRO: 15 * time.Second},
		Delete: provider.Timing{HTTP: time.Second, LRO: 20 * time.Second},
		ReadOnlyPaths: []string{"eTag", "properties.status", "properties.hubProfile.fqdn", "properties.hubProfile.kubernetesVersion",
			"properties.hubProfile.portalFqdn"},
		NameRule: nameCheck("Fleet", 63), Prepare: prepareFleet, Finish: finishFleet, View: showMember,
		PatchLRO: provider.Timing{LRO: 10 * time.Second},
		Patch:    func(*provider.Call, *provider.Draft) error { return nil },
		Actions: map[string]*provider.Action{
			"listcredentials": {Start: answerCredentials},
		},
	}
	member := &provider.Type{
		Name: Members, APIVersions: apiVersions, Style: provider.Containers, Etag: provider.Bare, Untracked: true, StateNew: "Joining",
		DeleteRetryAfter: -1, DeleteShows: true,
		Create: provider.Timing{HTTP: 2 * time.Second, LRO: 10 * time.Second}, Update: provider.Timing{HTTP: time.Second, LRO: 5 * time.Second},
		Delete:        provider.Timing{HTTP: time.Second, LRO: 30 * time.Second},
		ReadOnlyPaths: []string{"eTag", "properties.status"},
		NameRule:      nameCheck("Fleet member", 50), Prepare: prepareMember, Finish: finishMember, StartDelete: leaveFleet, View: viewMember,
		Serial: func(id store.ID) []string { return []string{id.String()} },
		Patch:  prepareMember, PatchLRO: provider.Timing{LRO: 5 * time.Second},
	}
	return []*provider.Type{fleet, member}
}

var nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func nameCheck(kind string, longest int) func(string) *provider.Error {
	return func(name string) *provider.Error {
		if len(name) <= longest && nameForm.MatchString(name) {
			return nil
		}
		return newRefusal(400, "InvalidParameter", "%s name '%s' is not valid. It must match '%s' and have 1 to %d characters.", kind, name,
			nameForm, longest)
	}
}

// newRefusal makes an error of this provider.
func newRefusal(status int, code, format string, args ...any) *provider.Error {
	return provider.Errorf(status, code, format, args...)
}

func prepareFleet(c *provider.Call, d *provider.Draft) error {
	p := "properties.hubProfile"
	was, is := body.Child(d.Old, p), body.Child(d.New, p)
	switch {
	case d.Old != nil && was == nil && is != nil:
		return newRefusal(400, "BadRequest", "Fleet '%s' has no hub; a hub cannot be added to it.", d.Name)
	case was != nil && is == nil:
		body.Set(d.New, p, was)
	case was != nil:
		if prefix := body.String(is, "dnsPrefix"); prefix != "" && prefix != body.String(was, "dnsPrefix") {
			return provider.Errorf(400, "PropertyChangeNotAllowed",
				"Changing property 'hubProfile.dnsPrefix' is not allowed.").WithTarget("hubProfile.dnsPrefix")
		}
		merged := body.Clone(was)
		body.Overlay(merged, is)
		body.Set(d.New, p, merged)
	case is != nil:
		body.Default(is, "dnsPrefix", d.Name)
	}
	c.SignSystemData(d)
	return nil
}

// finishFleet makes the hub, when the fleet has one.
func finishFleet(c *provider.Call, op *store.Operation, r *store.Resource) error {
	hub := body.Child(r.Body, "properties.hubProfile")
	if hub != nil && body.String(hub, "fqdn") == "" {
		h := fnv.New64a()
		_, _ = h.Write([]byte(store.Key(r.ID)))
		unique := fmt.Sprintf("%08s", strconv.FormatUint(h.Sum64(), 36))
		host := body.String(hub, "dnsPrefix") + "-" + unique[len(unique)-8:] // eight letters and digits, as recorded
		zone := ".hcp." + r.Location + ".azmk8s.io"
		hub["fqdn"], hub["portalFqdn"], hub["kubernetesVersion"] = host+zone, host+".portal"+zone, "1.33.5"
	}
	body.Set(r.Body, "properties.status.lastOperationId", op.ID)
	return nil
}

func answerCredentials(_ *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.Child(r.Body, "properties.hubProfile") == nil {
		return nil, newRefusal(400, "BadRequest", "Fleet '%s' has no hub and so no credentials.", r.Name())
	}
	return nil, newRefusal(501, "NotImplemented", "Hubs of fleets are not simulated.")
}

func prepareMember(c *provider.Call, d *provider.Draft) error {
	c.SignSystemData(d)
	p := "properties."
	cluster := body.String(d.New, p+"clusterResourceId")
	if cluster == "" {
		cluster = body.String(d.Old, p+"clusterResourceId")
		body.Set(d.New, p+"clusterResourceId", cluster)
	}
	id, err := store.ParseID(cluster)
	if err != nil || id.IsCollection() || !strings.EqualFold(id.Type(), managedClusters) {
		return provider.Errorf(400, "InvalidParameter", "'%s' is no resource ID of a managed cluster.",
			cluster).WithTarget("properties.clusterResourceId")
	}
	if group := body.String(d.New, p+"group"); group != "" && (len(group) > 50 || !nameForm.MatchString(group)) {
		return provider.Errorf(400, "InvalidParameter", "Fleet member group '%s' is not valid. It must match '%s' and have 1 to 50 characters.",
			group, nameForm).WithTarget("properties.group")
	}
	if d.Old != nil {
		if !store.SameID(body.String(d.Old, p+"clusterResourceId"), cluster) {
			return provider.Errorf(400, "PropertyChangeNotAllowed",
				"Changing property 'clusterResourceId' is not allowed.").WithTarget("properties.clusterResourceId")
		}
		return nil
	}
	if c.Get(cluster) == nil {
		return provider.Errorf(404, "ResourceNotFound", "The managed cluster '%s' of fleet member '%s' was not found.", cluster,
			d.Name).WithTarget("properties.clusterResourceId")
	}
	for _, other := range c.List(Members, "") {
		if store.SameID(body.String(other.Body, p+"clusterResourceId"), cluster) {
			return newRefusal(409, "Conflict", "The managed cluster '%s' is already a member of a fleet: '%s'.", cluster, other.ID)
		}
	}
	return nil
}

// joinTime is the time that Azure works on a cluster that joins or leaves.
const joinTime = 20 * time.Second

// occupyCluster keeps a managed cluster busy for as long as Azure works on it, as an update of its own would.
func occupyCluster(c *provider.Call, cluster string) {
	call, err := c.CallOn("PUT", cluster)
	if err != nil || call.Type == nil {
		return
	}
	r := c.Edit(cluster)
	body.Set(r.Body, "properties.provisioningState", "Updating")
	c.SaveResource(r)
	call.StartOperation("update", r.ID, provider.Timing{LRO: joinTime, Spread: 0.1})
}

// isIdle reports whether a cluster has no running operation, so that it can be updated.
func isIdle(c *provider.Call, cluster string) bool {
	r := c.Get(cluster)
	return r != nil && c.RunningOn(cluster) == nil && body.String(r.Body, "properties.provisioningState") == store.Succeeded
}

// leaveFleet keeps the cluster busy while its member goes; a cluster that is busy, failed or gone does not hold the member up.
func leaveFleet(c *provider.Call, r *store.Resource) {
	if cluster := body.String(r.Body, "properties.clusterResourceId"); isIdle(c, cluster) {
		occupyCluster(c, cluster)
	}
}

// finishMember joins the cluster once it is free, and waits until it is again.
func finishMember(c *provider.Call, op *store.Operation, r *store.Resource) error {
	cluster := body.String(r.Body, "properties.clusterResourceId")
	if op.Verb == "create" && c.RunningOn(cluster) != nil {
		return provider.Again(5 * time.Second)
	}
	if op.Verb == "create" && !body.Bool(op.Data, "joined") && isIdle(c, cluster) {
		op.Data = body.Object{"joined": true}
		occupyCluster(c, cluster)
		return provider.Again(5 * time.Second)
	}
	body.Set(r.Body, "properties.status.lastOperationId", op.ID)
	return nil
}

func viewMember(c *provider.Call, it *provider.Item) {
	showMember(c, it)
	if body.String(it.Body, "properties.provisioningState") == "Deleting" {
		body.Set(it.Body, "properties.provisioningState", "Leaving")
	}
}

// showMember writes the etag as this provider does, and the latest operation.
func showMember(c *provider.Call, it *provider.Item) {
	provider.ShowSystemData(it)
	if op := c.RunningOn(it.ID); op != nil {
		body.Set(it.Body, "properties.status.lastOperationId", op.ID)
	}
	if etag := body.String(it.Body, "etag"); etag != "" {
		delete(it.Body, "etag")
		it.Body["eTag"] = `"` + etag + `"`
	}
}
