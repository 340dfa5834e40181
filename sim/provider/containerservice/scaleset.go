package containerservice

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/network"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// scaleSetID returns the ID of a pool's scale set.
func scaleSetID(cl, pool *store.Resource) store.ID {
	name := "aks-" + pool.Name() + "-" + body.String(cl.Secret, "digits") + "-vmss"
	if body.String(pool.Body, "properties.osType") == "Windows" {
		name = "aks" + pool.Name() // Windows computer names are short
	}
	id, _ := store.ParseID(inNodeGroup(cl, "Microsoft.Compute/virtualMachineScaleSets", name))
	return id
}

// imageDate returns the release of node images; "nodeImageRelease" counts those that came out since.
func imageDate(c *provider.Call) string {
	var n int
	c.ReadNote(imageRelease, &n)
	return fmt.Sprintf("2026%02d.%02d.0", 1+n/4%12, 7+n%4*7)
}

const imageRelease = "nodeImageRelease"

// latestImage names the newest node image for a pool, in the form of recordings.
func latestImage(c *provider.Call, pool body.Object) string {
	date := imageDate(c)
	z, _ := compute.FindSize(body.String(pool, "vmSize"))
	arch := ""
	if z.Arch == "Arm64" {
		arch = "arm64"
	}
	fips := ""
	if body.Bool(pool, "enableFIPS") {
		fips = "fips"
	}
	switch sku := body.String(pool, "osSKU"); sku {
	case "AzureLinux", "AzureLinux3", "CBLMariner":
		return "AKSAzureLinux-V3gen2" + arch + fips + "-" + date
	case "Windows2019", "Windows2022", "Windows2025":
		return "AKSWindows-" + strings.TrimPrefix(sku, "Windows") + "-containerd-20348." + strings.ReplaceAll(date, ".", "")
	case "Ubuntu2404":
		return "AKSUbuntu-2404gen2" + arch + fips + "containerd-" + date
	}
	return "AKSUbuntu-2204gen2" + arch + fips + "containerd-" + date
}

// applyNodes gives a pool's scale set that many instances, of the pool's target version and image.
func applyNodes(c *provider.Call, cl, pool *store.Resource, capacity int) error {
	p := "properties."
	id := scaleSetID(cl, pool)
	subnet := body.String(pool.Body, p+"vnetSubnetID")
	if subnet == "" {
		subnet = managedSubnet(cl)
	}
	tags := map[string]string{"aks-managed-poolName": pool.Name(), "poolName": pool.Name(),
		"aks-managed-orchestrator": "Kubernetes:" + body.String(pool.Secret, "target")}
	for _, from := range []body.Object{body.Child(cl.Body, "tags"), body.Child(pool.Body, p+"tags")} {
		for k, v := range from {
			if s, ok := v.(string); ok {
				tags[k] = s
			}
		}
	}
	price, _ := body.Get(pool.Body, p+"spotMaxPrice").(float64)
	z, _ := compute.FindSize(body.String(pool.Body, p+"vmSize"))
	s := compute.ScaleSet{
		ID: id, Location: cl.Location, Size: body.String(pool.Body, p+"vmSize"), Capacity: capacity,
		Zones: body.Strings(pool.Body, p+"availabilityZones"), Tags: tags,
		OSType: body.String(pool.Body, p+"osType"), Priority: body.String(pool.Body, p+"scaleSetPriority"),
		EvictionPolicy: body.String(pool.Body, p+"scaleSetEvictionPolicy"), MaxPrice: price,
		Image: body.Object{"id": "/subscriptions/109a5e88-712a-48ae-9078-9ca8b3c81345/resourceGroups/AKS-Images/providers/Microsoft.Compute/galleries/AKS/images/" +
			body.String(pool.Secret, "image") + "-k8s-" + body.String(pool.Secret, "target") + "/versions/1.0.0"},
		OSDiskSizeGB: body.Int(pool.Body, p+"osDiskSizeGB"), EphemeralOSDisk: body.String(pool.Body, p+"osDiskType") == "Ephemeral",
		SubnetID: subnet, AcceleratedNetworks: z.Accelerated,
		IPForwarding: body.String(cl.Body, "properties.networkProfile.networkPlugin") == "kubenet",
		BackendPools: backendPools(c, cl), SecurityGroupID: inNodeGroup(cl, network.SecurityGroups, securityGroupName(cl)),
	}
	if body.String(cl.Secret, "digits") == "" {
		s.SecurityGroupID = "" // The cluster was created in another Azure, which does not show its security group.
	}
	if kubelet := body.String(cl.Body, "properties.identityProfile.kubeletidentity.resourceId"); kubelet != "" {
		s.Identities = []string{kubelet}
	}
	return compute.ApplyScaleSet(c, s)
}

// node has the facts about an instance that AKS keeps beside compute.
type node struct {
	Version string `json:"version"`
	Image   string `json:"image"`
}

// nodeFacts returns the version and image of an instance. An instance without a record has those of the pool's first
// version.
func nodeFacts(pool, instance *store.Resource) node {
	e := body.Child(pool.Secret, "nodes."+instance.Name())
	n := node{Version: body.String(e, "version"), Image: body.String(e, "image")}
	if n.Version == "" {
		n.Version = body.String(pool.Body, "properties.currentOrchestratorVersion")
	}
	if n.Image == "" {
		n.Image = body.String(pool.Body, "properties.nodeImageVersion")
	}
	return n
}

func noteInstances(pool *store.Resource, instances ...*store.Resource) {
	if pool.Secret == nil {
		pool.Secret = body.Object{}
	}
	for _, r := range instances {
		body.Set(pool.Secret, "nodes."+r.Name(),
			body.Object{"version": body.String(pool.Secret, "target"), "image": body.String(pool.Secret, "image")})
	}
}

// noteNew notes instances that were made just now, and forgets those that are gone.
func noteNew(c *provider.Call, cl, pool *store.Resource) {
	known := body.Child(pool.Secret, "nodes")
	alive := map[string]bool{}
	for _, r := range compute.ListInstances(c, scaleSetID(cl, pool)) {
		alive[r.Name()] = true
		if known[r.Name()] == nil {
			noteInstances(pool, r)
		}
	}
	for k := range body.Child(pool.Secret, "nodes") {
		if !alive[k] {
			body.Delete(pool.Secret, "nodes."+k)
		}
	}
}

// outdatedInstances lists the instances that have another version or image than the pool wants.
func outdatedInstances(c *provider.Call, cl, pool *store.Resource) []*store.Resource {
	var out []*store.Resource
	for _, r := range compute.ListInstances(c, scaleSetID(cl, pool)) {
		if f := nodeFacts(pool, r); f.Version != body.String(pool.Secret, "target") || f.Image != body.String(pool.Secret, "image") {
			out = append(out, r)
		}
	}
	return out
}

// splitByPower sorts a pool's instances by whether they run.
func splitByPower(c *provider.Call, cl, pool *store.Resource) (running, parked []*store.Resource) {
	for _, r := range compute.ListInstances(c, scaleSetID(cl, pool)) {
		if body.String(r.Secret, "power") == "running" {
			running = append(running, r)
		} else {
			parked = append(parked, r)
		}
	}
	return running, parked
}

func instanceNames(list []*store.Resource) []string {
	var out []string
	for _, r := range list {
		out = append(out, r.Name())
	}
	return out
}

// surgeCount returns the number of nodes that are added while a pool is upgraded, and replaced at once.
func surgeCount(pool *store.Resource, count int) int {
	s := body.String(pool.Body, "properties.upgradeSettings.maxSurge")
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%"))
	if strings.HasSuffix(s, "%") {
		n = int(math.Ceil(float64(count) * float64(n) / 100))
	}
	return max(1, n)
}
