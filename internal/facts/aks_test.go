package facts

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

var (
	aks       = arm.NewID("sub", "rg", types.ManagedCluster, "aks")
	nodeGroup = arm.ResourceGroupID("sub", "MC_rg_aks_eastus")
)

func TestPoolInstances(t *testing.T) {
	sets := string(nodeGroup) + "/providers/" + types.ScaleSet
	set := func(name, tag, pool string) string {
		return `{"id":"` + sets + `/` + name + `","tags":{"` + tag + `":"` + pool + `"}}`
	}
	instances := func(name string, numbers ...string) string {
		var items []string
		for _, number := range numbers {
			items = append(items, `{"id":"`+sets+`/`+name+`/virtualMachines/`+number+`"}`)
		}
		return `{"value":[` + strings.Join(items, ",") + `]}`
	}
	a := newFakeAzure(map[string]string{
		sets: `{"value":[` + set("s0", "aks-managed-poolName", "pool0") + `,` + set("s1", "poolName",
			"pool1") + `,` + set("s2", "poolName", "empty") + `]}`,
		sets + "/s0/virtualMachines": instances("s0", "2", "0", "11"),
		sets + "/s1/virtualMachines": instances("s1", "0"),
		sets + "/s2/virtualMachines": instances("s2"),
	})
	f := New(Options{Now: time.Now})
	caller := newCaller(t, a, "p")
	tests := map[string]struct {
		reason string
		pool   string
		want   []arm.ID
		exists bool
	}{
		"tag of today": {"AKS writes it since 2022", "pool0",
			[]arm.ID{arm.ID(sets + "/s0/virtualMachines/0"), arm.ID(sets + "/s0/virtualMachines/11"), arm.ID(sets + "/s0/virtualMachines/2")}, true},
		"tag of before": {"older pools have only this one", "pool1", []arm.ID{arm.ID(sets + "/s1/virtualMachines/0")}, true},
		"no node":       {"a pool can be scaled to zero", "empty", nil, true},
		"no scale set":  {"a pool that is being made has none yet", "new", nil, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, exists, err := f.ListPoolInstances(t.Context(), caller, nodeGroup, test.pool, nil, -1)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" || exists != test.exists {
				t.Errorf("%s: exists %t, %s", test.reason, exists, diff)
			}
		})
	}
	if got := a.countRequests(sets); got != 1 {
		t.Errorf("pools that ask at the same time share the list of scale sets, got %d", got)
	}
}

// TestPoolInstancesAreReadOnce reconciles one pool in quick succession; it expects one read of its VMs.
func TestPoolInstancesAreReadOnce(t *testing.T) {
	sets := string(nodeGroup) + "/providers/" + types.ScaleSet
	path := sets + "/s0/virtualMachines"
	azure := newFakeAzure(map[string]string{
		sets: `{"value":[{"id":"` + sets + `/s0","tags":{"poolName":"pool0"}}]}`,
		path: `{"value":[{"id":"` + path + `/0"}]}`,
	})
	caller := newCaller(t, azure, "p")
	now := time.Now()
	f := New(Options{Now: func() time.Time { return now }})
	for i, look := range []struct {
		reason string
		later  time.Duration
		seen   string
		count  int
		read   int
	}{
		{"nothing is known", 0, `{"a":1}`, 2, 1},
		{"Azure's operation is still running", 0, `{"a":1}`, 2, 2},
		{"the pool is another one", 0, `{"a":2}`, 1, 3},
		{"it had all a moment ago", 0, `{"a":2}`, 1, 3},
		{"one may have gone meanwhile", instancesTTL, `{"a":2}`, 1, 4},
	} {
		now = now.Add(look.later)
		got, exists, err := f.ListPoolInstances(t.Context(), caller, nodeGroup, "pool0", []byte(look.seen), look.count)
		if read := azure.countRequests(path); err != nil || !exists || len(got) != 1 || read != look.read {
			t.Errorf("reconciliation %d: %s: got %q after %d reads, want %d, %v", i, look.reason, got, read, look.read, err)
		}
	}
}

func TestKubeconfig(t *testing.T) {
	path := string(aks) + "/" + string(AdminCredential)
	tests := map[string]struct {
		reason, answer, want, err string
	}{
		"one": {"the first one counts",
			`{"kubeconfigs":[{"name":"a","value":"` + base64.StdEncoding.EncodeToString([]byte("kind: Config")) + `"},{"name":"b","value":""}]}`,
			"kind: Config", ""},
		"none": {"there is nothing to use", `{"kubeconfigs":[]}`, "", "has no kubeconfig"},
		"not base64": {"the value is not repeated in the error: it may be a secret", `{"kubeconfigs":[{"value":"s3cret!"}]}`, "",
			"is not base64"},
		"refused": {"local accounts are disabled", "403 Forbidden", "", "Forbidden"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			caller := newCaller(t, newFakeAzure(map[string]string{path: test.answer}), "p")
			got, err := New(Options{}).GetKubeconfig(t.Context(), caller, aks, AdminCredential, nil, nil)
			if test.err == "" && (err != nil || string(got) != test.want) {
				t.Errorf("%s: got %q, %v", test.reason, got, err)
			}
			if test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err) || strings.Contains(err.Error(), "s3cret")) {
				t.Errorf("%s: got %v", test.reason, err)
			}
		})
	}
}

// TestKubeconfigIsAskedForOnce reconciles one cluster in quick succession; it expects one request for its kubeconfig.
func TestKubeconfigIsAskedForOnce(t *testing.T) {
	path := string(aks) + "/" + string(AdminCredential)
	azure := newFakeAzure(
		map[string]string{path: `{"kubeconfigs":[{"value":"` + base64.StdEncoding.EncodeToString([]byte("kind: Config")) + `"}]}`})
	caller := newCaller(t, azure, "p")
	now := time.Now()
	f := New(Options{Now: func() time.Time { return now }})
	for i, look := range []struct {
		reason     string
		later      time.Duration
		seen, have string
		asked      int
	}{
		{"nothing is known", 0, `{"a":1}`, "", 1},
		{"it was answered a moment ago, and is published", 0, `{"a":1}`, "kind: Config", 1},
		{"another program changed the published kubeconfig", 0, `{"a":1}`, "kind: Other", 2},
		{"the cluster is another one", 0, `{"a":2}`, "kind: Config", 3},
		{"it may have been rotated meanwhile", kubeconfigTTL, `{"a":2}`, "kind: Config", 4},
	} {
		now = now.Add(look.later)
		got, err := f.GetKubeconfig(t.Context(), caller, aks, AdminCredential, []byte(look.seen), []byte(look.have))
		if asked := azure.countRequests(path); err != nil || string(got) != "kind: Config" || asked != look.asked {
			t.Errorf("reconciliation %d: %s: got %q after %d requests, want %d, %v", i, look.reason, got, asked, look.asked, err)
		}
	}
}

func TestHealth(t *testing.T) {
	caller := newCaller(t, newFakeAzure(map[string]string{
		string(aks) + "/providers/Microsoft.ResourceHealth/availabilityStatuses/current": `{"properties":{"availabilityState":"Degraded","reasonType":"Customer Initiated","summary":"s"}}`,
	}), "p")
	got, err := New(Options{}).ReadHealth(t.Context(), caller.Client, aks)
	if diff := cmp.Diff(Health{"Degraded", "Customer Initiated", "s"}, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}
