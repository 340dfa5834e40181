package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// checkLimits checks a request against the token buckets of Azure Resource Manager: the principal's, and that of all principals together.
func (x *exchange) checkLimits() error {
	sub, scope, kind := "", "tenant", kindOf(x.r.Method)
	if len(x.lower) > 1 && x.lower[0] == "subscriptions" {
		sub, scope = x.lower[1], "subscription"
	}
	limits, header := x.s.limits.limits, x.w.Header()
	if limits == nil {
		left := int(AzureThrottle.limitOf(kind).size) - 1
		header.Set("x-ms-ratelimit-remaining-"+scope+"-"+kind, strconv.Itoa(left))
		return nil
	}
	own, actor := limits.limitOf(kind), x.call.Principal.ObjectID
	own.key = actor + "/" + sub + "/" + kind
	buckets := []limit{own}
	if scope == "subscription" && limits.Whole > 0 {
		buckets = append(buckets, limit{key: sub + "/" + kind, size: own.size * limits.Whole, rate: own.rate * limits.Whole})
	}
	left, short, wait := x.s.limits.takeFrom(buckets...)
	header.Set("x-ms-ratelimit-remaining-"+scope+"-"+kind, strconv.Itoa(left[0]))
	if len(buckets) > 1 {
		header.Set("x-ms-ratelimit-remaining-subscription-global-"+kind, strconv.Itoa(left[1]))
	}
	if short < 0 {
		return nil
	}
	secs, verb := ceilSeconds(wait), strings.TrimSuffix(kind, "s")
	e := provider.Errorf(429, "SubscriptionRequestsThrottled",
		"Number of '%s' requests for subscription '%s' actor '%s' exceeded. Please try again after '%d' seconds after additional tokens are available.", verb, sub, actor, secs)
	if short > 0 {
		e.Message = fmt.Sprintf("Number of '%s' requests for subscription '%s' exceeded. Please try again after '%d' seconds after additional tokens are available.", verb, sub, secs)
	}
	e.RetryAfter, e.Gateway = time.Duration(secs)*time.Second, true
	return e
}

// kindOf returns the kind that Azure Resource Manager counts a request as.
func kindOf(method string) string {
	switch method {
	case http.MethodDelete:
		return "deletes"
	case http.MethodPut, http.MethodPost, http.MethodPatch:
		return "writes"
	}
	return "reads"
}

func ceilSeconds(wait time.Duration) int { return max(1, int((wait+time.Second-1)/time.Second)) }

// limitOfProvider checks a request against the limits of the resource provider that gets it.
func (x *exchange) limitOfProvider() error {
	limits := x.s.limits.limits
	if limits == nil || limits.Providers <= 0 {
		return nil
	}
	switch strings.ToLower(x.call.ID.Namespace) {
	case "microsoft.compute":
		return x.limitOfCompute(limits.Providers)
	case "microsoft.network":
		return x.limitOfNetwork(limits.Providers)
	}
	return nil
}

// limitOfNetwork allows 1,000 writes and deletions and 10,000 reads in 5 minutes per subscription and region.
// https://learn.microsoft.com/azure/azure-resource-manager/management/request-limits-and-throttling#network-throttling
// Microsoft does not publish whether the 5 minutes begin with a request or slide, nor the text of the answer.
func (x *exchange) limitOfNetwork(times float64) error {
	all := limit{key: "network/" + x.regionKey() + "/reads", size: 10000 * times, window: 5 * time.Minute}
	if kindOf(x.r.Method) != "reads" {
		all.key, all.size = "network/"+x.regionKey()+"/writes", 1000*times
	}
	_, short, wait := x.s.limits.takeFrom(all)
	if short < 0 {
		return nil
	}
	secs := ceilSeconds(wait)
	e := provider.Errorf(429, "TooManyRequests",
		"The server rejected the request because too many requests have been received for this subscription. Please try again after '%d' seconds.", secs)
	e.RetryAfter = time.Duration(secs) * time.Second
	return e
}

// policy is a limit of Microsoft.Compute: buckets of a subscription in a region and of a resource, and the requests
// added to them per minute. 0 is no bucket.
type policy struct{ ofAll, ofAllPerMinute, ofOne, ofOnePerMinute float64 }

// policies are those of the groups of operations.
// https://learn.microsoft.com/azure/virtual-machines/compute-throttling-limits
// The page describes the groups in words. That PutVM is called so is seen in headers; the other names are made like it. Lists of the
// VMs of a scale set are taken for one with its instance view.
var policies = map[string]policy{
	"PutVM": {1500, 500, 12, 4}, "UpdateVM": {1500, 500, 12, 4}, "DeleteVM": {1500, 500, 12, 4},
	"GetVM": {24000, 8000, 36, 12}, "ListVM": {900, 300, 0, 0}, "GetOperation": {15000, 5000, 45, 15},
	"PutVMScaleSet": {375, 125, 12, 4}, "UpdateVMScaleSet": {1500, 500, 12, 4}, "DeleteVMScaleSet": {525, 175, 12, 4},
	"GetVMScaleSet": {2400, 800, 36, 12}, "ListVMScaleSet": {1080, 360, 30, 10},
	"UpdateVMScaleSetVM": {1500, 500, 12, 4}, "DeleteVMScaleSetVM": {1500, 500, 12, 4}, "GetVMScaleSetVM": {6000, 2000, 36, 12},
}

// operationGroup returns the group of operations that a request to Microsoft.Compute belongs to, "" for one without published limits.
func (x *exchange) operationGroup() string {
	id, kind := x.call.ID, kindOf(x.r.Method)
	types := strings.ToLower(strings.Join(id.Types, "/"))
	switch {
	case types == "locations/operations":
		return "GetOperation"
	case types == "virtualmachines/extensions":
		types = "virtualmachines" // writes of extensions count as those of VMs
	}
	list := id.IsCollection() && kind == "reads"
	of := map[string]string{"virtualmachines": "VM", "virtualmachinescalesets": "VMScaleSet",
		"virtualmachinescalesets/virtualmachines": "VMScaleSetVM"}[types]
	switch {
	case of == "":
		return ""
	case list && of == "VMScaleSetVM":
		return "ListVMScaleSet"
	case list:
		return "List" + of
	case kind == "reads":
		return "Get" + of
	case kind == "deletes":
		return "Delete" + of
	case x.r.Method != http.MethodPut || of == "VMScaleSetVM" || of == "VMScaleSet" && x.resourceExists():
		return "Update" + of
	}
	return "Put" + of
}

// resourceExists reports whether the resource of the request exists.
func (x *exchange) resourceExists() (there bool) {
	x.s.store.View(func(tx *store.Tx) { there = tx.Get(x.call.ID.String()) != nil })
	return there
}

func (x *exchange) limitOfCompute(times float64) error {
	group := x.operationGroup()
	found, ok := policies[group]
	if !ok {
		return nil
	}
	limits, names := []limit{{key: "compute/" + x.regionKey() + "/" + group, size: found.ofAll * times,
		rate: found.ofAllPerMinute * times / 60}}, []string{group + "SubscriptionMaximum"}
	if found.ofOne > 0 {
		limits = append(limits, limit{key: "compute/" + x.call.ID.Key() + "/" + group, size: found.ofOne, rate: found.ofOnePerMinute / 60})
		names = append(names, group+"Resource")
	}
	left, short, wait := x.s.limits.takeFrom(limits...)
	var remaining []string
	for i, name := range names {
		remaining = append(remaining, fmt.Sprintf("Microsoft.Compute/%s;%d", name, left[i]))
	}
	x.w.Header().Set("x-ms-ratelimit-remaining-resource", strings.Join(remaining, ","))
	if short < 0 {
		return nil
	}
	// https://learn.microsoft.com/troubleshoot/azure/virtual-machines/windows/troubleshooting-throttling-errors
	now, allowed := x.s.opts.Clock.Now().UTC(), int(limits[short].size)
	measured, err := json.Marshal(body.Object{
		"operationGroup": names[short], "startTime": now.Add(-time.Minute).Format(time.RFC3339Nano), "endTime": now.Format(time.RFC3339Nano),
		"allowedRequestCount": allowed, "measuredRequestCount": allowed + 1,
	})
	if err != nil {
		return err
	}
	e := provider.Errorf(429, "OperationNotAllowed",
		"The server rejected the request because too many requests have been received for this subscription.").
		WithDetail(&provider.Error{Code: "TooManyRequests", Target: names[short], Message: string(measured)})
	e.RetryAfter = time.Duration(ceilSeconds(wait)) * time.Second
	return e
}

// regionKey returns the subscription and region that a request counts for: the region in its path or body, that of the
// existing resource, or that of its resource group.
func (x *exchange) regionKey() string {
	id := x.call.ID
	region := body.String(x.call.Body, "location")
	if len(id.Types) > 0 && strings.EqualFold(id.Types[0], "locations") && len(id.Names) > 0 {
		region = id.Names[0]
	}
	if region == "" {
		x.s.store.View(func(tx *store.Tx) {
			for at := id; ; at = at.Parent() {
				if found := tx.Get(at.String()); found != nil {
					region = found.Location
				}
				if region != "" || at.Namespace == "" {
					return
				}
			}
		})
	}
	return strings.ToLower(id.Subscription) + "/" + provider.NormalizeLocation(region)
}
