// Package requests_test counts the cost of clusters, exactly: the requests to Azure from nothing to Ready, of an hour in which nothing
// happens, and of a deletion, and the cost of AKS clusters of documents that are changed, moved, or lose their manager. Time is virtual
// and Azure as fast as the real one, so that counts and durations are the same on any computer.
package requests_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// world is one of clusters whose requests are counted.
type world struct{ *virtual.Scenario }

// cost is a number of requests to Azure.
type cost struct {
	writes, reads, polls int
	// of are the reads by type of the resource, list or operation.
	of map[string]int
}

func (c cost) String() string {
	var of []string
	for _, key := range slices.SortedFunc(maps.Keys(c.of), func(a, b string) int { return c.of[b] - c.of[a] }) {
		of = append(of, fmt.Sprintf("%s %d", key, c.of[key]))
	}
	return fmt.Sprintf("%d writes, %d reads of which %d ask after operations; %s", c.writes, c.reads, c.polls, strings.Join(of, ", "))
}

// countSince returns the number of requests to Azure since a mark.
func (w *world) countSince(mark harness.Mark) cost {
	out := cost{of: map[string]int{}}
	for _, request := range w.Azure.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if !strings.HasPrefix(path, "/subscriptions/") {
			continue // a token
		}
		kind := kindOf(path)
		if request.Method != http.MethodGet && !strings.Contains(kind, "/list") {
			out.writes++
			continue
		}
		out.reads++
		if kind == "operations" {
			out.polls++
		}
		out.of[kind]++
	}
	return out
}

// kindOf returns the kind of a path: a type, its list, or an operation.
func kindOf(path string) string {
	lower := strings.ToLower(path)
	for _, part := range []string{"/operations/", "/operationresults/", "/operationstatuses/"} {
		if strings.Contains(lower, part) {
			return "operations"
		}
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if i := slices.Index(parts, "providers"); i >= 0 {
		parts = parts[i+2:]
	} else {
		parts = parts[2:]
	}
	name := ""
	for i := 0; i < len(parts); i += 2 {
		name += "/" + parts[i]
	}
	if len(parts)%2 == 1 && !strings.HasPrefix(parts[len(parts)-1], "list") {
		name += " list"
	}
	return strings.TrimPrefix(name, "/")
}

func inVirtualTime(t *testing.T, test func(w *world)) {
	t.Helper()
	playUnmanaged(t, func(w *world) {
		w.StartProvider()
		test(w)
	})
}

// playUnmanaged is inVirtualTime without a manager.
func playUnmanaged(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&world{Scenario: virtual.New(t)}) })
}

// playDraws runs a test in as many worlds, in each of which Azure takes other times.
func playDraws(t *testing.T, many int, test func(w *world)) {
	for seed := range many {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &world{Scenario: virtual.NewWith(t, server.Options{Seed: uint64(seed)})}
				w.StartProvider()
				test(w)
			})
		})
	}
}
