package compute

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
)

func newCapability(name string, value any) body.Object {
	s := ""
	switch v := value.(type) {
	case bool:
		s = "False"
		if v {
			s = "True"
		}
	case int:
		s = strconv.Itoa(v)
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		s = v
	}
	return body.Object{"name": name, "value": s}
}

// listSKUs answers the resource SKUs of the subscription, or of one region when $filter is location eq 'x'.
func listSKUs(c *provider.Call) (*provider.Reply, error) {
	locations := c.Locations
	if f := c.Query.Get("$filter"); f != "" {
		_, rest, ok := strings.Cut(f, "'")
		loc, _, closed := strings.Cut(rest, "'")
		if !ok || !closed || !strings.HasPrefix(strings.TrimSpace(strings.ToLower(f)), "location eq") {
			return nil, provider.Errorf(400, "InvalidFilter", "The $filter '%s' is not supported. Use location eq '<region>'.", f)
		}
		locations = []string{provider.NormalizeLocation(loc)}
	}
	out := []any{}
	for _, loc := range locations {
		if !slices.Contains(c.Locations, loc) {
			continue
		}
		rows, err := vmSKUs(loc)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
		for _, d := range []struct{ name, tier, size string }{{"Premium_LRS", "Premium", "P10"}, {"StandardSSD_LRS", "Standard", "E10"},
			{"Standard_LRS", "Standard", "S10"}, {"UltraSSD_LRS", "Ultra", "U"}, {"PremiumV2_LRS", "Premium", "P"}} {
			var zones []string
			if provider.HasZones(loc) {
				zones = []string{"1", "2", "3"}
			}
			out = append(out, body.Object{"resourceType": "disks", "name": d.name, "tier": d.tier, "size": d.size, "locations": []any{loc},
				"restrictions": []any{},
				"locationInfo": []any{body.Object{"location": loc, "zones": toAnyList(zones), "zoneDetails": []any{}}},
				"capabilities": []any{newCapability("MaxSizeGiB", 32767)}})
		}
		for _, name := range []string{"Classic", "Aligned"} {
			domains := 3
			if loc == "northcentralus" || loc == "uksouth" || loc == "swedencentral" {
				domains = 2
			}
			out = append(out, body.Object{"resourceType": "availabilitySets", "name": name, "locations": []any{loc}, "restrictions": []any{},
				"locationInfo": []any{body.Object{"location": loc, "zones": []any{}, "zoneDetails": []any{}}},
				"capabilities": []any{newCapability("MaximumPlatformFaultDomainCount", domains)}})
		}
	}
	return provider.OK(out), nil
}

func toAnyList(list []string) []any {
	out := []any{}
	for _, s := range list {
		out = append(out, s)
	}
	return out
}

// written are the rows of all sizes by region, as JSON: the same for every simulator of a process, and a lot of them.
var written sync.Map

func vmSKUs(loc string) ([]any, error) {
	if rows, ok := written.Load(loc); ok {
		return rows.([]any), nil
	}
	var rows []any
	for _, name := range sizeNames {
		z, _ := FindSize(name)
		raw, err := json.Marshal(vmSKU(z, loc))
		if err != nil {
			return nil, err
		}
		rows = append(rows, json.RawMessage(raw))
	}
	written.Store(loc, rows)
	return rows, nil
}

func vmSKU(z Size, loc string) body.Object {
	zones, restricted := z.Zones(loc)
	offered := []string{}
	if provider.HasZones(loc) {
		offered = []string{"1", "2", "3"}
	}
	restrictions, details := []any{}, []any{}
	if restricted {
		restrictions = append(restrictions,
			body.Object{"type": "Location", "values": []any{loc}, "restrictionInfo": body.Object{"locations": []any{loc}},
				"reasonCode": "NotAvailableForSubscription"})
	} else if len(zones) < len(offered) {
		var gone []string
		for _, o := range offered {
			if !slices.Contains(zones, o) {
				gone = append(gone, o)
			}
		}
		restrictions = append(restrictions,
			body.Object{"type": "Zone", "values": []any{loc}, "restrictionInfo": body.Object{"locations": []any{loc}, "zones": toAnyList(gone)},
				"reasonCode": "NotAvailableForSubscription"})
	}
	if z.Ultra && len(zones) > 0 {
		details = append(details, body.Object{"name": toAnyList(zones), "capabilities": []any{newCapability("UltraSSDAvailable", true)}})
	}
	generations := "V1,V2"
	if z.onlyGeneration2() {
		generations = "V2"
	}
	caps := []any{
		newCapability("MaxResourceVolumeMB", z.TempGB()*1024), newCapability("OSVhdSizeMB", 1047552), newCapability("vCPUs", z.VCPUs),
		newCapability("MemoryPreservingMaintenanceSupported", z.GPUs == 0),
		newCapability("HyperVGenerations", generations), newCapability("MemoryGB", z.MemoryGB), newCapability("MaxDataDiskCount", z.MaxDisks),
		newCapability("CpuArchitectureType", z.Arch),
		newCapability("LowPriorityCapable", z.OffersSpot()), newCapability("PremiumIO", z.Premium), newCapability("VMDeploymentTypes", "IaaS"),
		newCapability("vCPUsAvailable", z.VCPUs),
		newCapability("vCPUsPerCore", 2), newCapability("EphemeralOSDiskSupported", z.Ephemeral),
		newCapability("EncryptionAtHostSupported", z.HostEncrypt), newCapability("CapacityReservationSupported", z.GPUs == 0),
		newCapability("AcceleratedNetworkingEnabled", z.Accelerated), newCapability("RdmaEnabled", z.GPUs > 1),
		newCapability("MaxNetworkInterfaces", z.MaxNICs),
	}
	if z.Ephemeral {
		caps = append(caps, newCapability("CachedDiskBytes", float64(z.CacheGB())*1024*1024*1024),
			newCapability("SupportedEphemeralOSDiskPlacements", "ResourceDisk,CacheDisk"))
	}
	if z.Confidential != "" {
		caps = append(caps, newCapability("ConfidentialComputingType", z.Confidential))
	}
	if z.NoTrusted {
		caps = append(caps, newCapability("TrustedLaunchDisabled", true))
	}
	if z.GPUs > 0 {
		caps = append(caps, newCapability("GPUs", z.GPUs))
	}
	if z.Ultra && !provider.HasZones(loc) {
		caps = append(caps, newCapability("UltraSSDAvailable", false))
	}
	tier, short, _ := strings.Cut(z.Name, "_")
	return body.Object{"resourceType": "virtualMachines", "name": z.Name, "tier": tier, "size": short, "family": z.Family,
		"locations":    []any{loc},
		"locationInfo": []any{body.Object{"location": loc, "zones": toAnyList(offered), "zoneDetails": details}}, "capabilities": caps,
		"restrictions": restrictions}
}

// listUsages answers the compute quotas of a region.
func listUsages(c *provider.Call, location string, _ []string) (*provider.Reply, error) {
	used := CountCores(c, location)
	families := map[string]bool{}
	for _, z := range sizes {
		families[z.Family] = true
	}
	entry := func(value, label string, current, limit int) body.Object {
		return body.Object{"unit": "Count", "currentValue": current, "limit": limit, "name": body.Object{"value": value, "localizedValue": label}}
	}
	vms, sets := 0, 0
	for _, r := range c.List(VirtualMachines, "/subscriptions/"+c.ID.Subscription) {
		if r.Location == location {
			vms++
		}
	}
	for _, r := range c.List(AvailabilitySets, "/subscriptions/"+c.ID.Subscription) {
		if r.Location == location {
			sets++
		}
	}
	out := []any{
		entry("availabilitySets", "Availability Sets", sets, 2500),
		entry("cores", "Total Regional vCPUs", used[""], limitOf(c, location, "cores", regionalCores)),
		entry("virtualMachines", "Virtual Machines", vms, 25000),
		entry("lowPriorityCores", "Total Regional Low-priority vCPUs", used["lowPriorityCores"],
			limitOf(c, location, "lowPriorityCores", regionalCores)),
	}
	names := []string{}
	for f := range families {
		names = append(names, f)
	}
	slices.Sort(names)
	for _, f := range names {
		out = append(out, entry(f, f+" vCPUs", used[f], limitOf(c, location, f, familyCores)))
	}
	return provider.OK(out), nil
}

// vmSizes answers the old list of sizes of a region.
func vmSizes(_ *provider.Call, location string, _ []string) (*provider.Reply, error) {
	out := []any{}
	for _, name := range sizeNames {
		z, _ := FindSize(name)
		if _, restricted := z.Zones(location); !restricted {
			out = append(out, body.Object{"name": z.Name, "numberOfCores": z.VCPUs, "memoryInMB": int(z.MemoryGB * 1024),
				"maxDataDiskCount": z.MaxDisks, "osDiskSizeInMB": 1047552, "resourceDiskSizeInMB": 0})
		}
	}
	return provider.OK(out), nil
}
