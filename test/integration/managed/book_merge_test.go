package managed_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// mergePieces merges pieces into spec, as `kubectl patch --type merge` does. A field that spec's type does not have fails the test.
func mergePieces(t testing.TB, place string, spec any, pieces []map[string]any) {
	t.Helper()
	if len(pieces) == 0 {
		return
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	var have map[string]any
	if err := json.Unmarshal(raw, &have); err != nil {
		t.Fatal(err)
	}
	for _, piece := range pieces {
		mergeInto(have, piece)
	}
	if raw, err = json.Marshal(have); err != nil {
		t.Fatal(err)
	}
	reflect.ValueOf(spec).Elem().SetZero()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(spec); err != nil {
		t.Fatalf("%s: %v", place, err)
	}
}

func mergeInto(have, piece map[string]any) {
	for key, value := range piece {
		inner, isObject := value.(map[string]any)
		object, wasObject := have[key].(map[string]any)
		switch {
		case value == nil:
			delete(have, key)
		case isObject && wasObject:
			mergeInto(object, inner)
		default:
			have[key] = value
		}
	}
}

// applySnippet makes the objects of the flavor with the snippet merged into them, and returns the pools with the number of nodes
// that each asks for.
func (s snippet) applySnippet(t testing.TB, stage *harness.Stage) []harness.ManagedPool {
	t.Helper()
	for _, d := range s.documents {
		if !slices.Contains([]string{"Cluster", "AzureManagedControlPlane", "AzureManagedMachinePool", "MachinePool"}, d.kind) {
			t.Fatalf("%s: the flavor has no %s", s.place, d.kind)
		}
	}
	controlPlane := stage.ControlPlane("c1")
	controlPlane.Spec.OIDCIssuerProfile = &infrav1.OIDCIssuerProfile{Enabled: new(true)}
	controlPlane.Spec.SSHPublicKey = new("")
	mergePieces(t, s.place, &controlPlane.Spec, s.manifestsOf("AzureManagedControlPlane", ""))

	all := slices.Clone(pools)
	for _, d := range s.documents {
		if d.name != "" && !slices.ContainsFunc(all, func(p harness.ManagedPool) bool { return p.Name == d.name }) {
			all = append(all, harness.ManagedPool{Name: d.name, Mode: "User", Replicas: 2})
		}
	}
	for i, pool := range all {
		all[i].Change = func(p *infrav1.AzureManagedMachinePool) {
			mergePieces(t, s.place, &p.Spec, s.manifestsOf("AzureManagedMachinePool", pool.Name))
		}
		var machinePool struct {
			Spec struct {
				Replicas *int32 `json:"replicas"`
			} `json:"spec"`
		}
		for _, spec := range s.manifestsOf("MachinePool", pool.Name) {
			raw, err := json.Marshal(map[string]any{"spec": spec})
			if err != nil || json.Unmarshal(raw, &machinePool) != nil {
				t.Fatalf("%s: MachinePool %s: %v", s.place, pool.Name, err)
			}
		}
		if replicas := machinePool.Spec.Replicas; replicas != nil {
			all[i].Replicas = *replicas
		}
	}
	if err := stage.TryCreateManagedCluster(controlPlane, all...); err != nil {
		t.Fatalf("%s is refused: %v", s.place, err)
	}
	// No manager runs yet, so that these are as if they had been there from the beginning.
	harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: withName("c1")},
		func(c *clusterv1.Cluster) { mergePieces(t, s.place, &c.Spec, s.manifestsOf("Cluster", "")) })
	for _, pool := range all {
		harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: withName("c1-" + pool.Name)}, func(p *clusterv1.MachinePool) {
			mergePieces(t, s.place, &p.Spec, s.manifestsOf("MachinePool", pool.Name))
		})
	}
	return all
}

func withName(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
