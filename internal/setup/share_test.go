package setup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// decoded is an AzureMachine as the API server sends it.
func decoded(t *testing.T, name string) *infrav1.AzureMachine {
	t.Helper()
	machine := &infrav1.AzureMachine{}
	machine.Name, machine.Labels, machine.Annotations = name, map[string]string{"pool": "workers"}, map[string]string{"short": "value", "long": strings.Repeat("v", longestValue+1)}
	machine.OwnerReferences = []metav1.OwnerReference{{Kind: "Machine", Name: name}}
	machine.Spec.VMSize, machine.Spec.SSHPublicKey, machine.Spec.AdditionalTags = "Standard_D2s_v3", strings.Repeat("k", longest), infrav1.Tags{"team": "a"}
	machine.Spec.Image = &infrav1.Image{ID: new("image")}
	machine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "logs", CachingType: "ReadOnly"}}
	machine.Spec.ProviderID = new("azure:///" + name)
	machine.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "InPlace", Message: "message", LastTransitionTime: metav1.Now().Rfc3339Copy()}}
	raw, err := json.Marshal(machine)
	if err != nil {
		t.Fatal(err)
	}
	out := &infrav1.AzureMachine{}
	if err := json.Unmarshal(raw, out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestShare(t *testing.T) {
	var s sharer
	before, one, other := decoded(t, "a"), decoded(t, "a"), decoded(t, "b")
	for range 2 {
		s.share(one)
		s.share(other)
	}
	if diff := cmp.Diff(before, one); diff != "" {
		t.Errorf("an object changes (-before +after):\n%s", diff)
	}
	key := func(m map[string]string, is string) string {
		for key := range m {
			if key == is {
				return key
			}
		}
		return ""
	}
	for name, tc := range map[string]struct {
		of   func(*infrav1.AzureMachine) string
		same bool
	}{
		"a text":                  {func(m *infrav1.AzureMachine) string { return m.Spec.VMSize }, true},
		"the longest":             {func(m *infrav1.AzureMachine) string { return m.Spec.SSHPublicKey }, true},
		"one of a type":           {func(m *infrav1.AzureMachine) string { return string(m.Status.Conditions[0].Status) }, true},
		"in a list":               {func(m *infrav1.AzureMachine) string { return m.Spec.DataDisks[0].CachingType }, true},
		"behind a pointer":        {func(m *infrav1.AzureMachine) string { return m.OwnerReferences[0].Kind }, true},
		"a label":                 {func(m *infrav1.AzureMachine) string { return m.Labels["pool"] }, true},
		"a key":                   {func(m *infrav1.AzureMachine) string { return key(m.Labels, "pool") }, true},
		"a tag":                   {func(m *infrav1.AzureMachine) string { return m.Spec.AdditionalTags["team"] }, true},
		"a short annotation":      {func(m *infrav1.AzureMachine) string { return m.Annotations["short"] }, true},
		"a long annotation":       {func(m *infrav1.AzureMachine) string { return m.Annotations["long"] }, false},
		"what is one object's":    {func(m *infrav1.AzureMachine) string { return m.Status.Conditions[0].Message }, false},
		"an ID, which has a name": {func(m *infrav1.AzureMachine) string { return *m.Spec.Image.ID }, false},
	} {
		if got := unsafe.StringData(tc.of(one)) == unsafe.StringData(tc.of(other)); got != tc.same || tc.of(one) != tc.of(before) {
			t.Errorf("%s is %q; shared %t, want %t", name, tc.of(one), got, tc.same)
		}
	}
}

// TestSharedIsBounded has objects without end be no reason to keep strings without end.
func TestSharedIsBounded(t *testing.T) {
	var s sharer
	for i := range 3 * known {
		s.share(&infrav1.AzureMachine{Spec: infrav1.AzureMachineSpec{VirtualMachineProfile: infrav1.VirtualMachineProfile{VMSize: fmt.Sprint("size", i)}}})
		if len(s.strings) > known {
			t.Fatalf("%d strings are kept", len(s.strings))
		}
	}
}

// TestMetadataIsShared looks at what is kept of Secrets, of which there are as many as machines.
func TestMetadataIsShared(t *testing.T) {
	transform := new(Options).bare(new(sharer)).Transform
	secret := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: strings.Clone("tenant"), Name: name, Labels: map[string]string{"cluster": strings.Clone("c")}, Annotations: map[string]string{"applied": "secret"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		}}
	}
	one, other := secret("a"), secret("b")
	for _, object := range []any{one, other} {
		if _, err := transform(object); err != nil {
			t.Fatal(err)
		}
	}
	want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "a", Labels: map[string]string{"cluster": "c"}}}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if unsafe.StringData(one.Namespace) != unsafe.StringData(other.Namespace) || unsafe.StringData(one.Labels["cluster"]) != unsafe.StringData(other.Labels["cluster"]) {
		t.Error("equal texts of two Secrets take their place twice")
	}
}
