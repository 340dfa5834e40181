package planned_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/clusterapi"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/result"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// changeKind changes all objects of a kind.
func changeKind[T client.Object](objects []client.Object, change func(T)) {
	for _, object := range objects {
		if o, is := object.(T); is {
			change(o)
		}
	}
}

// TestReplacementsOfPools plans changes of pools and compares what --never-replace would name.
func TestReplacementsOfPools(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func([]client.Object)
		// kind is that of the replacements, and replaced how many there are.
		kind     string
		replaced int
	}{
		"no change": {"nothing is replaced", func([]client.Object) {}, "", 0},
		"tags of a pool": {"Azure changes tags of VMs that run", func(objects []client.Object) {
			changeKind(objects, func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
		}, "", 0},
		"template of a pool": {"each VM is replaced", func(objects []client.Object) {
			changeKind(objects, func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
		}, "AzureMachinePoolMachine", 2},
		"disruptive change of AKS": {"AKS reimages the nodes", func(objects []client.Object) {
			changeKind(objects, func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.HTTPProxyConfig = &infrav1.HTTPProxyConfig{HTTPProxy: new("http://proxy.example.com:3128")}
			})
		}, "the nodes of AzureManagedControlPlane default/c2", 1},
		"tags of AKS": {"AKS changes tags of nodes that run", func(objects []client.Object) {
			changeKind(objects, func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
		}, "", 0},
	}
	virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
		manager := s.StartProvider()
		s.PlayPoolMachines(nil)
		s.BuildCluster("c1", 0)
		s.ApplyPool("c1", "pool", 2)
		s.WaitPool("pool", 2)
		s.BuildAKSCluster("c2", 1)
		virtual.WaitForSignal(nil, time.Hour)
		manager.StopManager()
		for name, test := range tests {
			options := s.PlanOptions(s.Azure.SubscriptionID)
			options.Play = clusterapi.PlayRound
			test.change(options.Objects)
			outcome, err := preview.Compute(s.T.Context(), options)
			if err != nil {
				s.T.Fatal(err)
			}
			report, err := outcome.Report(s.T.Context(), nil)
			if err != nil {
				s.T.Fatal(err)
			}
			got := report.Replacements()
			other := slices.ContainsFunc(got, func(each string) bool { return !strings.HasPrefix(each, test.kind) })
			if len(got) != test.replaced || other || !outcome.Settled {
				t.Errorf("%s: %s: settled %t, replaced %v, want %d of %q\n%s", name, test.reason, outcome.Settled, got, test.replaced, test.kind, describe(report))
			}
		}
	})
}

// describe returns a plan as text.
func describe(of *result.Plan) string {
	out := &strings.Builder{}
	of.WriteText(out, false)
	return out.String()
}
