package server

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// logFilter are the clauses of a $filter of the activity log.
var logFilter = regexp.MustCompile(`(?i)(\w+)\s+(eq|ge|le)\s+'([^']*)'`)

// answerActivityLog answers GET .../providers/Microsoft.Insights/eventtypes/management/values: the writes of the request log, newest first, and the
// ends of their operations. The log is kept in memory, for the last requests.
// Source: https://learn.microsoft.com/rest/api/monitor/activity-logs/list and
// https://learn.microsoft.com/azure/azure-monitor/platform/activity-log-schema
func (x *exchange) answerActivityLog() (*provider.Reply, error) {
	clauses := map[string]string{}
	var from, to time.Time
	for _, m := range logFilter.FindAllStringSubmatch(x.call.Query.Get("$filter"), -1) {
		key, operator, value := strings.ToLower(m[1]), strings.ToLower(m[2]), m[3]
		if key != "eventtimestamp" {
			clauses[key] = value
			continue
		}
		at, err := time.Parse(time.RFC3339, value)
		if err != nil {
			return nil, provider.GatewayErrorf(400, "BadRequest", "The time '%s' of the query filter is not valid.", value)
		}
		if operator == "le" {
			to = at
		} else {
			from = at
		}
	}
	if from.IsZero() {
		return nil, provider.GatewayErrorf(400, "BadRequest", "The query filter is missing a start time: $filter needs \"eventTimestamp ge '<time>'\".")
	}
	events := []any{}
	for _, r := range slices.Backward(x.s.log.allRecords()) {
		if !slices.Contains([]string{"PUT", "PATCH", "POST", "DELETE"}, r.Method) || r.Time.Before(from) || !to.IsZero() && r.Time.After(to) {
			continue
		}
		for _, event := range x.eventsOf(r) {
			if matchesLog(event, clauses) {
				events = append(events, event)
			}
		}
	}
	return x.pageOfList(events), nil
}

// eventsOf returns the events of a write in this subscription, the last first.
func (x *exchange) eventsOf(r RequestRecord) []body.Object {
	path, _, _ := strings.Cut(r.URL, "?")
	segs := splitSegments(path)
	if len(segs) < 4 || !strings.EqualFold(segs[0], "subscriptions") || !strings.EqualFold(segs[1], x.segs[1]) {
		return nil
	}
	need, _ := x.s.neededAction(r.Method, path)
	group, space := "", "Microsoft.Resources"
	if strings.EqualFold(segs[2], "resourceGroups") {
		group = segs[3]
	}
	if at := strings.LastIndex(strings.ToLower(path), "/providers/"); at >= 0 {
		space, _, _ = strings.Cut(path[at+len("/providers/"):], "/")
	}
	event := func(status, level string, at time.Time) body.Object {
		return body.Object{"eventTimestamp": at.UTC().Format(time.RFC3339Nano), "submissionTimestamp": at.UTC().Format(time.RFC3339Nano),
			"category": body.Object{"value": "Administrative", "localizedValue": "Administrative"}, "level": level, "caller": r.Principal,
			"operationName": body.Object{"value": need.Action, "localizedValue": need.Action}, "status": body.Object{"value": status, "localizedValue": status},
			"resourceId": path, "resourceGroupName": group, "resourceProviderName": body.Object{"value": space, "localizedValue": space},
			"subscriptionId": x.segs[1], "tenantId": x.s.opts.Tenant, "correlationId": r.RequestID, "operationId": r.RequestID, "eventDataId": r.RequestID,
			"id":          path + "/events/" + r.RequestID + "/ticks/" + at.UTC().Format("20060102150405.000000000"),
			"httpRequest": body.Object{"clientRequestId": r.RequestID, "method": r.Method, "uri": "https://management.azure.com" + path}}
	}
	if r.Status >= 400 || r.Status == 0 {
		return []body.Object{event("Failed", "Error", r.Time)}
	}
	op := x.call.Operation(r.OperationID)
	if op == nil {
		return []body.Object{event("Succeeded", "Informational", r.Time)}
	}
	out := []body.Object{event("Accepted", "Informational", r.Time)}
	switch {
	case op.IsRunning():
	case op.Status == store.Succeeded:
		out = append([]body.Object{event("Succeeded", "Informational", op.Ended)}, out...)
	default:
		out = append([]body.Object{event("Failed", "Error", op.Ended)}, out...)
	}
	return out
}

// matchesLog reports whether an event meets all clauses of the filter that are no times.
func matchesLog(event body.Object, clauses map[string]string) bool {
	for key, want := range clauses {
		path := map[string]string{"resourcegroupname": "resourceGroupName", "resourceuri": "resourceId", "resourceid": "resourceId",
			"correlationid": "correlationId", "resourceprovider": "resourceProviderName.value", "status": "status.value", "caller": "caller"}[key]
		if path == "" || !strings.EqualFold(body.String(event, path), want) {
			return false
		}
	}
	return true
}
