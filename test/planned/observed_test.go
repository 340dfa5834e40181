package planned_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestPlanOfObservedObjects plans a change of tags of a cluster with four machines while objects are observed. The plan has the same writes as
// without observing, and names the objects for which the manager does not make them yet.
func TestPlanOfObservedObjects(t *testing.T) {
	annotate := func(value string, kinds ...client.Object) func([]client.Object) {
		return func(objects []client.Object) {
			for _, object := range objects {
				if slices.ContainsFunc(kinds, func(kind client.Object) bool {
					return reflect.TypeOf(kind) == reflect.TypeOf(object)
				}) {
					annotations := object.GetAnnotations()
					if annotations == nil {
						annotations = map[string]string{}
					}
					annotations[infrav1.ObserveAnnotation] = value
					object.SetAnnotations(annotations)
				}
			}
		}
	}
	all := []string{"AzureCluster c1", "AzureMachine c1-control-plane-0", "AzureMachine c1-control-plane-1", "AzureMachine c1-control-plane-2",
		"AzureMachine c1-md-0-0"}
	const line = "  observed: the manager makes no change until you remove the annotation infrastructure.cluster.x-k8s.io/observe on "
	tests := map[string]struct {
		reason   string
		annotate func([]client.Object)
		// observed are the objects of the plan that are observed, and lines are the lines about that.
		observed, lines []string
	}{
		"nothing": {"no object is marked", func([]client.Object) {}, nil, nil},
		"Cluster": {"all objects of the Cluster are observed", annotate("true", &clusterv1.Cluster{}), all,
			slices.Repeat([]string{line + "Cluster c1"}, len(all))},
		"Namespace": {"all objects in the Namespace are observed", annotate("", &corev1.Namespace{}), all,
			slices.Repeat([]string{line + "Namespace default"}, len(all))},
		"one kind": {"the network is observed, and the machines are not", annotate("yes", &infrav1.AzureCluster{}), all[:1],
			[]string{line + "AzureCluster c1"}},
		"two causes": {"each has to be removed", annotate("true", &clusterv1.Cluster{}, &infrav1.AzureCluster{}), all,
			append([]string{line + "AzureCluster c1 and the annotation infrastructure.cluster.x-k8s.io/observe on Cluster c1"},
				slices.Repeat([]string{line + "Cluster c1"}, len(all)-1)...)},
		"false": {"the value false is no observing", annotate("false", &clusterv1.Cluster{}, &corev1.Namespace{}), nil, nil},
	}
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		manager := s.StartProvider()
		s.BuildCluster("c1", 1)
		virtual.WaitForSignal(nil, time.Hour)
		manager.StopManager()
		var want []string
		for _, keep := range []bool{false, true} {
			for _, name := range []string{"nothing", "Cluster", "Namespace", "one kind", "two causes", "false"} {
				if keep && name != "Cluster" && name != "one kind" {
					continue
				}
				test := tests[name]
				options := s.PlanOptions(s.Azure.SubscriptionID)
				changeTags(options.Objects)
				test.annotate(options.Objects)
				options.KeepObserving = keep
				outcome, err := preview.Compute(s.T.Context(), options)
				if err != nil {
					t.Fatal(err)
				}
				writes := listWrites(outcome)
				if want == nil {
					want = writes
				}
				if keep {
					if len(writes) >= len(want) {
						t.Errorf("%s: with KeepObserving the plan has %d writes, want fewer than %d", name, len(writes), len(want))
					}
					continue
				}
				if diff := cmp.Diff(want, writes); diff != "" || len(writes) == 0 {
					t.Errorf("%s: %s: writes (-not observed +observed):\n%s", name, test.reason, diff)
				}
				report, err := outcome.Report(s.T.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				var observed, lines []string
				for _, o := range report.Objects {
					if len(o.Observed) > 0 {
						observed = append(observed, o.Kind+" "+o.Name)
					}
				}
				text := &bytes.Buffer{}
				report.WriteText(text, false)
				for each := range strings.Lines(text.String()) {
					if strings.Contains(each, "observe") {
						lines = append(lines, strings.TrimSuffix(each, "\n"))
					}
				}
				slices.Sort(observed)
				slices.Sort(lines)
				if diff := cmp.Diff([][]string{test.observed, test.lines}, [][]string{observed, lines}); diff != "" {
					t.Errorf("%s: %s: observed objects and lines (-want +got):\n%s", name, test.reason, diff)
				}
			}
		}
	})
}
