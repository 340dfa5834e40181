package setup

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestCountedKinds makes sure that metrics count the objects of each kind with conditions.
func TestCountedKinds(t *testing.T) {
	var want, got []string
	for name, kind := range newScheme().KnownTypes(infrav1.GroupVersion) {
		if _, ok := reflect.New(kind).Interface().(conditions.Getter); ok {
			want = append(want, name)
		}
	}
	s := &shared{options: &Options{Gates: newGates()}}
	for _, list := range s.countedKinds() {
		got = append(got, strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List"))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds with conditions (-want +counted):\n%s", diff)
	}
}
