package containerservice

import (
	"cmp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// readOnlyCluster are properties only AKS writes.
var readOnlyCluster = []string{
	"properties.powerState", "properties.maxAgentPools", "properties.currentKubernetesVersion", "properties.fqdn",
	"properties.azurePortalFQDN", "properties.privateFQDN", "properties.resourceUID",
	"properties.networkProfile.loadBalancerProfile.effectiveOutboundIPs", "properties.networkProfile.natGatewayProfile.effectiveOutboundIPs",
	"properties.oidcIssuerProfile.issuerURL",
	"properties.ingressProfile.webAppRouting.identity", "properties.agentPoolProfiles[].provisioningState",
}

// clusterType returns the type of managed clusters. Recordings show 170 s (135 to 384) from PUT to Succeeded and 220 s (188 to 250)
// for a deletion; the stages of reconcile add up to that.
func clusterType() *provider.Type {
	return &provider.Type{
		Name: ManagedClusters, APIVersions: apiVersions, Style: provider.Containers, Etag: provider.Bare, EtagSince: etagSince, LowerID: true,
		Create:           provider.Timing{HTTP: provider.Seconds(5), LRO: provider.Seconds(15)},
		Update:           provider.Timing{HTTP: provider.Seconds(4), LRO: provider.Seconds(5)},
		Delete:           provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(220), Spread: 0.1},
		Read:             provider.Timing{HTTP: provider.Seconds(1.2)},
		DeleteRetryAfter: -1, Works: true,
		EmptyEnd: true, // Recorded in sigs.k8s.io/cloud-provider-azure/pkg/azclient@v0.26.1, managedclusterclient.
		NameRule: clusterName, Prepare: prepareCluster, Finish: finishCluster, View: viewCluster,
		Patch: prepareTags, PatchLRO: provider.Timing{LRO: provider.Seconds(10)},
		CanDelete: func(c *provider.Call, it *provider.Item) error { return poolsIdle(c, it.ID) },
		StartDelete: func(c *provider.Call, r *store.Resource) {
			for _, p := range poolsOf(c, r.ID) {
				setState(c, p.ID, "Deleting")
			}
		},
		Deleted: clusterDeleted,
		Actions: clusterActions(),
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"availableagentpoolversions": availableAgentPoolVersions, "upgradeprofiles/default": clusterUpgradeProfile,
			"privateendpointconnections": func(*provider.Call, *provider.Item) (*provider.Reply, error) {
				return provider.OK([]any{}), nil
			},
		},
	}
}

func clusterName(name string) *provider.Error {
	ok := len(name) <= 63 && name != ""
	for i, r := range name {
		alnum := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		ok = ok && (alnum || (r == '-' || r == '_') && i > 0 && i < len(name)-1)
	}
	if ok {
		return nil
	}
	return invalidParameter("resourceName",
		"The resource name '%s' must be 1 to 63 letters, digits, '-' or '_', and begin and end with a letter or digit. Please see https://aka.ms/aks-naming-rules for more details", name)
}

// prepareCluster converts a PUT to the stored form of a cluster, and of its pools if the cluster is new.
func prepareCluster(c *provider.Call, d *provider.Draft) error {
	if err := poolsIdle(c, d.ID); err != nil {
		return err
	}
	if d.Old != nil && body.String(d.Old, "properties.powerState.code") == "Stopped" {
		return newRefusal(409, "OperationNotAllowed",
			"Operation is not allowed because the managed cluster %s is stopped. Only start and delete are allowed; please start it first.", d.Name)
	}
	identity := d.New["identity"]
	n := body.Clone(d.Old)
	if n == nil {
		n = body.Object{}
	}
	sent := sentBody(d.Sent, readOnlyCluster)
	profiles := body.Get(sent, "properties.agentPoolProfiles")
	body.Delete(sent, "properties.agentPoolProfiles")
	overlayBody(n, sent, "")
	if body.Child(n, "properties") == nil {
		n["properties"] = body.Object{}
	}
	if identity != nil {
		n["identity"] = identity
	}
	n["location"] = d.Location
	dropEmpty(n, "tags")
	d.New = n
	if err := validateCluster(c, d); err != nil {
		return err
	}
	if err := clusterDefaults(c, d); err != nil {
		return err
	}
	pools, err := plannedPools(c, d, profiles)
	if err != nil {
		return err
	}
	if err := validateNetwork(c, d, pools); err != nil {
		return err
	}
	return savePools(c, d, pools)
}

// prepareTags lets a PATCH change tags only.
func prepareTags(_ *provider.Call, d *provider.Draft) error {
	tags, had := d.New["tags"], body.Has(d.Sent, "tags")
	for k := range d.New {
		delete(d.New, k)
	}
	for k, v := range body.Clone(d.Old) {
		d.New[k] = v
	}
	if had {
		d.New["tags"] = tags
		dropEmpty(d.New, "tags")
	}
	return nil
}

// plannedPools reads agentPoolProfiles: every pool of a new cluster; later only changes of pools that exist.
func plannedPools(c *provider.Call, d *provider.Draft, raw any) ([]*poolDraft, error) {
	list := body.Objects(body.Object{"l": raw}, "l")
	plane, _ := parseVersion(body.String(d.Secret, "target"))
	seen := map[string]bool{}
	var out []*poolDraft
	systems := 0
	for _, e := range list {
		name := body.String(e, "name")
		if seen[name] {
			return nil, invalidParameter("agentPoolProfile.name", "Agent pool names must be unique, '%s' is used more than once", name)
		}
		seen[name] = true
		id := d.ID + "/agentPools/" + name
		old := c.Get(id)
		if d.Old != nil && old == nil {
			return nil, badRequest("A new agent pool was introduced. Adding agent pools to an existing cluster is not allowed through managed cluster operations. For agent pool specific change, please use per agent pool operations: https://aka.ms/agent-pool-rest-api")
		}
		p := body.Clone(e)
		delete(p, "name")
		pd := &poolDraft{id: id, name: name, location: d.Location, cluster: d.New, clusterID: d.ID, plane: plane}
		if err := pd.planPool(c, old, body.Object{"properties": p}); err != nil {
			return nil, err
		}
		switch {
		case old != nil:
		case body.Has(p, "enableAutoScaling"):
			pd.secret[madeBy] = byItself
		default:
			pd.secret[madeBy] = withCluster
		}
		if body.String(pd.body, "properties.mode") == "System" {
			systems++
		}
		out = append(out, pd)
	}
	if d.Old == nil && len(list) == 0 {
		return nil, invalidParameter("agentPoolProfiles", "At least one agent pool is required")
	}
	if d.Old != nil {
		for _, r := range poolsOf(c, d.ID) {
			if !seen[r.Name()] && body.String(r.Body, "properties.mode") == "System" {
				systems++
			}
		}
	}
	if systems == 0 {
		return nil, badRequest("There has to be at least one agent pool with mode System in managed cluster %s.", d.Name)
	}
	if err := checkPoolsBehind(c, d, plane, out); err != nil {
		return nil, err
	}
	return out, checkPoolQuota(c, d.ID, out)
}

// checkPoolsBehind refuses an upgrade of the control plane that would leave a pool too many minor versions behind. Pools of the same PUT
// can be upgraded with it.
func checkPoolsBehind(c *provider.Call, d *provider.Draft, plane version, planned []*poolDraft) error {
	from, had := parseVersion(body.String(d.Old, "properties.currentKubernetesVersion"))
	if !had || plane.minor <= from.minor {
		return nil
	}
	upgraded := map[string]string{}
	for _, p := range planned {
		upgraded[store.Key(p.id)] = body.String(p.secret, "target")
	}
	for _, r := range poolsOf(c, d.ID) {
		running := cmp.Or(upgraded[store.Key(r.ID)], body.String(r.Body, "properties.currentOrchestratorVersion"))
		if v, ok := parseVersion(running); ok {
			if err := checkSkew(v, plane); err != nil {
				return err
			}
		}
	}
	return nil
}

// savePools stores the pools of an accepted cluster PUT.
func savePools(c *provider.Call, d *provider.Draft, pools []*poolDraft) error {
	touched := false
	for _, p := range pools {
		if p.hasChanged() {
			touched = true
			state := "Updating"
			if p.old == nil {
				state = "Creating"
			}
			body.Set(p.body, "properties.provisioningState", state)
			c.SaveResource(&store.Resource{ID: p.id, Type: AgentPools, Body: p.body, Secret: p.secret})
		}
	}
	if touched && d.Old != nil {
		d.Secret["pools"] = float64(body.Int(d.Secret, "pools") + 1) // a change of pools alone is work, too
	}
	return nil
}

// poolsIdle answers when an operation of a pool is running, which keeps the cluster from changing.
func poolsIdle(c *provider.Call, clusterID string) error {
	for _, p := range poolsOf(c, clusterID) {
		if op := c.RunningOn(p.ID); op != nil && op.Type == AgentPools {
			return operationPending(op, "agent pool "+p.Name(), stateOf(c, p))
		}
	}
	return nil
}

// clusterIdle answers when the cluster is busy, which keeps its pools from changing.
func clusterIdle(c *provider.Call, cl *store.Resource) error {
	if op := c.RunningOn(cl.ID); op != nil {
		return operationPending(op, "managed cluster", stateOf(c, cl))
	}
	return nil
}

func operationPending(op *store.Operation, what, state string) error {
	return newRefusal(409, "OperationNotAllowed",
		"Operation is not allowed because there's an in progress %s operation (%s) on the %s in state %s started on %s. Please wait for it to finish before starting a new operation. See https://aka.ms/aks-pending-operation for more details",
		op.Verb, op.ID, what, state, op.Started.Format("2006-01-02T15:04:05Z07:00"))
}

// stateOf returns the provisioning state to show: that of the running operation, and Failed for a pool whose
// cluster's operation ended before the pool was done.
func stateOf(c *provider.Call, r *store.Resource) string {
	state := body.String(r.Body, "properties.provisioningState")
	op := c.RunningOn(r.ID)
	if op != nil {
		if doing := actionStates[op.Verb]; doing != "" {
			return doing
		}
	}
	if doing := body.String(r.Secret, "doing"); state == "Updating" && doing != "" {
		return doing
	}
	if op == nil && r.Type == AgentPools && state != store.Succeeded && state != store.Failed && state != store.Canceled {
		if cl := clusterOf(c, r.ID); cl != nil && c.Get(r.ID) != nil && c.RunningOn(cl.ID) == nil {
			return store.Failed
		}
	}
	return state
}

func setState(c *provider.Call, id, state string) {
	if r := c.Edit(id); r != nil {
		body.Set(r.Body, "properties.provisioningState", state)
		c.SaveResource(r)
	}
}

func viewCluster(c *provider.Call, it *provider.Item) {
	b := it.Body
	b["type"] = "Microsoft.ContainerService/ManagedClusters" // as recorded
	showPreview(c, b, previewCluster)
	hideYounger(c, b, youngerCluster)
	eTag(c, b, "eTag")
	profiles := []any{}
	for _, r := range poolsOf(c, it.ID) {
		e := body.Clone(body.Child(r.Body, "properties"))
		e["name"], e["provisioningState"] = r.Name(), stateOf(c, r)
		if showsETag(c) && r.Etag != "" {
			e["eTag"] = r.Etag
		}
		wrap := body.Object{"properties": e}
		showPreview(c, wrap, previewPool)
		hideYounger(c, wrap, youngerPool)
		hideUntouched(r, wrap)
		if _, sent := body.FindNamed(body.Objects(c.Body, "properties.agentPoolProfiles"), r.Name()); sent != nil && c.Method == "PUT" &&
			body.String(it.Body, "properties.provisioningState") == "Updating" {
			e["provisioningState"] = "Updating" // although nothing of it changes, as recorded
		}
		if c.Method == "PUT" {
			// Only the answer of a PUT shows these when they are empty.
			body.Default(e, "nodeLabels", body.Object{})
			body.Default(e, "tags", body.Object{})
		}
		profiles = append(profiles, e)
	}
	body.Set(b, "properties.agentPoolProfiles", profiles)
	if it.Resource != nil {
		r := *it.Resource
		body.Set(b, "properties.provisioningState", stateOf(c, &r))
	}
}

// clusterDeleted deletes the node resource group, and the resources that AKS added to networks and zones outside of
// it.
func clusterDeleted(c *provider.Call, r *store.Resource) {
	group := nodeGroupID(r.ID, r.Body)
	detachForeign(c, r, group)
	if g := c.Get(group); g != nil && store.SameID(body.String(g.Body, "managedBy"), r.ID) {
		c.EraseTree(group)
	}
	c.SetMeta(ListenerKey(r.ID), nil)
	for _, k := range c.MetaKeys(demandPrefix + store.Key(r.ID) + "/") {
		c.SetMeta(k, nil)
	}
}

// nodeGroupID returns the ID of the node resource group.
func nodeGroupID(clusterID string, cluster body.Object) string {
	id, _ := store.ParseID(clusterID)
	return "/subscriptions/" + id.Subscription + "/resourceGroups/" + body.String(cluster, "properties.nodeResourceGroup")
}

func inNodeGroup(cl *store.Resource, typ, name string) string {
	return nodeGroupID(cl.ID, cl.Body) + "/providers/" + typ + "/" + name
}

// sameValue compares values; IDs and enumerations regardless of case, lists of zones regardless of order.
func sameValue(a, b any) bool {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return ok && strings.EqualFold(x, y)
	}
	x, ok := a.([]any)
	y, ok2 := b.([]any)
	if !ok || !ok2 {
		return body.Equal(a, b)
	}
	if len(x) != len(y) {
		return false
	}
	count := map[any]int{}
	for _, v := range x {
		s, ok := v.(string)
		if !ok {
			return body.Equal(a, b)
		}
		count[strings.ToLower(s)]++
	}
	for _, v := range y {
		s, _ := v.(string)
		if count[strings.ToLower(s)]--; count[strings.ToLower(s)] < 0 {
			return false
		}
	}
	return true
}
