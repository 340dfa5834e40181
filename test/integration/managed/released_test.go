package managed_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const memberManifest = `
apiVersion: containerservice.azure.com/v1api20230315preview
kind: FleetsMember
metadata:
  name: c1
spec:
  owner: {armId: /subscriptions/SUBSCRIPTION/resourceGroups/shared/providers/Microsoft.ContainerService/fleets/fleet}
  clusterResourceReference: {group: containerservice.azure.com, kind: ManagedCluster, name: c1}
`

// TestReleasedMembershipsStay removes the manifest of a membership in a fleet of others, or its object. The membership has no tags: the provider
// knows it from its inventory. It stays if its policy is detach-on-delete or skip.
func TestReleasedMembershipsStay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// policy is the policy of the manifest, later the one that replaces it before the removal.
		policy, later string
		deleted       bool
		want          int
	}{
		"managed, removed":                  {"manage", "", false, 404},
		"detached, removed":                 {"detach-on-delete", "", false, 200},
		"detached later, removed":           {"manage", "detach-on-delete", false, 200},
		"skipped later, removed":            {"manage", "skip", false, 200},
		"managed, deleted with the object":  {"manage", "", true, 404},
		"detached, deleted with the object": {"detach-on-delete", "", true, 200},
		"skipped later, deleted":            {"manage", "skip", true, 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, func(s *virtual.Scenario) {
				s.StartProvider()
				fleet(s.Stage)
				s.CreateIdentity()
				documents := s.BuildASOCluster("c1", "pool0")
				member := s.ParseManifest(strings.Replace(memberManifest, "SUBSCRIPTION", s.Azure.SubscriptionID, 1))
				documents.ControlPlane.Spec.Resources = append(documents.ControlPlane.Spec.Resources, withPolicy(t, member, test.policy))
				s.CreateASOCluster(documents)
				if status, _ := s.Azure.GetResource(memberPath, fleetVersion); status != 200 {
					t.Fatalf("the membership was not made: %d", status)
				}
				change := func(edit func(*infrav1.AzureASOManagedControlPlane)) {
					harness.ChangeObject(s.Stage, documents.ControlPlane, edit)
					virtual.WaitForSignal(nil, 10*time.Minute)
				}
				if test.later != "" {
					change(func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources[1] = withPolicy(t, member, test.later) })
				}
				if test.deleted {
					s.DeleteManifests(documents)
				} else {
					change(func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources = o.Spec.Resources[:1] })
				}
				if status, _ := s.Azure.GetResource(memberPath, fleetVersion); status != test.want {
					t.Errorf("the membership answers with %d, want %d", status, test.want)
				}
			})
		})
	}
}

// withPolicy returns a manifest with a reconcile policy.
func withPolicy(t *testing.T, manifest runtime.RawExtension, value string) runtime.RawExtension {
	t.Helper()
	var decoded body
	if err := json.Unmarshal(manifest.Raw, &decoded); err != nil {
		t.Fatal(err)
	}
	decoded["metadata"].(body)["annotations"] = body{"serviceoperator.azure.com/reconcile-policy": value}
	raw, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}
