package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// decodeMachine returns an AzureMachine as the API server sends it.
func decodeMachine(t *testing.T, name string) *infrav1.AzureMachine {
	t.Helper()
	machine := &infrav1.AzureMachine{}
	machine.Name, machine.Labels, machine.Annotations = name, map[string]string{"pool": "workers"},
		map[string]string{"short": "value", "long": strings.Repeat("v", longestValue+1)}
	machine.OwnerReferences = []metav1.OwnerReference{{Kind: "Machine", Name: name}}
	machine.Spec.VMSize, machine.Spec.SSHPublicKey, machine.Spec.AdditionalTags = "Standard_D2s_v3", strings.Repeat("k", longest),
		infrav1.Tags{"team": "a"}
	machine.Spec.Image = &infrav1.Image{ID: new("image")}
	machine.Spec.DataDisks = []infrav1.DataDisk{{NameSuffix: "logs", CachingType: "ReadOnly"}}
	machine.Spec.ProviderID = new("azure:///" + name)
	machine.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "InPlace", Message: "message",
		LastTransitionTime: metav1.Now().Rfc3339Copy()}}
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

func TestStringsAreShared(t *testing.T) {
	var s sharer
	before, one, other := decodeMachine(t, "a"), decodeMachine(t, "a"), decodeMachine(t, "b")
	for range 2 {
		s.shareStrings(one)
		s.shareStrings(other)
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
		"text of one object":      {func(m *infrav1.AzureMachine) string { return m.Status.Conditions[0].Message }, false},
		"an ID, which has a name": {func(m *infrav1.AzureMachine) string { return *m.Spec.Image.ID }, false},
	} {
		if got := unsafe.StringData(tc.of(one)) == unsafe.StringData(tc.of(other)); got != tc.same || tc.of(one) != tc.of(before) {
			t.Errorf("%s is %q; shared %t, want %t", name, tc.of(one), got, tc.same)
		}
	}
}

// TestNoSpareCapacity decodes lists of several lengths, which have room for more elements.
func TestNoSpareCapacity(t *testing.T) {
	for length := range 10 {
		machine := decodeMachine(t, "a")
		for i := range length {
			machine.Status.Conditions = append(machine.Status.Conditions, metav1.Condition{Type: fmt.Sprint(i)})
		}
		want := machine.DeepCopy()
		machine.Status.Conditions = slices.Grow(machine.Status.Conditions, 1)
		if _, err := new(sharer).transform(machine); err != nil {
			t.Fatal(err)
		}
		if spare := cap(machine.Status.Conditions) - len(machine.Status.Conditions); spare > 0 {
			t.Errorf("a list of %d elements has room for %d more", len(machine.Status.Conditions), spare)
		}
		if diff := cmp.Diff(want, machine); diff != "" {
			t.Errorf("the list changes (-want +got):\n%s", diff)
		}
	}
}

// TestMapsAreShared checks which maps of two objects are shared.
func TestMapsAreShared(t *testing.T) {
	long := strings.Repeat("x", longestValue+1)
	for name, tc := range map[string]struct {
		one, other map[string]string
		same       bool
	}{
		"equal":               {map[string]string{"a": "1", "b": "2"}, map[string]string{"b": "2", "a": "1"}, true},
		"another value":       {map[string]string{"a": "1"}, map[string]string{"a": "2"}, false},
		"one more":            {map[string]string{"a": "1"}, map[string]string{"a": "1", "b": ""}, false},
		"cut in other places": {map[string]string{"a": "", "b": ""}, map[string]string{"a": `""b`}, false},
		"long":                {map[string]string{"a": long}, map[string]string{"a": long}, false},
		"empty":               {map[string]string{}, map[string]string{}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var s sharer
			one, other := &metav1.ObjectMeta{Labels: maps.Clone(tc.one)}, &metav1.ObjectMeta{Labels: maps.Clone(tc.other)}
			s.shareStrings(one)
			s.shareStrings(other)
			if diff := cmp.Diff([]map[string]string{tc.one, tc.other}, []map[string]string{one.Labels, other.Labels}); diff != "" {
				t.Errorf("maps change (-before +after):\n%s", diff)
			}
			if same := reflect.ValueOf(one.Labels).Pointer() == reflect.ValueOf(other.Labels).Pointer(); same != tc.same {
				t.Errorf("they share a map: %t, want %t", same, tc.same)
			}
		})
	}
	var s sharer
	one, labels := &metav1.ObjectMeta{Labels: map[string]string{"a": "1"}}, &infrav1.AzureMachineSpec{AdditionalTags: infrav1.Tags{"a": "1"}}
	s.shareStrings(one)
	s.shareStrings(labels)
	if diff := cmp.Diff(infrav1.Tags{"a": "1"}, labels.AdditionalTags); diff != "" {
		t.Errorf("a map of another type (-want +got):\n%s", diff)
	}
}

// TestSharedIsBounded adds objects without end; it expects that a bounded number of strings and maps is kept.
func TestSharedIsBounded(t *testing.T) {
	var s sharer
	for i := range 3 * known {
		s.shareStrings(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"number": fmt.Sprint(i)}},
			Spec: infrav1.AzureMachineSpec{VirtualMachineProfile: infrav1.VirtualMachineProfile{VMSize: fmt.Sprint("size", i)}}})
		if len(s.strings) > known || len(s.maps) > knownMaps {
			t.Fatalf("%d strings and %d maps are kept", len(s.strings), len(s.maps))
		}
	}
}

// TestMetadataIsShared tests which parts of Secrets are cached; there are as many Secrets as machines.
func TestMetadataIsShared(t *testing.T) {
	transform := new(Options).metadataOnlyCache(new(sharer)).Transform
	secret := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: strings.Clone("tenant"), Name: name, Labels: map[string]string{"cluster": strings.Clone("c")},
			Annotations:   map[string]string{"applied": "secret"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
		}}
	}
	one, other := secret("a"), secret("b")
	for _, object := range []any{one, other} {
		if _, err := transform(object); err != nil {
			t.Fatal(err)
		}
	}
	want := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant", Name: "a",
		Labels: map[string]string{"cluster": "c"}}}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if unsafe.StringData(one.Namespace) != unsafe.StringData(other.Namespace) ||
		unsafe.StringData(one.Labels["cluster"]) != unsafe.StringData(other.Labels["cluster"]) {
		t.Error("equal texts of two Secrets take their place twice")
	}
}
