package pool_test

import (
	"encoding/base64"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestSentBootstrapData plans an existing scale set whose bootstrap data were renewed.
func TestSentBootstrapData(t *testing.T) {
	for name, test := range map[string]struct {
		reason     string
		change     func(*pool.Input)
		data, hash bool
	}{
		"kept":    {"the provider sends them with the next VM", func(*pool.Input) {}, false, false},
		"sent":    {"others add VMs", func(in *pool.Input) { in.SendBootstrapData = true }, true, true},
		"growing": {"the plan adds VMs", func(in *pool.Input) { in.Capacity = new(4) }, true, true},
		"template kept": {"VMs that others add have to join, too", func(in *pool.Input) {
			in.SendBootstrapData, in.KeepTemplate = true, true
		}, true, true},
		"no Secret": {"the scale set keeps its data", func(in *pool.Input) { in.SendBootstrapData, in.BootstrapData = true, nil }, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, nil)
			in.BootstrapData = []byte("renewed")
			test.change(&in)
			body, node := readSentBody(t, in)
			if node.Blocked != "" {
				t.Errorf("%s: blocked: %s", test.reason, node.Blocked)
			}
			var want any
			if test.data {
				want = base64.StdEncoding.EncodeToString([]byte("renewed"))
			}
			if diff := cmp.Diff(want, harness.FindValue(body, "properties.virtualMachineProfile.osProfile.customData")); diff != "" {
				t.Errorf("%s: custom data (-want +got):\n%s", test.reason, diff)
			}
			tags, _ := body["tags"].(map[string]any)
			if changed := tags[infrav1.CustomDataHashTag] != in.PoolFacts.BootstrapDataHash; changed != test.hash {
				t.Errorf("%s: another hash: %t", test.reason, changed)
			}
		})
	}
}

// TestAzureAddsVMs reads the settings of a scale set with which Azure creates VMs by itself.
func TestAzureAddsVMs(t *testing.T) {
	for body, want := range map[string]bool{
		`{}`: false, `{"properties":{}}`: false,
		`{"properties":{"automaticRepairsPolicy":{"enabled":true}}}`:                                      true,
		`{"properties":{"automaticRepairsPolicy":{"enabled":false}}}`:                                     false,
		`{"properties":{"spotRestorePolicy":{"enabled":true}}}`:                                           true,
		`{"properties":{"upgradePolicy":{"automaticOSUpgradePolicy":{"enableAutomaticOSUpgrade":true}}}}`: true,
		`{"properties":{"upgradePolicy":{"mode":"Manual","automaticOSUpgradePolicy":{}}}}`:                false,
	} {
		in := readInput(t, "default")
		in.PoolFacts.ScaleSetExists, in.PoolFacts.ScaleSet = true, json.RawMessage(body)
		if got, err := pool.AzureAddsVMs(in); err != nil || got != want {
			t.Errorf("%s: %t %v, want %t", body, got, err, want)
		}
	}
}
