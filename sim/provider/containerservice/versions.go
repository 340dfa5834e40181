package containerservice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// minor is one Kubernetes minor version that AKS offers, with its patches. Which there are follows
// https://learn.microsoft.com/azure/aks/supported-kubernetes-versions; every patch in between is offered, too.
type minor struct {
	number      int
	first, last int
	preview     bool
	longTerm    bool // only with the support plan AKSLongTermSupport
}

var minors = []minor{
	{number: 28, first: 9, last: 15, longTerm: true}, {number: 29, first: 2, last: 15, longTerm: true},
	{number: 30, first: 0, last: 14, longTerm: true},
	{number: 31, first: 1, last: 13}, {number: 32, first: 0, last: 10}, {number: 33, first: 0, last: 6}, {number: 34, first: 0, last: 2},
	{number: 35, first: 0, last: 0, preview: true},
}

// defaultVersion is the version of a cluster that requests none, as recorded.
const defaultVersion = "1.33"

// behind are regions that get the newest minor version later. AKS rolls releases out region by region.
var behind = map[string]bool{"northcentralus": true, "ukwest": true, "japanwest": true}

func offeredMinors(location string) []minor {
	out := slices.Clone(minors)
	if behind[location] {
		out = slices.DeleteFunc(out, func(m minor) bool { return m.number >= 34 })
	}
	return out
}

// version is a parsed Kubernetes version; patch is -1 for "1.33".
type version struct{ minor, patch int }

func (v version) String() string {
	if v.patch < 0 {
		return fmt.Sprintf("1.%d", v.minor)
	}
	return fmt.Sprintf("1.%d.%d", v.minor, v.patch)
}

func (v version) isBefore(o version) bool {
	return v.minor < o.minor || v.minor == o.minor && v.patch < o.patch
}

func parseVersion(s string) (version, bool) {
	parts := strings.Split(s, ".")
	if len(parts) < 2 || len(parts) > 3 || parts[0] != "1" {
		return version{}, false
	}
	v := version{patch: -1}
	var err error
	if v.minor, err = strconv.Atoi(parts[1]); err != nil || v.minor < 0 {
		return v, false
	}
	if len(parts) == 3 {
		if v.patch, err = strconv.Atoi(parts[2]); err != nil || v.patch < 0 {
			return v, false
		}
	}
	return v, true
}

// resolveVersion finds the full version for a wanted one in a region. running is the present version, or "". The alias
// "1.33" means the newest patch for a new cluster, and the present patch for a cluster that runs 1.33 already.
func resolveVersion(want, running, location string, longTerm bool) (version, bool) {
	v, ok := parseVersion(want)
	if !ok {
		return v, false
	}
	if have, ok := parseVersion(running); ok && have.minor == v.minor && (v.patch < 0 || v.patch == have.patch) {
		return have, true // a running version may stay, also when it is not offered any more
	}
	for _, m := range offeredMinors(location) {
		if m.number != v.minor || m.longTerm && !longTerm {
			continue
		}
		if v.patch < 0 {
			v.patch = m.last
			return v, !m.preview
		}
		return v, m.first <= v.patch && v.patch <= m.last
	}
	return v, false
}

// listUpgrades lists where a version may be upgraded to: newer patches, and the next minor version.
func listUpgrades(from version, location string, longTerm bool) []version {
	var out []version
	for _, m := range offeredMinors(location) {
		if m.longTerm && !longTerm || m.number != from.minor && m.number != from.minor+1 {
			continue
		}
		for p := max(m.first, m.last-2); p <= m.last; p++ {
			if v := (version{m.number, p}); from.isBefore(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func joinVersions(list []version) string {
	var out []string
	for _, v := range list {
		out = append(out, v.String())
	}
	return "[" + strings.Join(out, " ") + "]"
}

// checkUpgrade refuses a downgrade and a skipped minor version.
func checkUpgrade(from, to version, location string, longTerm bool) error {
	verb := ""
	switch {
	case to.isBefore(from):
		verb = "Downgrading"
	case to.minor > from.minor+1:
		verb = "Upgrading"
	default:
		return nil
	}
	return badRequest("%s Kubernetes version %s to %s is not allowed. Available upgrades: %s. Please see https://aka.ms/aks-supported-k8s-ver for version details.", verb, from, to, joinVersions(listUpgrades(from, location, longTerm)))
}

// skew is the number of minor versions that nodes may be behind the control plane. Source:
// https://learn.microsoft.com/azure/aks/manage-node-pools#upgrade-a-single-node-pool
const skew = 2

func checkSkew(pool, plane version) error {
	switch {
	case plane.isBefore(pool):
		return newRefusal(400, "NodePoolMcVersionIncompatible",
			"Node pool version %s and control plane version %s are incompatible. Node pool version %[1]s is bigger than control plane version %[2]s. For more information, please check https://aka.ms/aks/UpgradeVersionRules.", pool, plane)
	case plane.minor-pool.minor > skew:
		return newRefusal(400, "NodePoolMcVersionIncompatible",
			"Node pool version %s and control plane version %s are incompatible. Minor version of node pool cannot be more than %d versions less than control plane's version. Minor version of node pool is %d and control plane is %d. For more information, please check https://aka.ms/aks/UpgradeVersionRules.", pool, plane, skew, pool.minor, plane.minor)
	}
	return nil
}

// kubernetesVersions answers GET locations/<l>/kubernetesVersions.
func kubernetesVersions(_ *provider.Call, location string, _ []string) (*provider.Reply, error) {
	values := []any{}
	list := offeredMinors(location)
	slices.Reverse(list)
	for _, m := range list {
		patches := body.Object{}
		for p := m.first; p <= m.last; p++ {
			v := version{m.number, p}
			to := []any{}
			for _, u := range listUpgrades(v, location, m.longTerm) {
				to = append(to, u.String())
			}
			patches[v.String()] = body.Object{"upgrades": to}
		}
		plans := []any{"KubernetesOfficial", "AKSLongTermSupport"}
		if m.longTerm {
			plans = plans[1:]
		}
		short := version{m.number, -1}.String()
		e := body.Object{"version": short, "capabilities": body.Object{"supportPlan": plans}, "patchVersions": patches}
		if m.preview {
			e["isPreview"] = true
		}
		if short == defaultVersion {
			e["isDefault"] = true
		}
		values = append(values, e)
	}
	return provider.OK(body.Object{"values": values}), nil
}

// listOrchestrators answers GET locations/<l>/orchestrators, which az aks get-versions asks. Source: SDK for Python, azure-mgmt-containerservice
// v2019_04_01.
func listOrchestrators(c *provider.Call, location string, _ []string) (*provider.Reply, error) {
	const kubernetes = "Kubernetes"
	list := []any{}
	for _, m := range offeredMinors(location) {
		if m.longTerm {
			continue
		}
		for p := m.first; p <= m.last; p++ {
			v := version{m.number, p}
			to := []any{}
			for _, u := range listUpgrades(v, location, false) {
				to = append(to, body.Object{"orchestratorType": kubernetes, "orchestratorVersion": u.String()})
			}
			e := body.Object{"orchestratorType": kubernetes, "orchestratorVersion": v.String(), "upgrades": to}
			if m.preview {
				e["isPreview"] = true
			}
			if p == m.last && (version{m.number, -1}).String() == defaultVersion {
				e["default"] = true
			}
			list = append(list, e)
		}
	}
	return provider.OK(body.Object{
		"id":   "/subscriptions/" + c.ID.Subscription + "/providers/Microsoft.ContainerService/locations/" + location + "/orchestrators",
		"name": "default", "type": "Microsoft.ContainerService/locations/orchestrators", "properties": body.Object{"orchestrators": list},
	}), nil
}

// upgradeProfile returns the shape shared by the profiles of clusters and pools.
func upgradeProfile(running version, osType, location string, longTerm bool) body.Object {
	list := []any{}
	for _, u := range listUpgrades(running, location, longTerm) {
		e := body.Object{"kubernetesVersion": u.String()}
		for _, m := range offeredMinors(location) {
			if m.number == u.minor && m.preview {
				e["isPreview"] = true
			}
		}
		list = append(list, e)
	}
	return body.Object{"kubernetesVersion": running.String(), "osType": osType, "upgrades": list}
}

func clusterUpgradeProfile(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	plane, _ := parseVersion(body.String(it.Body, "properties.currentKubernetesVersion"))
	long := longTerm(it.Body)
	pools := []any{}
	for _, r := range poolsOf(c, it.ID) {
		v, _ := parseVersion(body.String(r.Body, "properties.currentOrchestratorVersion"))
		p := upgradeProfile(v, body.String(r.Body, "properties.osType"), it.Location, long)
		p["name"] = r.Name()
		pools = append(pools, p)
	}
	return provider.OK(body.Object{"id": lowerGroup(it.ID) + "/upgradeprofiles/default", "name": "default",
		"type":       ManagedClusters + "/upgradeprofiles",
		"properties": body.Object{"controlPlaneProfile": upgradeProfile(plane, "Linux", it.Location, long), "agentPoolProfiles": pools}}), nil
}

func poolUpgradeProfile(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	cl := clusterOf(c, it.ID)
	v, _ := parseVersion(body.String(it.Body, "properties.currentOrchestratorVersion"))
	plane, _ := parseVersion(body.String(cl.Body, "properties.currentKubernetesVersion"))
	p := upgradeProfile(v, body.String(it.Body, "properties.osType"), cl.Location, longTerm(cl.Body))
	var to []any
	for _, u := range body.Objects(body.Object{"u": p["upgrades"]}, "u") {
		if w, _ := parseVersion(body.String(u, "kubernetesVersion")); !plane.isBefore(w) {
			to = append(to, u)
		}
	}
	p["upgrades"], p["latestNodeImageVersion"] = to, latestImage(c, body.Child(it.Body, "properties"))
	return provider.OK(body.Object{"id": lowerGroup(it.ID) + "/upgradeProfiles/default", "name": "default",
		"type": AgentPools + "/upgradeProfiles", "properties": p}), nil
}

// availableAgentPoolVersions answers which versions a new pool may have.
func availableAgentPoolVersions(_ *provider.Call, it *provider.Item) (*provider.Reply, error) {
	plane, _ := parseVersion(body.String(it.Body, "properties.currentKubernetesVersion"))
	list := []any{}
	for _, m := range offeredMinors(it.Location) {
		for p := max(m.first, m.last-2); p <= m.last; p++ {
			if v := (version{m.number, p}); !plane.isBefore(v) && plane.minor-v.minor <= skew && (!m.longTerm || longTerm(it.Body)) {
				e := body.Object{"kubernetesVersion": v.String()}
				if v == plane {
					e["default"] = true
				}
				list = append(list, e)
			}
		}
	}
	return provider.OK(body.Object{"id": lowerGroup(it.ID) + "/availableAgentPoolVersions", "name": "default",
		"type":       ManagedClusters + "/availableAgentPoolVersions",
		"properties": body.Object{"agentPoolVersions": list}}), nil
}

func longTerm(cluster body.Object) bool {
	return body.String(cluster, "properties.supportPlan") == "AKSLongTermSupport"
}

// lowerGroup writes an ID as AKS does.
func lowerGroup(id string) string {
	return strings.Replace(id, "/resourceGroups/", "/resourcegroups/", 1)
}

// planeVersion returns the version the control plane of a stored cluster runs.
func planeVersion(cl *store.Resource) version {
	v, _ := parseVersion(body.String(cl.Body, "properties.currentKubernetesVersion"))
	return v
}
