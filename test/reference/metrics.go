package reference

import (
	"regexp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	_ "sigs.k8s.io/cluster-api-provider-azure/internal/metrics" // registers the metrics
)

var description = regexp.MustCompile(`fqName: "([^"]+)", help: "(.*)", unit: "[^"]*", constLabels: .*variableLabels: \{([^}]*)\}`)

// renderMetrics returns the page of the provider's metrics.
func renderMetrics() *page {
	p := newPage("List of metrics", "Look up a metric of the manager. [Metrics](../metrics.md) describes queries, and the metrics of single objects.")
	descriptions := make(chan *prometheus.Desc)
	go func() {
		metrics.Registry.(prometheus.Collector).Describe(descriptions)
		close(descriptions)
	}()
	var rows [][]string
	for each := range descriptions {
		match := description.FindStringSubmatch(each.String())
		if match == nil || !strings.HasPrefix(match[1], "capz_") {
			continue
		}
		var labels []string
		for label := range strings.SplitSeq(match[3], ",") {
			if label != "" {
				labels = append(labels, code(label))
			}
		}
		rows = append(rows, []string{code(match[1]), strings.Join(labels, ", "), plain(strings.ReplaceAll(match[2], `\"`, `"`))})
	}
	slices.SortFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	p.table([]string{"Metric", "Labels", "Meaning"}, rows)
	return p
}
