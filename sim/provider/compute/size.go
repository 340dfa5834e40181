package compute

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

// Size is one VM size of the catalogue.
type Size struct {
	Name, Family string
	VCPUs        int
	MemoryGB     float64
	Arch         string // "x64" or "Arm64"
	Ephemeral    bool   // can hold an ephemeral OS disk
	Premium      bool   // premium disks
	Accelerated  bool   // accelerated networking
	HostEncrypt  bool   // encryption at host
	Ultra        bool   // ultra disks, per zone
	Confidential string // "SNP", "TDX" or ""
	NoTrusted    bool   // trusted launch is not available
	Generation2  bool   // runs images of generation 2 only
	Burstable    bool   // counts on not using its processors all the time
	GPUs         int
	MaxNICs      int
	MaxDisks     int
}

// CacheGB returns the size of the cache that an ephemeral OS disk may be in.
func (z Size) CacheGB() int {
	if !z.Ephemeral {
		return 0
	}
	return z.VCPUs * 25
}

// TempGB returns the size of the temporary disk.
func (z Size) TempGB() int {
	if !z.Ephemeral {
		return 0
	}
	return z.VCPUs * 16
}

// OffersSpot reports whether the size is available as a spot VM. Source:
// https://learn.microsoft.com/azure/virtual-machines/spot-vms#limitations
func (z Size) OffersSpot() bool { return !z.Burstable }

func (z Size) onlyGeneration2() bool {
	return z.Arch == "Arm64" || z.Confidential != "" || z.Generation2
}

// sizes are all sizes by lower-case name; sizeNames are their names, sorted.
var (
	sizes     = buildSizes()
	sizeNames = namesOf(sizes)
)

func namesOf(sizes map[string]Size) []string {
	var names []string
	for _, z := range sizes {
		names = append(names, z.Name)
	}
	slices.Sort(names)
	return names
}

// missing lists the zones of each region in which a size is not offered. The zone "" means that the subscription may
// not use the size in the region.
var missing = map[string][]string{
	"eastus/standard_e8s_v5":               {"3"},
	"eastus/standard_nc24ads_a100_v4":      {"2", "3"},
	"westus3/standard_nc6s_v3":             {"1"},
	"westeurope/standard_d2ps_v5":          {"3"},
	"westeurope/standard_nd96asr_v4":       {""},
	"northeurope/standard_nc24ads_a100_v4": {""},
	"uksouth/standard_dc2as_v5":            {"1"},
	"uksouth/standard_nd96asr_v4":          {""},
	"swedencentral/standard_nc6s_v3":       {""},
	"northcentralus/standard_d2ps_v5":      {""},
	"northcentralus/standard_dc2as_v5":     {""},
	"westus/standard_nd96asr_v4":           {""},
	"westus2/standard_dc4ads_v5":           {""},
	"westus/standard_nc24ads_a100_v4":      {""},
	"northcentralus/standard_nd96asr_v4":   {""},
	"southcentralus/standard_nc4as_t4_v3":  {"2"},
	"swedencentral/standard_nc4as_t4_v3":   {"1"},
	"germanywestcentral/standard_nc6s_v3":  {""},
	"francecentral/standard_l8s_v3":        {"2"},
	"japaneast/standard_nc24ads_a100_v4":   {""},
	"southeastasia/standard_nd96asr_v4":    {""},
	"australiaeast/standard_nd96asr_v4":    {""},
	"canadacentral/standard_nd96asr_v4":    {""},
	"centralus/standard_dc2as_v5":          {"1", "2"},
	"eastus2/standard_nc6s_v3":             {"3"},
	"northeurope/standard_dc2as_v5":        {"2"},
	"westus2/standard_nc24ads_a100_v4":     {"1"},
	"southcentralus/standard_dc4ads_v5":    {""},
}

// FindSize looks a size up, ignoring case.
func FindSize(name string) (Size, bool) {
	z, ok := sizes[strings.ToLower(name)]
	return z, ok
}

// Zones lists where a size is offered in a region; restricted means the subscription may not use it in the region at all.
func (z Size) Zones(location string) (zones []string, restricted bool) {
	gone := missing[location+"/"+strings.ToLower(z.Name)]
	if slices.Contains(gone, "") {
		restricted = true
	}
	if !provider.HasZones(location) {
		return nil, restricted
	}
	for _, zone := range []string{"1", "2", "3"} {
		if !slices.Contains(gone, zone) {
			zones = append(zones, zone)
		}
	}
	return zones, restricted
}

// CheckSize returns an error for a size that is not available: unknown, not offered in the region or zone, or over
// quota. add is the number of additional VMs.
func CheckSize(c *provider.Call, id, name, location string, zones []string, add int, spot bool) (Size, error) {
	z, ok := FindSize(name)
	if !ok {
		return z, provider.InvalidParameter("vmSize",
			"The value %s provided for the VM size is not valid. The valid sizes in the current region are: %s.", name, strings.Join(sizeNames, ","))
	}
	offered, restricted := z.Zones(location)
	unavailable := provider.Errorf(409, "SkuNotAvailable",
		"The requested VM size for resource 'Following SKUs have failed for Capacity Restrictions: %s' is currently not available in location '%s'. Please try another size or deploy to a different location or different zone. See https://aka.ms/azureskunotavailable for details.", z.Name, location)
	if restricted {
		return z, unavailable
	}
	if err := checkZoneNames(id, location, zones); err != nil {
		return z, err
	}
	for _, zone := range zones {
		if !slices.Contains(offered, zone) {
			return z, unavailable
		}
	}
	if c.RequestFault != nil && !c.Internal {
		if c.RequestFault("skuCapacity", c.Method, c.Type.Name, id) != nil {
			return z, unavailable
		}
		if c.RequestFault("quota", c.Method, c.Type.Name, id) != nil {
			return z, overQuota("Total Regional Cores", location, 100, 100, z.VCPUs*add)
		}
	}
	return z, checkQuota(c, z, location, add, spot)
}

// checkZoneNames checks that the region has the zones.
func checkZoneNames(id, location string, zones []string) error {
	for _, zone := range zones {
		if !provider.HasZones(location) {
			return provider.Errorf(400, "InvalidAvailabilityZone",
				"The zone(s) '%s' for resource '%s' is not supported. The supported zones for location '%s' are ''", zone, id, location)
		}
		if zone != "1" && zone != "2" && zone != "3" {
			return provider.Errorf(400, "InvalidAvailabilityZone",
				"The zone(s) '%s' for resource '%s' is not supported. The supported zones for location '%s' are '1,2,3'", zone, id, location)
		}
	}
	return nil
}

// checkSingleZone refuses more than one zone for a resource that is in one. Source of the code and the text, for disks:
// https://github.com/ansible/ansible/pull/53788. Virtual machines have one zone, too, and the same error is an assumption:
// https://github.com/ansible/ansible/issues/59134
func checkSingleZone(d *provider.Draft, kind string) error {
	if zones := body.Strings(d.New, "zones"); len(zones) > 1 {
		return provider.GatewayErrorf(400, "ResourceTypeNotSupportMultiZones",
			"The resource type '%s' does not support multiple availability zones. The provided zones are '%s'. Please provide a single availability zone.",
			kind, strings.Join(zones, ","))
	}
	return nil
}

const (
	regionalCores = 20000
	familyCores   = 10000
)

// CountCores counts the cores that are in use in a region, by family; "" is the total of regular ones and "lowPriorityCores" that of spot VMs.
// A deallocated VM uses none. Scale-set instances count as far as they are stored as VMs or as instances.
func CountCores(c *provider.Call, location string) map[string]int {
	out := map[string]int{}
	for _, typ := range []string{VirtualMachines, ScaleSetVMs} {
		for r := range c.Range(typ, "/subscriptions/"+c.ID.Subscription, "") {
			if r.Location != location || body.String(r.Secret, "power") == "deallocated" {
				continue
			}
			size := body.String(r.Body, "properties.hardwareProfile.vmSize")
			if size == "" {
				size = body.String(r.Body, "sku.name")
			}
			z, ok := FindSize(size)
			if !ok {
				continue
			}
			if strings.EqualFold(body.String(r.Body, "properties.priority"), "Spot") {
				out["lowPriorityCores"] += z.VCPUs
				continue
			}
			out[""] += z.VCPUs
			out[z.Family] += z.VCPUs
		}
	}
	return out
}

func limitOf(c *provider.Call, location, name string, otherwise int) int {
	for _, key := range []string{location + "/" + name, name} {
		if n, ok := c.Quota[key]; ok {
			return n
		}
	}
	return otherwise
}

func checkQuota(c *provider.Call, z Size, location string, add int, spot bool) error {
	if add <= 0 {
		return nil
	}
	used := CountCores(c, location)
	need := z.VCPUs * add
	if spot {
		if limit := limitOf(c, location, "lowPriorityCores", regionalCores); used["lowPriorityCores"]+need > limit {
			return overQuota("LowPriorityCores", location, limit, used["lowPriorityCores"], need)
		}
		return nil
	}
	if limit := limitOf(c, location, "cores", regionalCores); used[""]+need > limit {
		return overQuota("Total Regional Cores", location, limit, used[""], need)
	}
	if limit := limitOf(c, location, z.Family, familyCores); used[z.Family]+need > limit {
		return overQuota(z.Family+" Cores", location, limit, used[z.Family], need)
	}
	return nil
}

func overQuota(what, location string, limit, used, need int) error {
	return provider.Errorf(409, "OperationNotAllowed",
		"Operation could not be completed as it results in exceeding approved %s quota. Additional details - Deployment Model: Resource Manager, Location: %s, Current Limit: %d, Current Usage: %d, Additional Required: %d, (Minimum) New Limit Required: %d. Setup Alerts when Quota reaches threshold. Learn more at https://aka.ms/quotamonitoringalerting . Submit a request for Quota increase at https://aka.ms/ProdportalCRP/#blade/Microsoft_Azure_Capacity/UsageAndQuota.ReactView by specifying parameters listed in the 'Details' section for deployment to succeed. Please read more about quota limits at https://docs.microsoft.com/en-us/azure/azure-supportability/regional-quota-requests",
		what, location, limit, used, need, used+need)
}
