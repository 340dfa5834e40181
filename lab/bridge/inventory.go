package bridge

import (
	"regexp"
	"strings"
)

// inventory holds ARM resources by lower-cased ID: ARM compares IDs without regard to case.
type inventory map[string]map[string]any

// collectIDs gathers every object that has an ARM ID, top-level or nested in another (subnets in their
// virtual network), whatever list or map it is kept in.
func (inv inventory) collectIDs(key string, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			inv.collectIDs("", e)
		}
	case map[string]any:
		id, _ := v["id"].(string)
		if id == "" {
			id = key
		}
		// An object with only an ID is a reference to a resource, not the resource.
		if strings.HasPrefix(strings.ToLower(id), "/subscriptions/") && (len(v) > 1 || v["id"] == nil) {
			if k := strings.ToLower(id); len(v) >= len(inv[k]) {
				inv[k] = v
			}
		}
		for k, e := range v {
			inv.collectIDs(k, e)
		}
	}
}

func (inv inventory) hasID(id string) bool {
	_, ok := inv[strings.ToLower(id)]
	return ok
}

// listNames lists the names of the resources directly below a collection such as
// /subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks.
func (inv inventory) listNames(collection string) []string {
	prefix := strings.ToLower(collection) + "/"
	var names []string
	for id, r := range inv {
		rest, ok := strings.CutPrefix(id, prefix)
		if !ok || strings.Contains(rest, "/") {
			continue
		}
		if name, ok := r["name"].(string); ok {
			rest = name
		}
		names = append(names, rest)
	}
	return names
}

// virtualMachine finds the VM resource of a guest, by its ID or its properties.vmId.
func (inv inventory) virtualMachine(g guest) (id string, vm map[string]any) {
	if r, ok := inv[strings.ToLower(g.VMID)]; ok {
		return g.VMID, r
	}
	for _, r := range inv {
		if s, _ := nestedValue(r, "properties", "vmId").(string); s != "" && strings.EqualFold(s, g.VMID) {
			if id, ok := r["id"].(string); ok {
				return id, r
			}
		}
	}
	if strings.HasPrefix(strings.ToLower(g.VMID), "/subscriptions/") {
		return g.VMID, nil
	}
	return "/subscriptions/" + g.SubscriptionID + "/resourceGroups/" + g.ResourceGroup +
		"/providers/Microsoft.Compute/virtualMachines/" + g.ComputerName, nil
}

var (
	guidPattern    = regexp.MustCompile(`^(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	galleryVersion = regexp.MustCompile(`(?i)/versions/v?(1\.\d+\.\d+)$`)
	skuVersion     = regexp.MustCompile(`(?i)k8s-(\d+)dot(\d+)dot(\d+)`)
	minorVersion   = regexp.MustCompile(`^v?1\.([2-9]\d)\.\d+`)
)

// kubernetesVersion reads the kubelet's version from the VM's image: the version of a gallery image
// or the SKU of a marketplace image. Empty when the image does not tell.
func kubernetesVersion(vm map[string]any) string {
	for _, profile := range [][]string{{"properties", "storageProfile", "imageReference"},
		{"properties", "virtualMachineProfile", "storageProfile", "imageReference"}} {
		image, _ := nestedValue(vm, profile...).(map[string]any)
		for _, key := range []string{"communityGalleryImageId", "sharedGalleryImageId", "id"} {
			s, _ := image[key].(string)
			if m := galleryVersion.FindStringSubmatch(s); m != nil && minorVersion.MatchString(m[1]) {
				return "v" + m[1]
			}
		}
		sku, _ := image["sku"].(string)
		if m := skuVersion.FindStringSubmatch(sku); m != nil {
			return "v" + m[1] + "." + m[2] + "." + m[3]
		}
	}
	return ""
}

// nestedValue follows keys through nested JSON objects; nil when one is missing.
func nestedValue(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}
