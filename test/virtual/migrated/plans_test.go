package migrated_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/check"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// refusing answers every request with the answer of Azure to users without the right to read.
type refusing struct{ policy.Transporter }

// Do implements policy.Transporter.
func (refusing) Do(request *http.Request) (*http.Response, error) {
	body := `{"error":{"code":"AuthorizationFailed","message":"The client does not have authorization to perform the action."}}`
	return &http.Response{StatusCode: http.StatusForbidden, Request: request, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(body)))}, nil
}

// TestPlansOfCheck compares the findings of `kubectl capz migrate check` about the writes after a migration. The check changes neither
// Azure nor objects.
func TestPlansOfCheck(t *testing.T) {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	tag := func(s *virtual.Scenario) {
		harness.ChangeObject(s.Stage, &infrav1.AzureMachine{ObjectMeta: named("c1-md-0-0")}, func(m *infrav1.AzureMachine) {
			m.Spec.AdditionalTags = infrav1.Tags{"team": "a"}
		})
	}
	changeCluster := func(s *virtual.Scenario, change func(*clusterv1.Cluster)) {
		harness.ChangeObject(s.Stage, &clusterv1.Cluster{ObjectMeta: named("c1")}, change)
	}
	const (
		quiet  = "to-know Cluster default/c1: The manager writes nothing to Azure after the migration."
		tagged = "blocks AzureMachine default/c1-md-0-0: The manager would write to Azure: "
	)
	for name, test := range map[string]struct {
		reason string
		// build brings up the cluster c1; nil is a self-managed one with a worker.
		build        func(s *virtual.Scenario)
		change       func(s *virtual.Scenario)
		subscription string
		refused      bool
		want         []string
	}{
		"in order": {reason: "0 writes is a result, too", change: func(*virtual.Scenario) {}, want: []string{quiet}},
		"change to come": {reason: "each write is named with its property and its reason", change: tag, want: []string{
			tagged + `change disks/c1-md-0-0_OSDisk (Azure differs from the spec): tags.team (absent) -> "a".`,
			tagged + `change networkInterfaces/c1-md-0-0-nic (Azure differs from the spec): tags.team (absent) -> "a".`,
			tagged + `change virtualMachines/c1-md-0-0 (Azure differs from the spec): tags.team (absent) -> "a".`}},
		"observed": {reason: "observing delays writes, and the user wants to know them", change: func(s *virtual.Scenario) {
			tag(s)
			changeCluster(s, func(c *clusterv1.Cluster) { c.Annotations = map[string]string{infrav1.ObserveAnnotation: "true"} })
		}, want: []string{
			tagged + `change disks/c1-md-0-0_OSDisk (Azure differs from the spec): tags.team (absent) -> "a".`,
			tagged + `change networkInterfaces/c1-md-0-0-nic (Azure differs from the spec): tags.team (absent) -> "a".`,
			tagged + `change virtualMachines/c1-md-0-0 (Azure differs from the spec): tags.team (absent) -> "a".`}},
		"paused": {reason: "a paused Cluster has no writes, and that is no promise", change: func(s *virtual.Scenario) {
			tag(s)
			changeCluster(s, func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) })
		}, want: []string{"to-know Cluster default/c1: The Cluster is paused, so nothing is written until it is unpaused. Its writes are not computed."}},
		"stopped machine": {reason: "an object that is not Ready before the migration does not block it", change: func(s *virtual.Scenario) {
			s.PostAction("resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/c1-md-0-0", "deallocate")
			manager := s.StartProvider()
			virtual.WaitForSignal(nil, 2*time.Hour)
			manager.StopManager()
		}, want: []string{"to-know AzureMachine default/c1-md-0-0: The object is not Ready, and would not be after the migration: VMStopped"}},
		"no rights": {reason: "without the right to read, 0 writes would be no result", change: func(*virtual.Scenario) {}, refused: true,
			want: []string{"blocks Cluster default/c1: The plan is not complete. Azure did not answer "}},
		"unknown subscription": {reason: "a plan without the subscription would be empty",
			build:  func(s *virtual.Scenario) { s.CreateManifests(s.BuildASOCluster("c1", "pool0")) },
			change: func(*virtual.Scenario) {}, subscription: "none",
			want: []string{
				"blocks AzureASOManagedCluster default/c1: The object would not be Ready after the migration, so its writes may not be complete: SecretNotFound: ",
				"blocks AzureASOManagedControlPlane default/c1: The object would not be Ready after the migration, so its writes may not be complete: Waiting: ",
				"blocks AzureASOManagedMachinePool default/c1-pool0: The object would not be Ready after the migration, so its writes may not be complete: Waiting: ",
				"blocks Cluster default/c1: The plan is not complete. Secret default/" + harness.OperatorSecret}},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.PlayUnmanaged(t, func(s *virtual.Scenario) {
				if test.build != nil {
					test.build(s)
				} else {
					manager := s.StartProvider()
					s.BuildCluster("c1", 1)
					virtual.WaitForSignal(nil, time.Hour)
					manager.StopManager()
				}
				test.change(s)
				mark := s.Azure.MarkRequests()
				subscription := s.Azure.SubscriptionID
				if test.subscription != "" {
					subscription = ""
				}
				report, err := check.FindPlans(s.T.Context(), check.Options{Reader: s.Kubernetes,
					Plan: func(ctx context.Context, objects []client.Object) (*preview.Result, error) {
						options := s.PlanOptions(subscription)
						options.Objects, options.Play = objects, nil
						if test.refused {
							options.Live.Transport = refusing{}
						}
						return preview.Compute(ctx, options)
					}}, "")
				if err != nil {
					s.T.Fatal(err)
				}
				var got []string
				for _, finding := range report.Findings {
					got = append(got, string(finding.Severity)+" "+finding.Object+": "+finding.Found)
					if (finding.Severity == "blocks") && finding.Remedy == "" {
						s.T.Errorf("the finding has no remedy: %+v", finding)
					}
				}
				if diff := cmp.Diff(test.want, got, cmp.Comparer(startsWith)); diff != "" {
					s.T.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				if writes := s.Azure.WritesSince(mark); len(writes) > 0 {
					s.T.Errorf("the check has written to Azure: %v", writes)
				}
			})
		})
	}
}

// startsWith compares the beginnings of findings: the messages of objects have tests of their own.
func startsWith(a, b string) bool {
	size := min(len(a), len(b))
	return a[:size] == b[:size]
}
