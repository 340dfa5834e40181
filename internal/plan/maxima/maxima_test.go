package maxima_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

func TestExceeded(t *testing.T) {
	machine := func(change func(*infrav1.AzureMachineSpec)) *infrav1.AzureMachine {
		m := &infrav1.AzureMachine{}
		m.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 1}, {PrivateIPConfigs: 256}}
		change(&m.Spec)
		return m
	}
	tags := infrav1.Tags{}
	for i := range 101 {
		tags[strings.Repeat("t", i+1)] = ""
	}
	tests := map[string]struct {
		reason string
		kind   string
		object any
		want   string
	}{
		"as most": {"the maximum is allowed", "AzureMachine", machine(func(*infrav1.AzureMachineSpec) {}), ""},
		"number": {"it is how many addresses are planned", "AzureMachine",
			machine(func(s *infrav1.AzureMachineSpec) { s.NetworkInterfaces[1].PrivateIPConfigs = 2e9 }),
			"spec.networkInterfaces[1].privateIPConfigs: Invalid value: 2000000000: must be at most 256"},
		"list": {"each interface is a resource", "AzureMachine",
			machine(func(s *infrav1.AzureMachineSpec) { s.NetworkInterfaces = make([]infrav1.NetworkInterface, 33) }),
			"spec.networkInterfaces: Too many: 33: must have at most 32 items"},
		"map": {"so are keys bounded", "AzureMachine", machine(func(s *infrav1.AzureMachineSpec) { s.AdditionalTags = tags }),
			"spec.additionalTags: Too many: 101"},
		"another kind": {"it has its own maxima", "AzureManagedCluster",
			&infrav1.AzureManagedCluster{Spec: infrav1.AzureManagedClusterSpec{ControlPlaneEndpoint: infrav1.APIEndpoint{Port: 65536}}},
			"spec.controlPlaneEndpoint.port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs := maxima.FindExceeded(test.kind, test.object)
			if test.want == "" && len(errs) > 0 || test.want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want)) {
				t.Errorf("%s: %v", test.reason, errs)
			}
		})
	}
}

// TestTypedAndDecodedObjectsGiveEqualFindings checks an object of every kind with every number and list beyond its maximum; it expects the
// same findings for the typed object and its JSON.
func TestTypedAndDecodedObjectsGiveEqualFindings(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	found := 0
	for kind := range scheme.KnownTypes(infrav1.GroupVersion) {
		if !strings.HasPrefix(kind, "Azure") || strings.HasSuffix(kind, "List") {
			continue
		}
		object, err := scheme.New(infrav1.GroupVersion.WithKind(kind))
		if err != nil {
			t.Fatal(err)
		}
		// Two of each list, each with the largest numbers.
		fillAll(reflect.ValueOf(object).Elem().FieldByName("Spec"), 0)
		raw, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var decoded any
		if err := json.Unmarshal(raw, &decoded); err != nil {
			t.Fatal(err)
		}
		want, got := maxima.FindExceeded(kind, decoded), maxima.FindExceeded(kind, object)
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" {
			t.Errorf("%s (-decoded +typed):\n%s", kind, diff)
		}
		found += len(want)
	}
	if found < 20 {
		t.Errorf("only %d maxima were exceeded", found)
	}
}

func fillAll(at reflect.Value, depth int) {
	if depth > 16 || at.CanAddr() && at.Addr().Type().Implements(reflect.TypeFor[json.Marshaler]()) {
		return
	}
	switch at.Kind() {
	case reflect.Pointer:
		at.Set(reflect.New(at.Type().Elem()))
		fillAll(at.Elem(), depth+1)
	case reflect.Struct:
		for i := range at.NumField() {
			fillAll(at.Field(i), depth+1)
		}
	case reflect.Slice:
		at.Set(reflect.MakeSlice(at.Type(), 2, 2))
		for i := range at.Len() {
			fillAll(at.Index(i), depth+1)
		}
	case reflect.Map:
		at.Set(reflect.MakeMap(at.Type()))
		key, element := reflect.New(at.Type().Key()).Elem(), reflect.New(at.Type().Elem()).Elem()
		key.SetString("k")
		fillAll(element, depth+1)
		at.SetMapIndex(key, element)
	case reflect.String:
		at.SetString("s")
	case reflect.Int, reflect.Int32, reflect.Int64:
		at.SetInt(1 << 30)
	}
}
