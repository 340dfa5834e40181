package containerservice

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Cluster is a managed cluster whose API server would answer, or is stopped, as the control API shows it.
type Cluster struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	ResourceGroup     string `json:"resourceGroup"`
	SubscriptionID    string `json:"subscriptionID"`
	Location          string `json:"location"`
	KubernetesVersion string `json:"kubernetesVersion"` // of the control plane: "1.33.5"
	FQDN              string `json:"fqdn"`              // "" for a private cluster without a public name
	PrivateFQDN       string `json:"privateFQDN"`
	PowerState        string `json:"powerState"` // Running or Stopped
	ProvisioningState string `json:"provisioningState"`
	ServiceCIDR       string `json:"serviceCIDR"`
	CA                CA     `json:"ca"`
	LocalAccounts     bool   `json:"localAccounts"`
	AAD               bool   `json:"aad"`
	Nodes             []Node `json:"nodes"`
}

// CA is a cluster's certificate authority, in PEM.
type CA struct {
	Certificate string `json:"certificate"`
	Key         string `json:"key"`
}

// Node is an instance of a pool's scale set that runs or ran.
type Node struct {
	Name              string            `json:"name"` // computer name, which is the Node's name
	Pool              string            `json:"pool"`
	Mode              string            `json:"mode"`
	InstanceID        string            `json:"instanceID"` // ARM ID
	ProviderID        string            `json:"providerID"`
	Addresses         []string          `json:"addresses"`
	KubernetesVersion string            `json:"kubernetesVersion"`
	OSType            string            `json:"osType"`
	OSSKU             string            `json:"osSKU"`
	NodeImageVersion  string            `json:"nodeImageVersion"`
	VMSize            string            `json:"vmSize"`
	VCPUs             int               `json:"vCPUs"` // of the size; 0 if the catalogue does not have it
	MemoryGB          float64           `json:"memoryGB"`
	Zone              string            `json:"zone"`
	Labels            map[string]string `json:"labels"`
	Taints            []string          `json:"taints"`
	Priority          string            `json:"priority"` // Regular or Spot
	Running           bool              `json:"running"`
	BootID            string            `json:"bootID"` // changes with every boot
}

// ListClusters lists the clusters that have an API server, ordered by ID.
func ListClusters(c *provider.Call) []Cluster {
	out := []Cluster{}
	for _, r := range c.List(ManagedClusters, "") {
		if body.Bool(r.Secret, "up") {
			out = append(out, clusterView(c, r))
		}
	}
	return out
}

func clusterView(c *provider.Call, r *store.Resource) Cluster {
	id, _ := store.ParseID(r.ID)
	p := "properties."
	v := Cluster{
		ID: r.ID, Name: r.Name(), ResourceGroup: id.ResourceGroup, SubscriptionID: id.Subscription, Location: r.Location,
		KubernetesVersion: body.String(r.Body, p+"currentKubernetesVersion"),
		FQDN:              body.String(r.Body, p+"fqdn"), PrivateFQDN: body.String(r.Body, p+"privateFQDN"),
		PowerState: body.String(r.Body, p+"powerState.code"), ProvisioningState: stateOf(c, r),
		ServiceCIDR:   body.String(r.Body, p+"networkProfile.serviceCidr"),
		CA:            CA{body.String(r.Secret, "ca.certificate"), body.String(r.Secret, "ca.key")},
		LocalAccounts: !body.Bool(r.Body, p+"disableLocalAccounts"), AAD: body.Child(r.Body, p+"aadProfile") != nil, Nodes: []Node{},
	}
	for _, pool := range poolsOf(c, r.ID) {
		for _, instance := range compute.ListInstances(c, scaleSetID(r, pool)) {
			if body.String(instance.Secret, "power") != "" {
				v.Nodes = append(v.Nodes, nodeView(c, pool, instance))
			}
		}
	}
	return v
}

func nodeView(c *provider.Call, pool, instance *store.Resource) Node {
	p := "properties."
	facts := nodeFacts(pool, instance)
	id, _ := store.ParseID(instance.ID)
	group := "/resourceGroups/" + id.ResourceGroup + "/"
	n := Node{
		Name: strings.ToLower(body.String(instance.Body, p+"osProfile.computerName")), Pool: pool.Name(), Mode: body.String(pool.Body, p+"mode"),
		InstanceID: instance.ID,
		ProviderID: "azure://" + strings.Replace(instance.ID, group,
			strings.Replace(strings.ToLower(group), "resourcegroups", "resourceGroups", 1), 1), Addresses: compute.ListAddresses(c, instance),
		KubernetesVersion: facts.Version, OSType: body.String(pool.Body, p+"osType"), OSSKU: body.String(pool.Body, p+"osSKU"),
		NodeImageVersion: facts.Image,
		VMSize:           body.String(pool.Body, p+"vmSize"), Labels: map[string]string{}, Taints: body.Strings(pool.Body, p+"nodeTaints"),
		Priority: "Regular",
		Running:  body.String(instance.Secret, "power") == "running", BootID: body.String(instance.Secret, "bootID"),
	}
	size, _ := compute.FindSize(n.VMSize)
	n.VCPUs, n.MemoryGB = size.VCPUs, size.MemoryGB
	if zones := body.Strings(instance.Body, "zones"); len(zones) > 0 {
		n.Zone = zones[0]
	}
	if s := body.String(pool.Body, p+"scaleSetPriority"); s != "" {
		n.Priority = s
	}
	for k, v := range body.Child(pool.Body, p+"nodeLabels") {
		if s, ok := v.(string); ok {
			n.Labels[k] = s
		}
	}
	return n
}

// ListenerKey returns the key of the listener of a cluster's API server, by the cluster's ID.
func ListenerKey(clusterID string) string { return "aksListener/" + store.Key(clusterID) }

// ByName finds the cluster whose API server has a name.
func ByName(c *provider.Call, host string) *store.Resource {
	if !strings.HasSuffix(host, ".azmk8s.io") {
		return nil
	}
	for _, r := range c.List(ManagedClusters, "") {
		if strings.EqualFold(body.String(r.Body, "properties.fqdn"), host) ||
			strings.EqualFold(body.String(r.Body, "properties.privateFQDN"), host) {
			return r
		}
	}
	return nil
}

// IsAnswering reports whether a cluster's API server is up, and the reason if it is not.
func IsAnswering(r *store.Resource) (bool, string) {
	switch {
	case !body.Bool(r.Secret, "up"):
		return false, "the control plane of managed cluster " + r.ID + " is not up yet"
	case body.String(r.Body, "properties.powerState.code") == "Stopped":
		return false, "managed cluster " + r.ID + " is stopped"
	}
	return true, ""
}

const demandPrefix = "aksDemand/"

func demandKey(poolID string) string {
	id, _ := store.ParseID(poolID)
	return demandPrefix + id.Parent().Key() + "/" + strings.ToLower(id.Name())
}

// growAutomatic is the time from pending pods until the autoscaler has a node for them.
const growAutomatic = 75 * time.Second

// SetDemand records how many nodes the workload of a pool would need. The autoscaler of the pool, if it has one, scales
// to that number within its limits. The error names the missing cluster or pool.
func SetDemand(c *provider.Call, clusterID, pool string, nodes int) error {
	cl := c.Get(clusterID)
	if cl == nil || cl.Type != ManagedClusters {
		return provider.Errorf(404, "NotFound", "no managed cluster has the ID %q", clusterID)
	}
	r := c.Get(cl.ID + "/agentPools/" + pool)
	if r == nil {
		return provider.Errorf(404, "NotFound", "managed cluster %s has no agent pool %q", cl.ID, pool)
	}
	c.SetMeta(demandKey(r.ID), nodes)
	startAutoscaler(c, cl, r)
	return nil
}

// startAutoscaler begins to scale a pool when demand and count differ. Scaling up is quick; nodes are removed after
// the time set in the profile.
func startAutoscaler(c *provider.Call, cl, pool *store.Resource) {
	want, ok := autoscaledCount(c, pool)
	count := body.Int(pool.Body, "properties.count")
	if !ok || want == count {
		return
	}
	delay := growAutomatic
	if want < count {
		delay = 10 * time.Minute
		if d, err := time.ParseDuration(body.String(cl.Body, "properties.autoScalerProfile.scale-down-unneeded-time")); err == nil {
			delay = d
		}
	}
	call, err := c.CallOn("POST", pool.ID)
	if err != nil {
		return
	}
	op := call.StartOperation("autoscale", pool.ID, provider.Timing{LRO: delay, Spread: 0.1})
	op.Keys = nil // the pool stays free for others
	c.PutOperation(op)
}

// autoscaledCount returns the number of nodes to which the autoscaler of a pool would scale.
func autoscaledCount(c *provider.Call, pool *store.Resource) (int, bool) {
	var demand int
	if !body.Bool(pool.Body, "properties.enableAutoScaling") || !c.ReadNote(demandKey(pool.ID), &demand) {
		return 0, false
	}
	return min(max(demand, body.Int(pool.Body, "properties.minCount")), body.Int(pool.Body, "properties.maxCount")), true
}

// finishAutoscale changes the number of nodes behind the pool's back, as the cluster autoscaler does.
func finishAutoscale(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	cl := clusterOf(c, r.ID)
	if cl == nil || c.RunningOn(cl.ID) != nil || c.RunningOn(r.ID) != nil {
		return provider.Again(provider.Seconds(10))
	}
	want, ok := autoscaledCount(c, r)
	if !ok || body.String(r.Body, "properties.powerState.code") == "Stopped" {
		return nil
	}
	running, parked := splitByPower(c, cl, r)
	id := scaleSetID(cl, r)
	switch {
	case want > len(running):
		if err := addNodes(c, cl, r, want-len(running), parked); err != nil {
			return nil // no capacity: the autoscaler stays as it is
		}
	case want < len(running):
		gone := instanceNames(running[want:])
		if body.String(r.Body, "properties.scaleDownMode") == "Deallocate" {
			compute.PowerInstances(c, id, "deallocated", gone...)
		} else {
			compute.RemoveInstances(c, id, gone...)
		}
		noteNew(c, cl, r)
	}
	body.Set(r.Body, "properties.count", want)
	syncRoutes(c, cl)
	return nil
}
