package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/nearest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// skusAPIVersion is the api-version of https://learn.microsoft.com/en-us/rest/api/compute/resource-skus/list, unchanged since 2021.
const skusAPIVersion = "2021-07-01"

// catalog is the part of the SKU catalog about one region.
type catalog struct {
	// sizes are the VM sizes, in no order. They are shared with other catalogs.
	sizes []*plan.VMSize
	// zones are the zones that any size can be created in, sorted.
	zones []string
	// faultDomains is the maximum number of fault domains of availability sets with managed disks, 0 if the catalog has none.
	faultDomains int32
}

// sizeNamed returns a VM size, nil if there is none. Azure ignores the case of the name.
func (c *catalog) sizeNamed(name string) *plan.VMSize {
	for _, size := range c.sizes {
		if strings.EqualFold(size.Name, name) {
			return size
		}
	}
	return nil
}

// findSize returns a VM size, or the most similar names if there is none.
func (c *catalog) findSize(name string) (*plan.VMSize, []string) {
	if size := c.sizeNamed(name); size != nil {
		return size, nil
	}
	var names []string
	for _, size := range c.sizes {
		names = append(names, size.Name)
	}
	return nil, nearest.FindNames(name, names)
}

// clusterCatalog returns the SKU catalog of the cluster's region.
func (f *Facts) clusterCatalog(ctx context.Context, caller Caller, in plan.ClusterInput) (*catalog, error) {
	return f.regionCatalog(ctx, caller, in.SubscriptionID, plan.Location(in))
}

// regionCatalog returns the SKU catalog of a region, whose name is normalized.
func (f *Facts) regionCatalog(ctx context.Context, caller Caller, subscription, location string) (*catalog, error) {
	return f.skus.getOrAsk(ctx, caller, catalogKey(caller, subscription, location), f.listCatalog(caller.Client, subscription, location))
}

// FindUnknownSizes returns the VM sizes that are not in the catalog of a region, each with the most similar names.
func (f *Facts) FindUnknownSizes(ctx context.Context, caller Caller, subscription, location string, sizes []string) (map[string][]string,
	error) {
	catalog, err := f.regionCatalog(ctx, caller, subscription, plan.NormalizeRegion(location))
	if err != nil {
		return nil, err
	}
	unknown := map[string][]string{}
	for _, name := range sizes {
		if size, near := catalog.findSize(name); size == nil {
			unknown[name] = near
		}
	}
	return unknown, nil
}

// FindVMSize returns a VM size from the catalog of the cluster's region. If there is none, it returns nil and the most similar
// names. It does not use in.Facts.
func (f *Facts) FindVMSize(ctx context.Context, caller Caller, in plan.ClusterInput, name string) (*plan.VMSize, []string, error) {
	catalog, err := f.clusterCatalog(ctx, caller, in)
	if err != nil {
		return nil, nil, err
	}
	size, near := catalog.findSize(name)
	return size, near, nil
}

// FindRegionSize returns a VM size from the catalog of a region. If there is none, it returns nil and the most similar names.
func (f *Facts) FindRegionSize(ctx context.Context, caller Caller, subscription, location, name string) (*plan.VMSize, []string, error) {
	catalog, err := f.regionCatalog(ctx, caller, subscription, plan.NormalizeRegion(location))
	if err != nil {
		return nil, nil, err
	}
	size, near := catalog.findSize(name)
	return size, near, nil
}

// ListZones returns the availability zones of the cluster's region that support any VM size, sorted. It does not use in.Facts.
func (f *Facts) ListZones(ctx context.Context, caller Caller, in plan.ClusterInput) ([]string, error) {
	catalog, err := f.clusterCatalog(ctx, caller, in)
	if err != nil {
		return nil, err
	}
	return catalog.zones, nil
}

func catalogKey(caller Caller, subscription, location string) string {
	return caller.scopedKey(strings.ToLower(subscription) + "|" + location)
}

func (f *Facts) listCatalog(c *client.Client, subscription, location string) func(context.Context) (*catalog, error) {
	return func(ctx context.Context) (*catalog, error) {
		path := string(arm.SubscriptionID(subscription)) + "/providers/Microsoft.Compute/skus"
		items, err := c.List(ctx, path, skusAPIVersion, url.Values{"$filter": {fmt.Sprintf("location eq '%s'", location)}})
		if err != nil {
			return nil, fmt.Errorf("list VM sizes of %s: %w", location, err)
		}
		return parseCatalog(items, location, f.sizes)
	}
}

// sku is a row of the catalog in the format of Azure.
type sku struct {
	ResourceType string `json:"resourceType"`
	Name         string `json:"name"`
	Family       string `json:"family"`
	LocationInfo []struct {
		Location    string   `json:"location"`
		Zones       []string `json:"zones"`
		ZoneDetails []struct {
			Name         []string        `json:"name"`
			Capabilities []skuCapability `json:"capabilities"`
		} `json:"zoneDetails"`
	} `json:"locationInfo"`
	Capabilities []skuCapability  `json:"capabilities"`
	Restrictions []skuRestriction `json:"restrictions"`
}

type skuCapability struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type skuRestriction struct {
	Type            string   `json:"type"`
	Values          []string `json:"values"`
	ReasonCode      string   `json:"reasonCode"`
	RestrictionInfo struct {
		Locations []string `json:"locations"`
		Zones     []string `json:"zones"`
	} `json:"restrictionInfo"`
}

func parseCatalog(items []json.RawMessage, location string, pool *sizePool) (*catalog, error) {
	out := &catalog{}
	zones := map[string]bool{}
	words := stringPool{}
	addSize := func(size *plan.VMSize) {
		out.sizes = append(out.sizes, size)
		for _, zone := range size.Zones {
			zones[zone] = true
		}
	}
	for _, item := range items {
		hash := hashRow(location, item)
		if size := pool.findSize(hash); size != nil {
			addSize(size)
			continue
		}
		var row sku
		if err := json.Unmarshal(item, &row); err != nil {
			return nil, fmt.Errorf("list VM sizes of %s: row of the catalog: %w", location, err)
		}
		switch {
		case strings.EqualFold(row.ResourceType, "virtualMachines"):
			addSize(pool.shareSize(hash, row.toVMSize(location, words)))
		case strings.EqualFold(row.ResourceType, "availabilitySets") && strings.EqualFold(row.Name, "Aligned"):
			for _, capability := range row.Capabilities {
				if capability.Name == "MaximumPlatformFaultDomainCount" {
					count, _ := strconv.ParseInt(capability.Value, 10, 32)
					out.faultDomains = int32(count)
				}
			}
		}
	}
	out.zones, out.sizes = slices.Sorted(maps.Keys(zones)), slices.Clip(out.sizes)
	pool.dropUnused()
	return out, nil
}

// toVMSize converts a row about a VM size for one location.
func (row sku) toVMSize(location string, words stringPool) *plan.VMSize {
	size := &plan.VMSize{Name: row.Name, Family: words.intern(row.Family), Capabilities: map[string]string{}}
	for _, capability := range row.Capabilities {
		size.Capabilities[words.intern(capability.Name)] = words.intern(capability.Value)
	}
	size.VCPUs, _ = strconv.Atoi(size.Capabilities["vCPUs"])
	size.MemoryGB, _ = strconv.ParseFloat(size.Capabilities["MemoryGB"], 64)
	for _, info := range row.LocationInfo {
		if plan.NormalizeRegion(info.Location) != location {
			continue
		}
		for _, zone := range info.Zones {
			size.Zones = append(size.Zones, words.intern(zone))
		}
		for _, details := range info.ZoneDetails {
			for _, capability := range details.Capabilities {
				name, value := words.intern(capability.Name), words.intern(capability.Value)
				if len(details.Name) == 0 {
					size.Capabilities[name] = value
				}
				for _, zone := range details.Name {
					setZoneCapability(size, words.intern(zone), name, value)
				}
			}
		}
	}
	for _, restriction := range row.Restrictions {
		if strings.EqualFold(restriction.Type, "Zone") {
			size.Zones = slices.DeleteFunc(size.Zones, func(zone string) bool {
				return slices.Contains(restriction.RestrictionInfo.Zones, zone)
			})
		} else if restriction.appliesTo(location) {
			size.RestrictionReason, size.Zones = restriction.ReasonCode, nil
		}
	}
	slices.Sort(size.Zones)
	return size
}

func setZoneCapability(size *plan.VMSize, zone, name, value string) {
	if size.ZoneCapabilities == nil {
		size.ZoneCapabilities = map[string]map[string]string{}
	}
	if size.ZoneCapabilities[zone] == nil {
		size.ZoneCapabilities[zone] = map[string]string{}
	}
	size.ZoneCapabilities[zone][name] = value
}

// appliesTo reports whether a restriction of type Location includes the location.
func (r skuRestriction) appliesTo(location string) bool {
	locations := append(slices.Clone(r.RestrictionInfo.Locations), r.Values...)
	return len(locations) == 0 || slices.ContainsFunc(locations, func(l string) bool { return plan.NormalizeRegion(l) == location })
}

// stringPool keeps one copy of strings that repeat in every row of a catalog.
type stringPool map[string]string

func (w stringPool) intern(s string) string {
	if known, ok := w[s]; ok {
		return known
	}
	w[s] = strings.Clone(s)
	return w[s]
}
