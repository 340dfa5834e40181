package agentpool

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// Request is a pool as an object requests it: by the fields or patches of a typed kind, by a manifest of its own, or as one of the profiles
// in the manifest of its cluster.
type Request struct {
	// Name is the name of the pool in Azure.
	Name string
	// Properties are the properties of the pool's body.
	Properties map[string]any
	// Replicas is spec.replicas of the MachinePool, nil if the properties alone have the number of nodes.
	Replicas *int32
	// Observed is the pool in Azure. Unknown means that Azure was not asked.
	Observed Observed
	Unknown  bool
}

// Limits of AKS.
// https://learn.microsoft.com/en-us/rest/api/aks/agent-pools/create-or-update (count, maxCount),
// https://learn.microsoft.com/en-us/azure/aks/create-node-pools#limitations (names),
// https://learn.microsoft.com/en-us/azure/aks/quotas-skus-regions (nodes, pods),
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools (pods of mode System)
const (
	maxNodes           = 1000
	minPods, maxPods   = 10, 250
	minSystemPods      = 30
	maxWindowsPoolName = 6
)

// replicasField is the place of the replicas of a pool.
var replicasField = field.NewPath("MachinePool", "spec", "replicas")

// Check returns the errors in a request that AKS would refuse, or with which no node would become ready. at returns the field of a property
// in the object of the pool. Limits of single fields of typed kinds are also in their webhooks.
func Check(r Request, at func(property string) *field.Path) field.ErrorList {
	errs := r.checkMode(at)
	errs = append(errs, r.checkCounts(at)...)
	errs = append(errs, r.checkLabels(at)...)
	if r.text("osType") == "Windows" && len(r.Name) > maxWindowsPoolName {
		errs = append(errs, field.Invalid(at("name"), r.Name,
			fmt.Sprintf("is too long: a pool with Windows has at most %d characters", maxWindowsPoolName)))
	}
	if pods, ok := r.number("maxPods"); ok && (pods < minPods || pods > maxPods) {
		errs = append(errs, field.Invalid(at("maxPods"), pods, fmt.Sprintf("must be between %d and %d", minPods, maxPods)))
	}
	if price, ok := r.number("spotMaxPrice"); ok && price <= 0 && price != -1 {
		errs = append(errs, field.Invalid(at("spotMaxPrice"), price, "must be above 0, or -1 for the price of a regular machine"))
	}
	if r.text("nodePublicIPPrefixID") != "" && r.Properties["enableNodePublicIP"] != true {
		errs = append(errs, field.Forbidden(at("nodePublicIPPrefixID"), "needs enableNodePublicIP: true"))
	}
	return append(errs, r.checkKubelet(at)...)
}

// checkMode returns the errors of a pool with mode System: pods of Kubernetes itself need Linux nodes that stay.
// https://learn.microsoft.com/en-us/azure/aks/use-system-pools
func (r Request) checkMode(at func(string) *field.Path) (errs field.ErrorList) {
	if !r.isSystem() {
		return nil
	}
	if r.text("osType") == "Windows" {
		errs = append(errs, field.Invalid(at("osType"), "Windows", "nodes of a pool with mode System must run Linux: set osType to Linux, or mode to User"))
	}
	if r.text("scaleSetPriority") == "Spot" {
		errs = append(errs, field.Invalid(at("scaleSetPriority"), "Spot", "nodes of a pool with mode System cannot be Spot VMs: set scaleSetPriority to Regular, or mode to User"))
	}
	if pods, ok := r.number("maxPods"); ok && pods >= minPods && pods < minSystemPods && r.Observed.Properties.Mode != "System" {
		errs = append(errs, field.Invalid(at("maxPods"), pods,
			fmt.Sprintf("must be at least %d in a pool with mode System: raise it, which needs a new pool if this one exists, or set mode to User", minSystemPods)))
	}
	if r.Unknown { // The pool may have the taints.
		return errs
	}
	return append(errs, checkSystemTaints(r.texts("nodeTaints"), r.Observed, at("nodeTaints"))...)
}

// checkCounts returns the errors in the number of nodes and the bounds of the autoscaler. Bounds have no effect while it is off.
func (r Request) checkCounts(at func(string) *field.Path) (errs field.ErrorList) {
	least := 0
	if r.isSystem() {
		least = 1
	}
	refuse := func(path *field.Path, value any, number float64) {
		switch {
		case number < float64(least) && least > 0 && path == replicasField:
			errs = append(errs, field.Invalid(path, value, "a pool with mode System must have at least one node: raise the number, or set mode to User"))
		case number < float64(least) && least > 0:
			errs = append(errs, field.Invalid(path, value, "a pool with mode System must have at least one node: raise the number, or set mode to User"))
		case number < float64(least) || number > maxNodes:
			errs = append(errs, field.Invalid(path, value, fmt.Sprintf("must be between %d and %d", least, maxNodes)))
		}
	}
	count, hasCount := r.number("count")
	if !IsAutoscaled(r.Properties, r.Observed) {
		switch {
		case r.Replicas != nil:
			refuse(replicasField, *r.Replicas, float64(*r.Replicas))
		case hasCount:
			refuse(at("count"), count, count)
		}
		return errs
	}
	low, hasLow := r.number("minCount")
	high, hasHigh := r.number("maxCount")
	if hasLow {
		refuse(at("minCount"), low, low)
	}
	if hasHigh && (high < 1 || high > maxNodes) {
		errs = append(errs, field.Invalid(at("maxCount"), high, fmt.Sprintf("must be between 1 and %d", maxNodes)))
	}
	if hasLow && hasHigh && low > high {
		path := at("maxCount").String()
		errs = append(errs, field.Invalid(at("minCount"), low, fmt.Sprintf("is above %s %v", path[strings.LastIndexByte(path, '.')+1:], high)))
	}
	return errs
}

// checkKubelet returns the errors in settings with which the kubelet does not start.
// https://learn.microsoft.com/en-us/azure/aks/custom-node-configuration
func (r Request) checkKubelet(at func(string) *field.Path) (errs field.ErrorList) {
	low, hasLow := toNumber(jsonpath.Get(r.Properties, "kubeletConfig.imageGcLowThreshold"))
	high, hasHigh := toNumber(jsonpath.Get(r.Properties, "kubeletConfig.imageGcHighThreshold"))
	if hasLow && hasHigh && low > high {
		errs = append(errs, field.Invalid(at("kubeletConfig").Child("imageGcLowThreshold"), low,
			fmt.Sprintf("must not be above imageGcHighThreshold, %v", high)))
	}
	swap, hasSwap := toNumber(jsonpath.Get(r.Properties, "linuxOSConfig.swapFileSizeMB"))
	if hasSwap && swap > 0 && jsonpath.Get(r.Properties, "kubeletConfig.failSwapOn") != false {
		errs = append(errs, field.Forbidden(at("linuxOSConfig").Child("swapFileSizeMB"),
			"needs kubeletConfig.failSwapOn: false, or the kubelet does not start"))
	}
	return errs
}

// isSystem reports whether the pool is to have mode System. A request without mode keeps that of the pool, and AKS's default is User.
func (r Request) isSystem() bool {
	if mode := r.text("mode"); mode != "" {
		return mode == "System"
	}
	return r.Observed.Properties.Mode == "System"
}

func (r Request) text(property string) string {
	value, _ := r.Properties[property].(string)
	return value
}

func (r Request) number(property string) (float64, bool) { return toNumber(r.Properties[property]) }

func (r Request) texts(property string) (out []string) {
	list, _ := r.Properties[property].([]any)
	for _, item := range list {
		text, _ := item.(string)
		out = append(out, text)
	}
	return out
}
