package reliability_test

import (
	"net/http"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// countAccepted counts the provider's requests that Azure accepted since a mark, by method and resource. Reads by POST
// do not count.
func (w *world) countAccepted(mark harness.Mark) map[string]int {
	out := map[string]int{}
	for _, request := range w.Azure.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if request.UserAgent == harness.UserAgent || request.Method == http.MethodGet || request.Status > 299 || request.Status == 0 ||
			!strings.HasPrefix(path, "/subscriptions/") || strings.Contains(path, "/list") {
			continue
		}
		out[request.Method+" "+strings.TrimPrefix(path, "/subscriptions/"+w.Azure.SubscriptionID+"/")]++
	}
	return out
}
