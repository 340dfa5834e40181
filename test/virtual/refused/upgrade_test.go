package refused_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
	tools "sigs.k8s.io/cluster-api-provider-azure/test/virtual/kstatus"
)

// aksFamily is a family of kinds of AKS clusters, with a running cluster named c1.
type aksFamily struct {
	build        func(s *virtual.Scenario)
	controlPlane func() tools.Object
	setVersion   func(s *virtual.Scenario, version string)
}

var aksFamilies = map[string]aksFamily{
	"AzureManaged": {
		build:        func(s *virtual.Scenario) { s.BuildAKSCluster("c1", 1) },
		controlPlane: func() tools.Object { return &infrav1.AzureManagedControlPlane{} },
		setVersion: func(s *virtual.Scenario, version string) {
			harness.ChangeObject(s.Stage, &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
				func(o *infrav1.AzureManagedControlPlane) { o.Spec.Version = version })
		},
	},
	"AzureASOManaged": {
		build:        func(s *virtual.Scenario) { s.CreateASOCluster(s.BuildASOCluster("c1", "pool0")) },
		controlPlane: func() tools.Object { return &infrav1.AzureASOManagedControlPlane{} },
		setVersion: func(s *virtual.Scenario, version string) {
			harness.ChangeObject(s.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
				func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Version = version })
		},
	},
}

// TestUpgradeRefused asks a running AKS cluster for a version that it cannot have. The cluster serves, so Available stays True; it differs
// from the spec, so Ready is False, Stalled True and the status of kstatus Failed, with the versions that can be had. All of it ends with
// the correction.
func TestUpgradeRefused(t *testing.T) {
	for name, test := range map[string]struct {
		reason, version, want string
		text                  []string
		isSent                bool
	}{
		"not offered": {"the region does not have the version, so nothing is sent", "v1.99.0", infrav1.InvalidConfigurationReason,
			[]string{"spec.version", "1.99.0", "K8sVersionNotSupported", "It offers 1.", "1.34.2", "az aks get-versions"}, false},
		"too far": {"AKS does not skip a minor version", "v1.35.0", infrav1.FailedReason,
			[]string{"Upgrading Kubernetes version 1.33.2 to 1.35.0 is not allowed", "Available upgrades", "1.34.2"}, true},
	} {
		for family, of := range aksFamilies {
			t.Run(name+" "+family, func(t *testing.T) {
				virtual.PlayWith(t, virtual.Options{Complete: true, Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
					s.CreateIdentity()
					s.StartProvider()
					of.build(s)
					mark := s.Azure.MarkRequests()
					of.setVersion(s, test.version)
					s.WaitUntil("the refusal is shown", func() bool { return readCondition(s, of, infrav1.ReadyCondition).Reason == test.want })
					virtual.WaitForSignal(nil, time.Minute)
					ready := readCondition(s, of, infrav1.ReadyCondition)
					for _, part := range test.text {
						if !strings.Contains(ready.Message, part) {
							t.Errorf("%s: Ready does not have %q: %s", test.reason, part, ready.Message)
						}
					}
					expectKStatus(s, of, kstatus.FailedStatus)
					for condition, want := range map[string]metav1.ConditionStatus{
						infrav1.ReadyCondition: metav1.ConditionFalse, infrav1.StalledCondition: metav1.ConditionTrue, clusterv1.AvailableCondition: metav1.ConditionTrue,
					} {
						if got := readCondition(s, of, condition); got.Status != want {
							t.Errorf("%s: %s is %s: %s, want %s", test.reason, condition, got.Status, got.Message, want)
						}
					}
					expectInitialized(s, of)
					if sent := harness.DropKubeconfigReads(s.Azure.WritesSince(mark)); len(sent) > 0 != test.isSent {
						t.Errorf("%s: the writes are %q", test.reason, sent)
					}
					of.setVersion(s, harness.ManagedVersion)
					s.WaitUntil("the correction ends it", func() bool { return readCondition(s, of, infrav1.ReadyCondition).Status == metav1.ConditionTrue })
					expectKStatus(s, of, kstatus.CurrentStatus)
				})
			})
		}
	}
}

// expectInitialized expects that the fields of contract v1beta1 show the cluster as initialized, which never ends while the object stays.
func expectInitialized(s *virtual.Scenario, of aksFamily) {
	s.T.Helper()
	object := of.controlPlane()
	s.ReadObject(object, "c1")
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		s.T.Fatal(err)
	}
	for _, path := range [][]string{{"status", "ready"}, {"status", "initialized"}, {"status", "initialization", "controlPlaneInitialized"}} {
		if set, _, err := unstructured.NestedBool(content, path...); !set || err != nil {
			s.T.Errorf("%T: %s is not true: %v", object, strings.Join(path, "."), err)
		}
	}
	if _, hasManifests := object.(*infrav1.AzureASOManagedControlPlane); hasManifests {
		cluster := &infrav1.AzureASOManagedCluster{}
		s.ReadObject(cluster, "c1")
		if initialized := cluster.Status.Initialization.Provisioned; initialized == nil || !*initialized || !cluster.Status.Ready {
			s.T.Errorf("the AzureASOManagedCluster is not provisioned: %+v", cluster.Status)
		}
	}
}

// TestVersionRefusedBeforeAnyResource asks for a cluster of a version that the region does not have: neither a group nor a network is left.
func TestVersionRefusedBeforeAnyResource(t *testing.T) {
	for family, of := range aksFamilies {
		t.Run(family, func(t *testing.T) {
			virtual.PlayWith(t, virtual.Options{Complete: true, Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
				s.CreateIdentity()
				s.StartProvider()
				mark := s.Azure.MarkRequests()
				if family == "AzureManaged" {
					controlPlane := s.ControlPlane("c1")
					controlPlane.Spec.Version = "v1.99.0"
					s.CreateManagedCluster(controlPlane, harness.ManagedPool{Name: "pool0", Mode: infrav1.NodePoolModeSystem, Replicas: 1})
				} else {
					c := s.BuildASOCluster("c1", "pool0")
					c.ControlPlane.Spec.Version = "v1.99.0"
					s.CreateManifests(c)
				}
				s.WaitUntil("the refusal is shown", func() bool {
					return strings.Contains(readCondition(s, of, infrav1.ReadyCondition).Message, "K8sVersionNotSupported")
				})
				virtual.WaitForSignal(nil, time.Hour)
				if sent := s.Azure.WritesSince(mark); len(sent) > 0 {
					t.Errorf("resources were created: %q", sent)
				}
			})
		})
	}
}

func readCondition(s *virtual.Scenario, of aksFamily, conditionType string) metav1.Condition {
	object := of.controlPlane()
	s.ReadObject(object, "c1")
	if object.GetObserved().ObservedGeneration != object.GetGeneration() {
		return metav1.Condition{}
	}
	return harness.FindCondition(object.(harness.Conditioned), conditionType)
}

// expectKStatus compares what kstatus computes for the control plane.
func expectKStatus(s *virtual.Scenario, of aksFamily, want kstatus.Status) {
	s.T.Helper()
	object := of.controlPlane()
	s.ReadObject(object, "c1")
	kind, err := s.Client.GroupVersionKindFor(object.(client.Object))
	if err != nil {
		s.T.Fatal(err)
	}
	if _, got, err := tools.Compute(object, kind); err != nil || got != want {
		s.T.Errorf("kstatus returns %s, %v, want %s", got, err, want)
	}
}
