package managed_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// bringUpComplete returns a stage with a cluster that has a private endpoint, a fleet membership and an extension.
func bringUpComplete(t *testing.T) *harness.Stage {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	bringUpEquipped(stage)
	return stage
}

// waitInPlace waits until the control plane is Ready as it is now, and all of its plan is in place.
func waitInPlace(stage *harness.Stage) *infrav1.AzureManagedControlPlane {
	stage.T.Helper()
	return harness.WaitFor(stage, controlPlane("c1"), "c1", "ready as it is now", func(c *infrav1.AzureManagedControlPlane) bool {
		ready := harness.FindCondition(c, infrav1.ReadyCondition)
		return ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == c.Generation
	})
}

// TestPrune takes one part after another out of the spec: it goes away in Azure, with one DELETE, and so does its condition.
func TestPrune(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason    string
		change    func(*infrav1.AzureManagedControlPlane)
		path      string
		version   string
		write     string
		condition string
	}{
		"private endpoint": {
			reason:    "the established provider leaves it until the cluster is deleted",
			change:    func(c *infrav1.AzureManagedControlPlane) { c.Spec.VirtualNetwork.Subnet.PrivateEndpoints = nil },
			path:      endpointPath,
			version:   networkVersion,
			write:     endpointWrite,
			condition: infrav1.PrivateEndpointsReadyCondition,
		},
		"fleet membership": {
			reason:    "it is below a fleet of others, which stays",
			change:    func(c *infrav1.AzureManagedControlPlane) { c.Spec.FleetsMember = nil },
			path:      memberPath,
			version:   fleetVersion,
			write:     memberWrite,
			condition: infrav1.FleetReadyCondition,
		},
		"extension": {
			reason:    "it goes alone and not with the cluster",
			change:    func(c *infrav1.AzureManagedControlPlane) { c.Spec.Extensions = nil },
			path:      extensionPath,
			version:   extensionVersion,
			write:     extensionWrite,
			condition: infrav1.AKSExtensionsReadyCondition,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := bringUpComplete(t)
			if condition := harness.FindCondition(waitInPlace(stage), test.condition); condition.Status != metav1.ConditionTrue {
				t.Fatalf("%s: condition %v before, want True", test.reason, condition)
			}
			mark := stage.Azure.MarkRequests()
			requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "DELETE", ID: "*" + strings.ToLower(test.path), Count: 1,
				Kind:   fault.Status,
				Status: 409, Code: "ScopeLocked", Message: "The scope cannot perform delete operation because the following scope(s) are locked."}))
			harness.ChangeObject(stage, controlPlane("c1"), test.change)
			harness.WaitFor(stage, controlPlane("c1"), "c1", "with the reason why the resource cannot be deleted",
				func(c *infrav1.AzureManagedControlPlane) bool {
					condition, ready := harness.FindCondition(c, test.condition), harness.FindCondition(c, infrav1.ReadyCondition)
					return condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "ScopeLocked") &&
						ready.Status == metav1.ConditionFalse
				})
			stage.AdvanceClock(time.Hour)
			stage.WakeControllers(controlPlane("c1"))
			stage.Eventually(test.path+" is gone", func() bool {
				status, _ := stage.Azure.GetResource(test.path, test.version)
				return status == 404
			})
			harness.WaitFor(stage, controlPlane("c1"), "c1", "without the condition", func(c *infrav1.AzureManagedControlPlane) bool {
				return harness.FindCondition(c, test.condition).Type == "" && harness.IsReady(c)
			})
			if diff := cmp.Diff([]string{"DELETE " + test.write, "DELETE " + test.write},
				harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
				t.Errorf("%s: one DELETE that is refused and one that is not (-want +got):\n%s", test.reason, diff)
			}
			stage.DeleteManagedCluster("c1", "pool0", "pool1")
			if diff := cmp.Diff(shared, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: only what others made is left (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestChangeOfAPart changes a setting of one part after another: it is one PUT of that part.
func TestChangeOfAPart(t *testing.T) {
	t.Parallel()
	stage := bringUpComplete(t)
	tests := []struct {
		reason            string
		change            func(*infrav1.AzureManagedControlPlane)
		path, version, at string
		want              string
		write             []string
	}{
		{
			reason: "settings of an extension",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.Extensions[0].ConfigurationSettings["source-controller.enabled"] = "false"
			},
			path:    extensionPath,
			version: extensionVersion,
			at:      "properties.configurationSettings.source-controller_enabled",
			write:   []string{"PUT " + extensionWrite},
		},
		{
			reason:  "group of a membership",
			change:  func(c *infrav1.AzureManagedControlPlane) { c.Spec.FleetsMember.Group = "production" },
			path:    memberPath,
			version: fleetVersion,
			at:      "properties.group",
			want:    "production",
			write:   []string{"PUT " + memberWrite},
		},
		{
			reason: "tier of the cluster",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.SKU = &infrav1.AKSSku{Tier: infrav1.StandardManagedControlPlaneTier}
			},
			path:    clusterPath,
			version: clusterVersion,
			at:      "sku.tier",
			want:    "Standard",
			write:   []string{clusterPut},
		},
		{
			reason: "only one range may reach the API server",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.APIServerAccessProfile = &infrav1.APIServerAccessProfile{AuthorizedIPRanges: []string{"203.0.113.0/24"}}
			},
			path:    clusterPath,
			version: clusterVersion,
			at:      "properties.apiServerAccessProfile.authorizedIPRanges.0",
			want:    "203.0.113.0/24",
			write:   []string{clusterPut},
		},
		{
			reason: "all addresses may reach the API server again",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.APIServerAccessProfile.AuthorizedIPRanges = nil
			},
			path:    clusterPath,
			version: clusterVersion,
			at:      "properties.apiServerAccessProfile.authorizedIPRanges.0",
			want:    "",
			write:   []string{clusterPut},
		},
	}
	for _, test := range tests {
		waitInPlace(stage)
		mark := stage.Azure.MarkRequests()
		harness.ChangeObject(stage, controlPlane("c1"), test.change)
		if test.at == "properties.configurationSettings.source-controller_enabled" {
			// The key has a dot.
			stage.Eventually(test.reason, func() bool {
				_, have := stage.Azure.GetResource(test.path, test.version)
				properties, _ := have["properties"].(map[string]any)
				settings, _ := properties["configurationSettings"].(map[string]any)
				return settings["source-controller.enabled"] == "false"
			})
		} else {
			waitValue(stage, test.path, test.version, test.at, test.want)
		}
		waitInPlace(stage)
		if diff := cmp.Diff(test.write, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

// TestTags adds, changes and removes tags of the cluster and of a pool, while those of other people stay.
func TestTags(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	poolPath := clusterPath + "/agentPools/pool1"
	// A user tags the cluster, its group and its network by hand.
	for path, version := range map[string]string{clusterPath: clusterVersion, "resourceGroups/c1": groupVersion,
		"resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1": networkVersion} {
		_, have := stage.Azure.GetResource(path, version)
		tags, _ := have["tags"].(map[string]any)
		tags["costs"] = "4711"
		stage.Azure.PutResource(path, version, have)
	}
	stage.ResyncManaged()
	steps := []struct {
		reason        string
		cluster, pool infrav1.Tags
		want          map[string]string
	}{
		{"added", infrav1.Tags{"team": "a", "stage": "test"}, infrav1.Tags{"team": "p"}, map[string]string{"team": "a", "stage": "test"}},
		{"one changed, one removed, one added", infrav1.Tags{"team": "b", "owner": "o"}, infrav1.Tags{"team": "q", "gpu": "no"},
			map[string]string{"team": "b", "owner": "o"}},
		{"in another case", infrav1.Tags{"Team": "b", "owner": "o"}, infrav1.Tags{"team": "q", "gpu": "no"},
			map[string]string{"team": "b", "owner": "o"}},
		{"all removed", nil, nil, map[string]string{}},
	}
	for _, step := range steps {
		harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = step.cluster })
		harness.ChangeObject(stage, azurePool("c1-pool1"), func(p *infrav1.AzureManagedMachinePool) { p.Spec.AdditionalTags = step.pool })
		for _, path := range []string{clusterPath, "resourceGroups/c1", "resourceGroups/c1/providers/Microsoft.Network/virtualNetworks/c1"} {
			version := map[bool]string{true: clusterVersion, false: networkVersion}[path == clusterPath]
			if path == "resourceGroups/c1" {
				version = groupVersion
			}
			want := maps.Clone(step.want)
			want["costs"] = "4711"
			stage.Eventually(step.reason+": tags of "+path, func() bool { return maps.Equal(want, ofOthers(stage, path, version)) })
		}
		want := map[string]string{}
		maps.Copy(want, step.pool)
		stage.Eventually(step.reason+": tags of the pool", func() bool {
			_, have := stage.Azure.GetResource(poolPath, clusterVersion)
			properties, _ := have["properties"].(map[string]any)
			got := map[string]string{}
			tags, _ := properties["tags"].(map[string]any)
			for key, value := range tags {
				got[key], _ = value.(string)
			}
			return maps.Equal(want, got)
		})
		waitInPlace(stage)
	}
	mark := stage.Azure.MarkRequests()
	stage.ResyncManaged()
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("nothing is left to do, but there were writes: %q", writes)
	}
}

// ofOthers returns the tags of a resource that do not mark it as the cluster's, their keys in lower case.
func ofOthers(stage *harness.Stage, path, version string) map[string]string {
	_, have := stage.Azure.GetResource(path, version)
	tags, _ := have["tags"].(map[string]any)
	out := map[string]string{}
	for key, value := range tags {
		if strings.HasPrefix(key, "sigs.k8s.io_") || key == "Name" {
			continue
		}
		out[strings.ToLower(key)], _ = value.(string)
	}
	return out
}

// TestSentStaysSmall changes the spec many times: the annotation has the paths that are sent now, and no history.
func TestSentStaysSmall(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	const annotation = infrav1.AppliedAnnotation
	before := waitInPlace(stage).Annotations[annotation]
	for _, tag := range []string{"a", "b", "c", "d"} {
		harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.AdditionalTags = infrav1.Tags{tag: "1"}
			c.Spec.AutoScalerProfile = &infrav1.AutoScalerProfile{ScanInterval: new("1" + strings.Repeat("0", 1+int(tag[0]-'a')%2) + "s")}
		})
		stage.Eventually("tag "+tag, func() bool {
			return maps.Equal(map[string]string{tag: "1"}, ofOthers(stage, clusterPath, clusterVersion))
		})
		waitInPlace(stage)
	}
	harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) {
		c.Spec.AdditionalTags, c.Spec.AutoScalerProfile = nil, nil
	})
	stage.Eventually("no tags", func() bool { return len(ofOthers(stage, clusterPath, clusterVersion)) == 0 })
	harness.WaitFor(stage, controlPlane("c1"), "c1", "remembering as much as at first", func(c *infrav1.AzureManagedControlPlane) bool {
		return c.Annotations[annotation] == before
	})
	if !slices.Contains(strings.Split(before, `"`), "/sku/tier") {
		t.Errorf("what is sent is remembered, got %s", before)
	}
}
