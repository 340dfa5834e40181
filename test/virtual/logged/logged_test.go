package logged_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/quiet"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	changed   = "Changed Azure"
	failed    = "Change in Azure failed"
	condition = "Condition changed"
)

// kinds are those with conditions that a manager of clusters reconciles.
var kinds = []client.ObjectList{
	&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{}, &infrav1.AzureMachinePoolMachineList{},
	&infrav1.AzureManagedClusterList{},
	&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedClusterList{},
	&infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
}

// play plays a story of a manager that logs as an installed one with the default verbosity. It returns the lines, and the number of writes that
// Azure has answered.
func play(t *testing.T, story func(s *virtual.Scenario)) ([]line, int) {
	t.Helper()
	log, writes := newRecorder(), 0
	synctest.Test(t, func(t *testing.T) {
		s := virtual.New(t)
		s.Log = quiet.Logger(newLogger(log)).GetSink()
		var mu sync.Mutex
		s.Written = func(r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			if strings.HasPrefix(r.URL.Path, "/subscriptions/") && !strings.Contains(r.URL.Path, "/list") {
				writes++
			}
		}
		s.StartProvider()
		story(s)
		s.WaitQuiet()
		checkFinalConditions(t, s, log.all())
	})
	return log.all(), writes
}

// TestOneLinePerChange builds clusters of all kinds. Each write to Azure has one line when it has ended, the lines about conditions lead to the
// conditions of the objects, and each line has the keys of Kubernetes.
func TestOneLinePerChange(t *testing.T) {
	key := regexp.MustCompile(`^(AzureASO|Azure)?[A-Za-z][a-zA-Z]*$`)
	for name, story := range map[string]func(s *virtual.Scenario){
		"self-managed": func(s *virtual.Scenario) {
			s.BuildCluster("c1", 1)
			s.ApplyPool("c1", "c1-mp-0", 2)
			s.WaitReady(&infrav1.AzureMachinePool{}, "c1-mp-0")
		},
		"AKS":       func(s *virtual.Scenario) { s.BuildAKSCluster("c1", 2) },
		"documents": func(s *virtual.Scenario) { s.CreateASOCluster(s.BuildASOCluster("c1", "pool0")) },
		"refused": func(s *virtual.Scenario) {
			if err := s.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.Network/virtualNetworks", Kind: fault.Status, Status: 400,
				Code: "BadRequest", Message: "Refused.", Count: 1}); err != nil {
				s.T.Fatal(err)
			}
			s.ApplyNetwork("c1", nil)
			s.WaitReady(&infrav1.AzureCluster{}, "c1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			lines, writes := play(t, story)
			ended := 0
			for _, l := range lines {
				for _, k := range []string{"controller", "namespace", "name", "reconcileID"} {
					if _, has := l.values[k]; !has {
						t.Errorf("%s has no %s: %v", l.message, k, l.keys)
					}
				}
				for i, k := range l.keys {
					if !key.MatchString(k) || slices.Contains(l.keys[:i], k) {
						t.Errorf("%s: the key %q is not a name of its own in camel case: %v", l.message, k, l.keys)
					}
				}
				switch l.message {
				case changed, failed, "Ran action in Azure":
					ended++
				case condition:
				default:
					t.Errorf("a creation logs %s", l.format(l.keys...))
				}
			}
			if ended != writes || writes == 0 {
				t.Errorf("%d lines about changes in Azure for %d writes", ended, writes)
			}
			t.Logf("%d lines for %d writes", len(lines), writes)
		})
	}
}

// TestLines compares the lines about the resource group and the virtual network of a cluster whose first request for the network is refused.
func TestLines(t *testing.T) {
	lines, _ := play(t, func(s *virtual.Scenario) {
		if err := s.Sim.AddFault(fault.Rule{Method: "PUT", Type: "Microsoft.Network/virtualNetworks", Kind: fault.Status, Status: 400, Code: "BadRequest",
			Message: "Refused.", Count: 1}); err != nil {
			s.T.Fatal(err)
		}
		s.ApplyNetwork("c1", nil)
		s.WaitReady(&infrav1.AzureCluster{}, "c1")
		s.EditResource("Microsoft.Network/virtualNetworks/c1-vnet", map[string]any{"tags": map[string]any{"Name": "other"}})
		s.WaitUntil("the tag is repaired", func() bool {
			return s.FindProperty("Microsoft.Network/virtualNetworks/c1-vnet", "tags.Name") == "c1-vnet"
		})
	})
	const group = "/subscriptions/" + server.DefaultSubscription + "/resourceGroups/c1"
	var got []string
	for _, l := range lines {
		of := l.text("resource") + l.text("condition")
		if of == group+"<nil>" || strings.HasSuffix(of, "/c1-vnet<nil>") || of == "<nil>ResourceGroupReady" || of == "<nil>VNetReady" {
			got = append(got, l.format("controller", "name", "resource", "method", "change", "paths", "class", "error", "condition", "status", "reason",
				"previousReason", "message"))
		}
	}
	const vnet = group + "/providers/Microsoft.Network/virtualNetworks/c1-vnet"
	want := []string{
		"Condition changed controller=azurecluster name=c1 condition=ResourceGroupReady status=False reason=Creating message=creating resourceGroups/c1",
		"Condition changed controller=azurecluster name=c1 condition=VNetReady status=False reason=WaitingForDependency " +
			"message=virtualNetworks/c1-vnet waits for resourceGroups/c1",
		"Changed Azure controller=azurecluster name=c1 resource=" + group + " method=PUT change=Created",
		"Change in Azure failed controller=azurecluster name=c1 resource=" + vnet + " method=PUT class=Stalled " +
			"error=PUT virtualNetworks/c1-vnet: BadRequest: Refused.",
		"Condition changed controller=azurecluster name=c1 condition=ResourceGroupReady status=True reason=Ready previousReason=Creating",
		"Condition changed controller=azurecluster name=c1 condition=VNetReady status=False reason=Failed previousReason=WaitingForDependency " +
			"message=PUT virtualNetworks/c1-vnet: BadRequest: Refused.; next try after a growing delay of at most 10m0s",
		"Condition changed controller=azurecluster name=c1 condition=VNetReady status=False reason=Creating previousReason=Failed " +
			"message=virtualNetworks/c1-vnet: new try after the error: PUT virtualNetworks/c1-vnet: BadRequest: Refused.",
		"Changed Azure controller=azurecluster name=c1 resource=" + vnet + " method=PUT change=Created",
		"Condition changed controller=azurecluster name=c1 condition=VNetReady status=True reason=Ready previousReason=Creating",
		"Changed Azure controller=azurecluster name=c1 resource=" + vnet + " method=PUT change=Repaired paths=[tags.Name]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// checkFinalConditions replays the lines about conditions.
func checkFinalConditions(t *testing.T, s *virtual.Scenario, lines []line) {
	t.Helper()
	shown := map[string]string{}
	for _, l := range lines {
		if l.message == condition {
			kind, name := l.text("controllerKind"), l.text("name")
			if related, has := l.values["AzureMachinePoolMachine"].(klog.ObjectRef); has {
				kind, name = "AzureMachinePoolMachine", related.Name
			}
			key := kind + " " + name + " " + l.text("condition")
			before, _, _ := strings.Cut(shown[key], " ")
			if earlier, has := l.values["previousReason"]; has && before != "" && before != earlier {
				t.Errorf("%s: the reason was %q, and the line has %q", key, before, earlier)
			}
			shown[key] = l.text("reason") + " " + l.text("status")
		}
	}
	for _, list := range kinds {
		list = list.DeepCopyObject().(client.ObjectList)
		if err := s.Client.List(t.Context(), list); err != nil {
			t.Fatal(err)
		}
		_ = meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			kind, err := s.Kubernetes.GroupVersionKindFor(object)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range item.(conditions.Getter).GetConditions() {
				key := kind.Kind + " " + object.GetName() + " " + c.Type
				if want := c.Reason + " " + string(c.Status); shown[key] != want {
					t.Errorf("%s is %q, and the log ends with %q", key, want, shown[key])
				}
			}
			return nil
		})
	}
}
