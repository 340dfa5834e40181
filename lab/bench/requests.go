package bench

import (
	"net/http"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/sim/schedule"
)

// Classes are requests by Azure's classes of limits.
type Classes struct {
	Reads   int `json:"reads"`
	Writes  int `json:"writes"`
	Deletes int `json:"deletes"`
}

// CountAll returns the requests of all classes.
func (c Classes) CountAll() int { return c.Reads + c.Writes + c.Deletes }

// Azure are the requests that a provider has sent to Azure Resource Manager, whatever came of them.
type Azure struct {
	Classes
	// Polls are those reads that ask after an operation.
	Polls int `json:"polls"`
	// Throttled were answered 429, Refused with another error than that something does not exist.
	Throttled int `json:"throttled"`
	Refused   int `json:"refused"`
	// Types are requests by their target: a type, its list, or an action of it.
	Types map[string]Classes `json:"types"`
}

// span is a time from its begin until before its end.
type span struct{ from, to time.Time }

func (s span) contains(t time.Time) bool { return !t.Before(s.from) && t.Before(s.to) }

// countRequests counts the requests that the log has of a provider between two moments. Requests for tokens do not go
// to Resource Manager, and requests of the lab itself do not count.
func countRequests(log []schedule.Request, during span) Azure {
	out := Azure{Types: map[string]Classes{}}
	for _, r := range log {
		if !during.contains(r.Time) || !ofProvider(r) {
			continue
		}
		path, _, _ := strings.Cut(r.URL, "?")
		kind := typeOf(path)
		of := out.Types[kind]
		switch {
		case r.IsRead():
			out.Reads++
			of.Reads++
			if kind == operationsType {
				out.Polls++
			}
		case r.Method == http.MethodDelete:
			out.Deletes++
			of.Deletes++
		default:
			out.Writes++
			of.Writes++
		}
		out.Types[kind] = of
		switch {
		case r.Status == http.StatusTooManyRequests:
			out.Throttled++
		case r.Status >= 400 && r.Status != http.StatusNotFound:
			out.Refused++
		}
	}
	return out
}

// ofProvider reports whether a request is one to Resource Manager that the lab did not send itself.
func ofProvider(r schedule.Request) bool {
	return r.UserAgent != simulator.UserAgent && (strings.HasPrefix(r.URL, "/subscriptions") || strings.HasPrefix(r.URL, "/providers"))
}

const operationsType = "operations"

var operation = regexp.MustCompile(`(?i)/(operations|operationresults|operationstatuses|diskoperations)/`)

// typeOf returns the target of a path.
func typeOf(path string) string {
	if operation.MatchString(path) {
		return operationsType
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	namespace := "Microsoft.Resources"
	for i := len(parts) - 2; i >= 0; i-- {
		if strings.EqualFold(parts[i], "providers") {
			namespace, parts = parts[i+1], parts[i+2:]
			break
		}
	}
	if len(parts) > 2 && namespace == "Microsoft.Resources" && strings.EqualFold(parts[0], "subscriptions") {
		parts = parts[2:]
	}
	name := namespace
	for i := 0; i < len(parts); i += 2 {
		name += "/" + canonicalSegment(parts[i])
	}
	if last := len(parts) - 1; len(parts)%2 == 1 && !(len(parts) > 2 && schedule.IsListAction(parts[last])) {
		name += " list"
	}
	return name
}

// canonicalSegment returns the one that counts are kept under: clients spell the segment of groups in two ways.
func canonicalSegment(segment string) string {
	if strings.EqualFold(segment, "resourceGroups") {
		return "resourceGroups"
	}
	return segment
}
