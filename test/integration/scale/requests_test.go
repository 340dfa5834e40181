package scale_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// requests are counts of requests to Resource Manager.
type requests struct {
	// Writes are those that Azure took, by method and type as in "PUT Microsoft.Network/networkInterfaces".
	Writes map[string]int
	// Gets and Lists are reads by type of the resource; Polls are reads of operations.
	Gets, Lists map[string]int
	Polls       int
	// Throttled were answered 429, Refused with another error than that something does not exist.
	Throttled, Refused int
}

// countReads returns all that were answered.
func (r requests) countReads() int { return sumCounts(r.Gets) + sumCounts(r.Lists) + r.Polls }

func sumCounts(counts map[string]int) int {
	total := 0
	for _, count := range counts {
		total += count
	}
	return total
}

var operations = regexp.MustCompile(`(?i)/(operations|operationresults|diskoperations)/`)

// countRequests sorts the provider's requests to Azure after a mark.
func countRequests(azure *harness.Simulator, mark harness.Mark) requests {
	out := requests{Writes: map[string]int{}, Gets: map[string]int{}, Lists: map[string]int{}}
	for _, line := range azure.RequestsSince(mark) {
		var method, path string
		var status int
		if _, err := fmt.Sscan(line, &method, &path, &status); err != nil {
			continue
		}
		kind, collection := typeOf(path)
		switch {
		case status == http.StatusTooManyRequests:
			out.Throttled++
		case status >= 400 && status != http.StatusNotFound:
			out.Refused++
		case method != http.MethodGet:
			out.Writes[method+" "+kind]++
		case operations.MatchString(path):
			out.Polls++
		case collection:
			out.Lists[kind]++
		default:
			out.Gets[kind]++
		}
	}
	return out
}

// typeOf returns the resource type of a path in the form of Simulator.Since, and whether the path is a collection.
func typeOf(path string) (kind string, collection bool) {
	parts := strings.Split(path, "/")
	if len(parts) > 2 && parts[0] == "resourceGroups" {
		parts = parts[2:]
	}
	if len(parts) < 2 || !strings.Contains(parts[0], ".") {
		return parts[0], len(parts) == 1
	}
	names := []string{parts[0]}
	for i := 1; i < len(parts); i += 2 {
		names = append(names, parts[i])
	}
	return strings.Join(names, "/"), len(parts)%2 == 0
}
