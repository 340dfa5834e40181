package doctor

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
)

// needs are the parts of a subscription that clusters need.
type needs struct {
	// roles are the names of the role definitions of the release.
	roles []string
	// groups are the resource groups with resources of the plan.
	groups []arm.ID
	// providers are the namespaces of resource providers.
	providers []string
	machines  []machines
	versions  []version
	// resources counts resources of the network by region and type in lower case.
	resources map[string]map[string]int
}

// machines are virtual machines of one size in one region. An empty count is that of a size that only manifests name.
type machines struct {
	subject, size, location string
	zones                   []string
	count                   int
	spot                    bool
}

// version is a version of Kubernetes that AKS has to offer.
type version struct {
	subject, version, location string
}

// sized are the fields of bodies that name a VM size.
type sized struct {
	Name     string   `json:"name"`
	Location string   `json:"location"`
	Zones    []string `json:"zones"`
	SKU      struct {
		Name     string `json:"name"`
		Capacity int    `json:"capacity"`
	} `json:"sku"`
	Properties struct {
		HardwareProfile struct {
			VMSize string `json:"vmSize"`
		} `json:"hardwareProfile"`
		Priority              string `json:"priority"`
		VirtualMachineProfile struct {
			Priority string `json:"priority"`
		} `json:"virtualMachineProfile"`
		AgentPoolProfiles []json.RawMessage `json:"agentPoolProfiles"`
		KubernetesVersion string            `json:"kubernetesVersion"`
		agentPool
	} `json:"properties"`
}

// agentPool has the fields of a pool, in its own body and in that of its cluster.
type agentPool struct {
	Name              string   `json:"name"`
	VMSize            string   `json:"vmSize"`
	Count             int      `json:"count"`
	MinCount          int      `json:"minCount"`
	AvailabilityZones []string `json:"availabilityZones"`
	ScaleSetPriority  string   `json:"scaleSetPriority"`
}

// findNeeds returns the needs of the resources that a plan creates in a subscription.
func findNeeds(subscription string, writes []overlay.Write, objects []client.Object) *needs {
	n := &needs{resources: map[string]map[string]int{}}
	created := map[string]overlay.Write{}
	var order []string
	for _, write := range writes {
		if write.Method != http.MethodPut || write.Before != nil || !strings.EqualFold(write.ID.Subscription(), subscription) {
			continue
		}
		if _, has := created[write.ID.Key()]; !has {
			order = append(order, write.ID.Key())
		}
		created[write.ID.Key()] = write
	}
	locations := map[string]string{}
	pools := map[string]bool{}
	for _, key := range order {
		write := created[key]
		var body sized
		if json.Unmarshal(write.Body, &body) != nil {
			continue // The plan has recorded it, and Azure would refuse it.
		}
		n.addProvider(write.ID)
		location := plan.NormalizeRegion(body.Location)
		locations[key] = location
		n.addResource(write.ID, location)
		subject := write.ID.ShortName()
		switch strings.ToLower(write.ID.Type()) {
		case "microsoft.compute/virtualmachines":
			n.addMachines(machines{subject: subject, size: body.Properties.HardwareProfile.VMSize, location: location, zones: body.Zones, count: 1,
				spot: isSpot(body.Properties.Priority)})
		case "microsoft.compute/virtualmachinescalesets":
			n.addMachines(machines{subject: subject, size: body.SKU.Name, location: location, zones: body.Zones, count: body.SKU.Capacity,
				spot: isSpot(body.Properties.VirtualMachineProfile.Priority)})
		case "microsoft.containerservice/managedclusters":
			n.versions = append(n.versions, version{subject, body.Properties.KubernetesVersion, location})
			for _, raw := range body.Properties.AgentPoolProfiles {
				var pool agentPool
				if json.Unmarshal(raw, &pool) == nil && !pools[key+"/agentpools/"+strings.ToLower(pool.Name)] {
					pools[key+"/agentpools/"+strings.ToLower(pool.Name)] = true
					n.addPool(subject+"/"+pool.Name, pool, location)
				}
			}
		case "microsoft.containerservice/managedclusters/agentpools":
			if !pools[key] {
				pools[key] = true
				n.addPool(subject, body.Properties.agentPool, locations[write.ID.Parent().Key()])
			}
		}
	}
	n.roles = chooseRoles(order, created)
	n.addNamed(objects)
	return n
}

func isSpot(priority string) bool {
	return strings.EqualFold(priority, "Spot") || strings.EqualFold(priority, "Low")
}

func (n *needs) addPool(subject string, pool agentPool, location string) {
	n.addMachines(machines{subject: subject, size: pool.VMSize, location: location, zones: pool.AvailabilityZones,
		count: max(pool.Count, pool.MinCount), spot: isSpot(pool.ScaleSetPriority)})
}

func (n *needs) addMachines(m machines) {
	if m.size != "" && m.location != "" {
		n.machines = append(n.machines, m)
	}
}

func (n *needs) addProvider(id arm.ID) {
	namespace, _, _ := strings.Cut(id.Type(), "/")
	if namespace != "" && !strings.EqualFold(namespace, "Microsoft.Resources") && !strings.EqualFold(namespace, "Microsoft.Authorization") &&
		!slices.ContainsFunc(n.providers, func(known string) bool { return strings.EqualFold(known, namespace) }) {
		n.providers = append(n.providers, namespace)
		slices.Sort(n.providers)
	}
}

func (n *needs) addResource(id arm.ID, location string) {
	if group := arm.ResourceGroupID(id.Subscription(), id.ResourceGroup()); id.ResourceGroup() != "" &&
		!slices.ContainsFunc(n.groups, group.Equal) {
		n.groups = append(n.groups, group)
	}
	if location == "" {
		return
	}
	if n.resources[location] == nil {
		n.resources[location] = map[string]int{}
	}
	n.resources[location][strings.ToLower(id.Type())]++
}

// addNamed adds the sizes and versions that the manifests name and no write has: a controller that refuses one writes nothing with it.
func (n *needs) addNamed(objects []client.Object) {
	for _, object := range objects {
		raw, err := json.Marshal(object)
		var body map[string]any
		if err != nil || json.Unmarshal(raw, &body) != nil || object.GetObjectKind().GroupVersionKind().Group != infrav1.GroupVersion.Group {
			continue
		}
		kind, _ := body["kind"].(string)
		spec, _ := body["spec"].(map[string]any)
		subject := kind + " " + object.GetNamespace() + "/" + object.GetName()
		sizes := findTexts(spec, "vmSize")
		if strings.HasPrefix(kind, "AzureManagedMachinePool") {
			sizes = append(sizes, findTexts(spec, "sku")...)
		}
		for _, size := range sizes {
			n.addNamedSize(subject, size)
		}
		if named, is := spec["version"].(string); is && strings.HasSuffix(kind, "ControlPlane") {
			for _, location := range findTexts(spec, "location") {
				n.addNamedVersion(version{subject, strings.TrimPrefix(named, "v"), plan.NormalizeRegion(location)})
				break
			}
		}
	}
}

func (n *needs) addNamedSize(subject, size string) {
	if slices.ContainsFunc(n.machines, func(m machines) bool { return strings.EqualFold(m.size, size) }) {
		return
	}
	for location := range n.resources {
		n.addMachines(machines{subject: subject, size: size, location: location})
	}
}

func (n *needs) addNamedVersion(named version) {
	if !slices.ContainsFunc(n.versions, func(v version) bool { return v.version == named.version && v.location == named.location }) {
		n.versions = append(n.versions, named)
	}
}

// findTexts returns the values of all fields of a name, at any depth.
func findTexts(value any, name string) (out []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, item := range value {
			if text, is := item.(string); is && key == name {
				out = append(out, text)
				continue
			}
			out = append(out, findTexts(item, name)...)
		}
	case []any:
		for _, item := range value {
			out = append(out, findTexts(item, name)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
