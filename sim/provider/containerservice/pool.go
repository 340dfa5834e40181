package containerservice

import (
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

var readOnlyPool = []string{"properties.eTag", "properties.currentOrchestratorVersion", "properties.nodeImageVersion",
	"properties.provisioningState"}

// poolType returns the type of agent pools. The stages of poolWork have most of the time.
func poolType() *provider.Type {
	return &provider.Type{
		Name: AgentPools, APIVersions: apiVersions, Style: provider.Containers, Etag: provider.Bare, EtagSince: etagSince, LowerID: true,
		Untracked: true,
		Create:    provider.Timing{HTTP: provider.Seconds(2), LRO: provider.Seconds(5)},
		Update:    provider.Timing{HTTP: provider.Seconds(2), LRO: provider.Seconds(3)},
		Delete:    provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(60)}, Read: provider.Timing{HTTP: provider.Seconds(0.5)},
		DeleteRetryAfter: -1,
		Serial:           func(id store.ID) []string { return []string{id.String()} },
		Prepare:          preparePool, Finish: finishPool, View: viewPool,
		Missing:   missingPool,
		CanDelete: canDeletePool,
		Deleted: func(c *provider.Call, r *store.Resource) {
			c.SetMeta(demandKey(r.ID), nil)
			if cl := clusterOf(c, r.ID); cl != nil {
				compute.RemoveScaleSet(c, scaleSetID(cl, r))
				syncRoutes(c, cl)
			}
		},
		Actions: poolActions(),
		Reads: map[string]func(*provider.Call, *provider.Item) (*provider.Reply, error){
			"upgradeprofiles/default": poolUpgradeProfile, "machines": listMachines,
		},
	}
}

// poolDraft is a pool as a PUT, of its own or of its cluster, would make it. plane is the version of the control plane by the time the
// pool is worked on: a PUT of the cluster raises the control plane first.
type poolDraft struct {
	id, name, location string
	cluster            body.Object
	clusterID          string
	plane              version
	old                *store.Resource
	body               body.Object
	secret             body.Object
}

func (p *poolDraft) hasChanged() bool {
	if p.old == nil || body.String(p.old.Body, "properties.provisioningState") != store.Succeeded || !body.Equal(p.old.Secret, p.secret) {
		return true
	}
	n := body.Clone(p.body)
	body.Set(n, "properties.provisioningState", store.Succeeded)
	return !body.Equal(p.old.Body, n)
}

// maxNodes returns the largest number of nodes that the pool would have, including those that the autoscaler may add.
func (p *poolDraft) maxNodes() int { return nodesOf(p.body) }

func (p *poolDraft) oldNodes() int {
	if p.old == nil {
		return 0
	}
	return nodesOf(p.old.Body)
}

func nodesOf(pool body.Object) int {
	if body.Bool(pool, "properties.enableAutoScaling") {
		return body.Int(pool, "properties.maxCount")
	}
	return body.Int(pool, "properties.count")
}

// preparePool converts the PUT of a pool to its stored form.
func preparePool(c *provider.Call, d *provider.Draft) error {
	cl := clusterOf(c, d.ID)
	if err := clusterIdle(c, cl); err != nil {
		return err
	}
	switch {
	case body.String(cl.Body, "properties.powerState.code") == "Stopped":
		return newRefusal(409, "OperationNotAllowed",
			"Operation is not allowed because the managed cluster %s is stopped. Only start and delete are allowed; please start it first.",
			cl.Name())
	case d.Old == nil && len(poolsOf(c, cl.ID)) >= body.Int(cl.Body, "properties.maxAgentPools"):
		return badRequest("The managed cluster %s has the maximum of %d agent pools.", cl.Name(), body.Int(cl.Body, "properties.maxAgentPools"))
	case d.Old == nil && body.String(cl.Body, "properties.provisioningState") == store.Failed && !body.Bool(cl.Secret, "up"):
		return newRefusal(409, "OperationNotAllowed",
			"Operation is not allowed because the managed cluster %s is in a failed provisioning state. Please reconcile it first. See https://aka.ms/aks-cluster-failed", cl.Name())
	}
	p := &poolDraft{id: d.ID, name: d.Name, location: cl.Location, cluster: cl.Body, clusterID: cl.ID, plane: planeVersion(cl)}
	if err := p.planPool(c, c.Get(d.ID), d.Sent); err != nil {
		return err
	}
	if d.Old == nil {
		p.secret[madeBy] = byItself
	}
	if d.Old != nil && body.String(d.Old, "properties.mode") == "System" && body.String(p.body, "properties.mode") != "System" &&
		lastSystem(c, cl.ID, d.ID) {
		return badRequest("There has to be at least one agent pool with mode System, agent pool %s is the last one.", d.Name)
	}
	if err := p.checkSubnet(c, servicePrefix(cl)); err != nil {
		return err
	}
	if err := checkPoolQuota(c, cl.ID, []*poolDraft{p}); err != nil {
		return err
	}
	d.New = p.body
	for k := range d.Secret {
		delete(d.Secret, k)
	}
	for k, v := range p.secret {
		d.Secret[k] = v
	}
	return nil
}

// planPool merges the sent body into the existing pool, validates and completes it.
func (p *poolDraft) planPool(c *provider.Call, old *store.Resource, doc body.Object) error {
	p.old, p.body, p.secret = old, body.Object{}, body.Object{}
	var was body.Object
	if old != nil {
		was = old.Body
		p.body, p.secret = body.Clone(old.Body), body.Clone(old.Secret)
		if p.secret == nil {
			p.secret = body.Object{}
		}
		delete(p.secret, madeBy)
	}
	sent := sentBody(doc, readOnlyPool)
	if body.Int(sent, "properties.osDiskSizeGB") == 0 {
		body.Delete(sent, "properties.osDiskSizeGB") // 0 asks for the default
	}
	overlayBody(p.body, sent, "")
	if body.Child(p.body, "properties") == nil {
		p.body["properties"] = body.Object{}
	}
	delete(p.body, "tags") // tags of a pool are among its properties
	dropEmpty(p.body, "properties.tags", "properties.nodeLabels", "properties.nodeTaints", "properties.nodeInitializationTaints",
		"properties.availabilityZones")
	body.Delete(p.body, "properties.provisioningState")
	p.dropEvictionDefault()
	if was != nil {
		body.Set(p.body, "properties.provisioningState", body.String(was, "properties.provisioningState"))
		if err := keepFixed(was, p.body, fixedPool...); err != nil {
			return err
		}
	}
	if err := p.validatePool(was); err != nil {
		return err
	}
	if err := p.resolveVersion(c, was); err != nil {
		return err
	}
	p.nameOperation(was)
	return nil
}

// dropEvictionDefault drops the eviction policy Delete of a pool that is not of spot machines: it is the default of the model of the official
// CLI's SDK, which sends it with every pool, and AKS shows none.
// Source: https://learn.microsoft.com/python/api/azure-mgmt-containerservice/azure.mgmt.containerservice.models.agentpool
func (p *poolDraft) dropEvictionDefault() {
	const policy = "properties.scaleSetEvictionPolicy"
	if !strings.EqualFold(body.String(p.body, "properties.scaleSetPriority"), "Spot") &&
		strings.EqualFold(body.String(p.body, policy), "Delete") {
		body.Delete(p.body, policy)
	}
}

// nameOperation sets the name of the running operation.
func (p *poolDraft) nameOperation(was body.Object) {
	if was == nil {
		return
	}
	same := func(k string) bool {
		return body.Equal(body.Get(was, "properties."+k), body.Get(p.body, "properties."+k))
	}
	switch {
	case p.old != nil && body.Equal(was, p.body) && body.Equal(p.old.Secret, p.secret):
	case !same("orchestratorVersion") && body.String(p.secret, "target") != body.String(was, "properties.currentOrchestratorVersion"):
		p.secret["doing"] = "Upgrading"
	case !same("count"):
		p.secret["doing"] = "Scaling"
	default:
		delete(p.secret, "doing")
	}
}

// resolveVersion resolves the pool's Kubernetes version and checks it against the control plane's.
func (p *poolDraft) resolveVersion(c *provider.Call, was body.Object) error {
	body.Default(p.body, "properties.orchestratorVersion", body.String(p.cluster, "properties.kubernetesVersion"))
	want, running := body.String(p.body, "properties.orchestratorVersion"), body.String(was, "properties.currentOrchestratorVersion")
	if was != nil && want == body.String(was, "properties.orchestratorVersion") && body.String(p.secret, "target") != "" {
		p.chooseImage(c, was)
		return nil
	}
	v, ok := resolveVersion(want, running, p.location, longTerm(p.cluster))
	if w, parsed := parseVersion(want); parsed && w.patch < 0 && w.minor == p.plane.minor &&
		(running == "" || !strings.HasPrefix(running, want+".")) {
		v, ok = p.plane, true // the alias of the control plane's minor version is the control plane's version
	}
	if !ok {
		return newRefusal(400, "AgentPoolK8sVersionNotSupported",
			"Version %s is not supported in this region. Please use [az aks get-versions] command to get the supported version list in this region. For more information, please check https://aka.ms/supported-version-list", want).WithTarget("agentPoolProfile.orchestratorVersion")
	}
	if from, had := parseVersion(running); had && from != v {
		if v.isBefore(from) {
			return checkUpgrade(from, v, p.location, longTerm(p.cluster))
		}
	}
	if err := checkSkew(v, p.plane); err != nil {
		return err
	}
	p.secret["target"] = v.String()
	if was == nil {
		body.Set(p.body, "properties.currentOrchestratorVersion", v.String())
	}
	p.chooseImage(c, was)
	return nil
}

// chooseImage chooses the node image: the newest for new pools, upgrades, another OS SKU, and when FIPS is turned on or off; otherwise it
// stays. Nodes of another image are replaced: https://learn.microsoft.com/azure/aks/enable-fips-nodes
func (p *poolDraft) chooseImage(c *provider.Call, was body.Object) {
	props := body.Child(p.body, "properties")
	if was == nil || p.secret["image"] == nil || body.String(p.old.Secret, "target") != body.String(p.secret, "target") ||
		body.String(was, "properties.osSKU") != body.String(props, "osSKU") ||
		body.Bool(was, "properties.enableFIPS") != body.Bool(props, "enableFIPS") {
		p.secret["image"] = latestImage(c, props)
	}
	if was == nil {
		body.Set(p.body, "properties.nodeImageVersion", body.String(p.secret, "image"))
	}
}

// lastSystem reports whether a pool is the only one of mode System.
func lastSystem(c *provider.Call, clusterID, poolID string) bool {
	for _, r := range poolsOf(c, clusterID) {
		if !store.SameID(r.ID, poolID) && body.String(r.Body, "properties.mode") == "System" &&
			body.String(r.Body, "properties.provisioningState") != "Deleting" {
			return false
		}
	}
	return true
}

func canDeletePool(c *provider.Call, it *provider.Item) error {
	cl := clusterOf(c, it.ID)
	if err := clusterIdle(c, cl); err != nil {
		return err
	}
	if body.String(it.Body, "properties.mode") == "System" && lastSystem(c, cl.ID, it.ID) {
		return badRequest("There has to be at least one agent pool with mode System, agent pool %s is the last one and cannot be deleted.",
			it.Name)
	}
	return nil
}

func viewPool(c *provider.Call, it *provider.Item) {
	showPreview(c, it.Body, previewPool)
	hideYounger(c, it.Body, youngerPool)
	eTag(c, it.Body, "properties.eTag")
	if it.Resource != nil {
		r := *it.Resource
		hideUntouched(&r, it.Body)
		body.Set(it.Body, "properties.provisioningState", stateOf(c, &r))
	}
}

// checkPoolQuota checks sizes, zones and quota of the nodes that the pools add. The messages are those of AKS.
func checkPoolQuota(c *provider.Call, clusterID string, pools []*poolDraft) error {
	for _, p := range pools {
		props := body.Child(p.body, "properties")
		more := body.Int(props, "count") - runningNodes(c, clusterID, p)
		size := body.String(props, "vmSize")
		z, known := compute.FindSize(size)
		_, err := compute.CheckSize(c, p.id, size, p.location, body.Strings(props, "availabilityZones"), more,
			strings.EqualFold(body.String(props, "scaleSetPriority"), "Spot"))
		if err == nil {
			continue
		}
		e, ok := err.(*provider.Error)
		switch {
		case !ok:
			return err
		case !known:
			return badRequest("The VM size of %s is not allowed in your subscription in location '%s'. For more details, please visit https://aka.ms/cpu-quota", size, p.location)
		case e.Code == "OperationNotAllowed":
			return newRefusal(400, "ErrCode_InsufficientVCPUQuota", "Insufficient vcpu quota requested %d for family %s in region %s. %s",
				max(0, more)*z.VCPUs, z.Family, p.location, e.Message)
		case e.Code == "InvalidAvailabilityZone" || e.Code == "SkuNotAvailable" && len(body.Strings(props, "availabilityZones")) > 0 &&
			!restrictedIn(z, p.location):
			zones, _ := z.Zones(p.location)
			return newRefusal(400, "AvailabilityZoneNotSupported",
				"Preflight validation check for resource(s) for container service failed. Message: The zone(s) '%s' for resource '%s' is not supported. The supported zones for location '%s' are '%s'.", strings.Join(body.Strings(props, "availabilityZones"), ","), p.name, p.location, strings.Join(zones, ","))
		default:
			return badRequest("The VM size of %s is not allowed in your subscription in location '%s'. %s", z.Name, p.location, e.Message)
		}
	}
	return nil
}

func restrictedIn(z compute.Size, location string) bool {
	_, restricted := z.Zones(location)
	return restricted
}

// runningNodes returns the number of nodes that hold cores already.
func runningNodes(c *provider.Call, clusterID string, p *poolDraft) int {
	if p.old == nil {
		return 0
	}
	cl := c.Get(clusterID)
	n := 0
	for _, r := range compute.ListInstances(c, scaleSetID(cl, p.old)) {
		if body.String(r.Secret, "power") == "running" {
			n++
		}
	}
	return n
}

var poolNameForm = regexp.MustCompile(`^[a-z][a-z0-9]{0,11}$`)

// poolChoices are enumerations of a pool.
var poolChoices = map[string][]string{
	"properties.mode":   {"System", "User", "Gateway"},
	"properties.osType": {"Linux", "Windows"},
	"properties.osSKU": {"Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux", "AzureLinux3", "CBLMariner", "Windows2019",
		"Windows2022", "Windows2025"},
	"properties.osDiskType":             {"Managed", "Ephemeral"},
	"properties.kubeletDiskType":        {"OS", "Temporary"},
	"properties.scaleDownMode":          {"Delete", "Deallocate"},
	"properties.scaleSetPriority":       {"Regular", "Spot"},
	"properties.scaleSetEvictionPolicy": {"Delete", "Deallocate"},
	"properties.type":                   {"VirtualMachineScaleSets"},
	"properties.powerState.code":        {"Running", "Stopped"},
}

// fixedPool cannot change. Source: https://learn.microsoft.com/azure/aks/manage-node-pools
var fixedPool = []string{
	"properties.vmSize", "properties.osDiskType", "properties.osDiskSizeGB", "properties.kubeletDiskType", "properties.maxPods",
	"properties.vnetSubnetID", "properties.podSubnetID", "properties.osType", "properties.type",
	"properties.availabilityZones", "properties.scaleSetPriority", "properties.scaleSetEvictionPolicy", "properties.enableNodePublicIP",
	"properties.nodePublicIPPrefixID", "properties.enableEncryptionAtHost", "properties.enableUltraSSD",
	"properties.kubeletConfig", "properties.linuxOSConfig", "properties.proximityPlacementGroupID", "properties.capacityReservationGroupID",
	"properties.hostGroupID", "properties.gpuInstanceProfile", "properties.workloadRuntime",
}

func windowsSKU(s string) bool { return strings.HasPrefix(s, "Windows") }

// setContains adds v to the list of strings at path unless the list has it.
func setContains(o body.Object, path, v string) {
	list := body.Strings(o, path)
	if !slices.Contains(list, v) {
		body.Set(o, path, append(list, v))
	}
}
