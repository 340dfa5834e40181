package containerservice

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
)

var taintForm = regexp.MustCompile(`^[^=:\s]+(=[^=:\s]*)?:(NoSchedule|NoExecute|PreferNoSchedule)$`)

const (
	spotKey      = "kubernetes.azure.com/scalesetpriority"
	spotTaint    = spotKey + "=spot:NoSchedule"
	azurePrefix  = "kubernetes.azure.com/"
	maxNodeCount = 1000
	minSystemPod = 30 // a system pool's maxPods. Source: https://learn.microsoft.com/azure/aks/use-system-pools
)

// validatePool checks a pool and fills in AKS's defaults, as recorded.
func (p *poolDraft) validatePool(was body.Object) error {
	n, pp := p.body, "properties."
	for path, kind := range body.Sorted(map[string]string{"count": "number", "minCount": "number", "maxCount": "number", "maxPods": "number",
		"osDiskSizeGB": "number"}) {
		if v := body.Get(n, pp+path); v != nil {
			if f, ok := v.(float64); !ok || f != math.Trunc(f) {
				return badRequest("The value of agentPoolProfile.%s is not a whole %s.", path, kind)
			}
		}
	}
	if err := checkChoices(n, poolChoices, "agentPoolProfile."); err != nil {
		return err
	}
	body.Default(n, pp+"mode", "User")
	body.Default(n, pp+"osType", "Linux")
	windows, system := body.String(n, pp+"osType") == "Windows", body.String(n, pp+"mode") == "System"
	if was == nil && (!poolNameForm.MatchString(p.name) || windows && len(p.name) > 6) {
		return invalidParameter("agentPoolProfile.name",
			"Invalid AgentPoolProfile name '%s': it must begin with a lower-case letter and have 1 to %d lower-case letters and digits. Please see https://aka.ms/aks-naming-rules for more details", p.name, map[bool]int{true: 6, false: 12}[windows])
	}
	if body.String(n, pp+"vmSize") == "" {
		body.Set(n, pp+"vmSize", "Standard_D2s_v3")
	}
	z, _ := compute.FindSize(body.String(n, pp+"vmSize"))
	if err := p.validateMode(was, z, windows, system); err != nil {
		return err
	}
	if err := p.fillDefaults(z, windows); err != nil {
		return err
	}
	if err := p.validateCount(was, system); err != nil {
		return err
	}
	if err := p.validateSpot(system); err != nil {
		return err
	}
	if err := p.validateNodes(); err != nil || !system {
		return err
	}
	return p.validateSystemTaints(was)
}

func (p *poolDraft) validateMode(was body.Object, z compute.Size, windows, system bool) error {
	n, pp := p.body, "properties."
	sku := body.String(n, pp+"osSKU")
	plugin := body.String(p.cluster, "properties.networkProfile.networkPlugin")
	switch {
	case system && windows:
		return invalidParameter("agentPoolProfile.osType", "A pool of mode System must be of osType Linux")
	case system && z.Name != "" && (z.VCPUs < 2 || z.MemoryGB < 4):
		return newRefusal(400, "SystemPoolSkuTooLow",
			"The VM SKU %s chosen for the system agent pool '%s' does not have enough CPU or memory, at least 2 vCPUs and 4 GB are needed. For more details, please visit https://aka.ms/aks/nodepool/system", z.Name, p.name)
	case windows && plugin == "kubenet":
		return badRequest("Windows agent pools are not supported with network plugin kubenet.")
	case sku != "" && windows != windowsSKU(sku):
		return invalidParameter("agentPoolProfile.osSKU", "OS SKU %s does not go with osType %s", sku, body.String(n, pp+"osType"))
	case was != nil && windows && sku != body.String(was, pp+"osSKU"):
		return newRefusal(400, "PropertyChangeNotAllowed", "Changing property 'properties.osSKU' is not allowed.").WithTarget("properties.osSKU")
	case body.String(n, pp+"nodePublicIPPrefixID") != "" && !body.Bool(n, pp+"enableNodePublicIP"):
		return invalidParameter("agentPoolProfile.nodePublicIPPrefixID", "nodePublicIPPrefixID requires enableNodePublicIP")
	case body.Bool(n, pp+"enableEncryptionAtHost") && z.Name != "" && !z.HostEncrypt:
		return badRequest("VM size %s does not support encryption at host.", z.Name)
	case body.Bool(n, pp+"enableUltraSSD") && z.Name != "" && (!z.Ultra || len(body.Strings(n, pp+"availabilityZones")) == 0):
		return badRequest("VM size %s in agent pool %s does not support ultra disks, which need a size and zones that have them.", z.Name, p.name)
	}
	return nil
}

// ephemeralMinGB is the smallest cache of a size for which AKS chooses an ephemeral OS disk by default.
const ephemeralMinGB = 128

func (p *poolDraft) fillDefaults(z compute.Size, windows bool) error {
	n, pp := p.body, "properties."
	fits := z.Ephemeral && z.VCPUs*25 >= ephemeralMinGB
	if body.String(n, pp+"osDiskType") == "Ephemeral" && !z.Ephemeral && z.Name != "" {
		return badRequest("The virtual machine size %s has a max temp disk size and cache size of 0 bytes, but the ephemeral OS disk requires at least 30 GB. Use a VM size with larger cache size or temp disk. For more information, please visit https://aka.ms/aks/ephemeral-os", z.Name)
	}
	body.Default(n, pp+"osDiskSizeGB", 128)
	body.Default(n, pp+"osDiskType", map[bool]string{true: "Ephemeral", false: "Managed"}[fits])
	body.Default(n, pp+"kubeletDiskType", "OS")
	body.Default(n, pp+"maxPods", p.defaultMaxPods())
	body.Default(n, pp+"type", "VirtualMachineScaleSets")
	body.Default(n, pp+"scaleDownMode", "Delete")
	body.Default(n, pp+"powerState.code", "Running")
	body.Default(n, pp+"enableNodePublicIP", false)
	body.Default(n, pp+"osSKU", map[bool]string{true: "Windows2022", false: "Ubuntu"}[windows])
	body.Default(n, pp+"upgradeSettings.maxSurge", "10%")
	body.Default(n, pp+"upgradeSettings.maxUnavailable", "0")
	body.Default(n, pp+"enableFIPS", false)
	if !windows {
		body.Default(n, pp+"securityProfile.sshAccess", "LocalUser")
		body.Default(n, pp+"securityProfile.enableVTPM", false)
		body.Default(n, pp+"securityProfile.enableSecureBoot", false)
	}
	size := body.Int(n, pp+"osDiskSizeGB")
	if size < 30 || size > 2048 {
		return invalidParameter("agentPoolProfile.osDiskSizeGB", "osDiskSizeGB %d is not between 30 and 2048", size)
	}
	return nil
}

// defaultMaxPods goes by the network. Source: https://learn.microsoft.com/azure/aks/quotas-skus-regions
func (p *poolDraft) defaultMaxPods() int {
	np := "properties.networkProfile."
	switch plugin := body.String(p.cluster, np+"networkPlugin"); {
	case plugin == "kubenet":
		return 110
	case plugin == "azure" && body.String(p.cluster, np+"networkPluginMode") != "overlay" &&
		body.String(p.body, "properties.podSubnetID") == "":
		return 30
	}
	return 250
}

func (p *poolDraft) validateCount(was body.Object, system bool) error {
	n, pp := p.body, "properties."
	low := 0
	if system {
		low = 1
	}
	auto := body.Bool(n, pp+"enableAutoScaling")
	if was == nil && body.Get(n, pp+"count") == nil {
		body.Set(n, pp+"count", max(1, body.Int(n, pp+"minCount")))
	}
	body.Default(n, pp+"enableAutoScaling", false)
	if !auto {
		body.Delete(n, pp+"minCount")
		body.Delete(n, pp+"maxCount")
	} else {
		if body.Get(n, pp+"minCount") == nil || body.Get(n, pp+"maxCount") == nil {
			return invalidParameter("agentPoolProfile.minCount", "minCount and maxCount are required when enableAutoScaling is true")
		}
		least, most := body.Int(n, pp+"minCount"), body.Int(n, pp+"maxCount")
		if least > most {
			return invalidParameter("agentPoolProfile.minCount", "minCount %d is greater than maxCount %d", least, most)
		}
		if least < low || most > maxNodeCount {
			return invalidParameter("agentPoolProfile.minCount", "minCount %d and maxCount %d must be between %d and %d for mode %s", least, most,
				low, maxNodeCount, body.String(n, pp+"mode"))
		}
		if body.Bool(was, pp+"enableAutoScaling") {
			body.Set(n, pp+"count", body.Int(was, pp+"count")) // the autoscaler has the count
		}
		body.Set(n, pp+"count", min(max(body.Int(n, pp+"count"), least), most))
	}
	if count := body.Int(n, pp+"count"); count < low || count > maxNodeCount {
		return invalidParameter("agentPoolProfile.count", "count %d must be between %d and %d for mode %s", count, low, maxNodeCount,
			body.String(n, pp+"mode"))
	}
	pods := body.Int(n, pp+"maxPods")
	if pods < 10 || pods > 250 {
		return invalidParameter("agentPoolProfile.maxPods", "maxPods %d is not between 10 and 250", pods)
	}
	if system && pods < minSystemPod {
		return invalidParameter("agentPoolProfile.maxPods", "maxPods %d of a pool of mode System must be at least %d", pods, minSystemPod)
	}
	return nil
}

// validateSpot keeps the label and taint that AKS gives to spot nodes.
func (p *poolDraft) validateSpot(system bool) error {
	n, pp := p.body, "properties."
	if body.String(n, pp+"scaleSetPriority") != "Spot" {
		if body.Get(n, pp+"spotMaxPrice") != nil && body.Get(n, pp+"spotMaxPrice") != -1.0 || body.String(n, pp+"scaleSetEvictionPolicy") != "" {
			return invalidParameter("agentPoolProfile.scaleSetPriority",
				"spotMaxPrice and scaleSetEvictionPolicy can only be set on pools of priority Spot")
		}
		return nil
	}
	if system {
		return badRequest("Spot agent pools cannot be of mode System, agent pool %s is.", p.name)
	}
	body.Default(n, pp+"scaleSetEvictionPolicy", "Delete")
	body.Default(n, pp+"spotMaxPrice", -1.0)
	if price, _ := body.Get(n, pp+"spotMaxPrice").(float64); price != -1 && price <= 0 {
		return invalidParameter("agentPoolProfile.spotMaxPrice", "spotMaxPrice must be -1 or greater than zero")
	}
	labels := body.Child(n, pp+"nodeLabels")
	if labels == nil {
		labels = body.Object{}
		n["properties"].(body.Object)["nodeLabels"] = labels
	}
	labels[spotKey] = "spot"
	setContains(n, pp+"nodeTaints", spotTaint)
	return nil
}

// validateSystemTaints refuses taints on system pools. That a pool keeps the ones it had before 2021-09-28, when this began, is an assumption.
// Source of code, text and date: https://github.com/Azure/AKS/issues/2578, of the target: https://github.com/istio/istio.io/issues/16905
func (p *poolDraft) validateSystemTaints(was body.Object) error {
	const path = "properties.nodeTaints"
	for _, taint := range body.Strings(p.body, path) {
		kept := body.String(was, "properties.mode") == "System" && slices.Contains(body.Strings(was, path), taint)
		if !kept && taint[:strings.IndexAny(taint+":", "=:")] != "CriticalAddonsOnly" && !strings.HasPrefix(taint, azurePrefix) &&
			!strings.HasSuffix(taint, ":PreferNoSchedule") {
			return newRefusal(400, "SystemPoolHasRestrictedTaint",
				"Placing custom taints on system pool is not supported(except 'CriticalAddonsOnly' taint or taint effect is 'PreferNoSchedule'). Please refer to https://aka.ms/aks/system-taints for detail").WithTarget("agentPoolProfile.nodeTaints")
		}
	}
	return nil
}

func (p *poolDraft) validateNodes() error {
	n, pp := p.body, "properties."
	for k := range body.Sorted(body.Child(n, pp+"nodeLabels")) {
		if strings.HasPrefix(k, azurePrefix) && k != spotKey {
			return invalidParameter("agentPoolProfile.nodeLabels", "Label '%s' has the reserved prefix %s", k, azurePrefix)
		}
	}
	for _, t := range body.Strings(n, pp+"nodeTaints") {
		if !taintForm.MatchString(t) {
			return invalidParameter("agentPoolProfile.nodeTaints",
				"Taint '%s' is not of the form key=value:effect with effect NoSchedule, NoExecute or PreferNoSchedule", t)
		}
	}
	for _, z := range body.Strings(n, pp+"availabilityZones") {
		if !slices.Contains([]string{"1", "2", "3"}, z) {
			return invalidParameter("agentPoolProfile.availabilityZones", "Zone '%s' is not one of 1, 2, 3", z)
		}
	}
	surge := body.String(n, pp+"upgradeSettings.maxSurge")
	value, err := strconv.Atoi(strings.TrimSuffix(surge, "%"))
	if err != nil || value < 0 || strings.HasSuffix(surge, "%") && value > 100 {
		return invalidParameter("agentPoolProfile.upgradeSettings.maxSurge", "'%s' is neither a number nor a percentage", surge)
	}
	return nil
}
