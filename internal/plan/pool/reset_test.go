package pool_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
	"sigs.k8s.io/cluster-api-provider-azure/test/golden"
)

const profile = "/properties/virtualMachineProfile/"

// followsOther are parts of settings without a meaning of their own, by their beginning, with the setting whose reset settles them.
var followsOther = map[string]string{
	profile + "scheduledEventsProfile/terminateNotificationProfile/notBeforeTimeout": profile + "scheduledEventsProfile/terminateNotificationProfile/enable",
	profile + "storageProfile/imageReference/":                                       profile + "storageProfile/imageReference",
}

// TestRemovedMembers removes each optional member of the template of all golden cases, one at a time, from a pool that exists. Azure keeps
// settings that a PUT leaves out, so each setting of the former template gets another value, or is named.
func TestRemovedMembers(t *testing.T) {
	removed := map[string]bool{}
	for _, name := range golden.CaseNames(t) {
		if readInput(t, name).BootstrapData == nil {
			continue // there is no scale set yet
		}
		count := 0
		for at := 0; at <= count; at++ {
			in := storeScaleSet(t, readInput(t, name))
			count = 0
			spec := reflect.ValueOf(&in.AzureMachinePool.Spec).Elem()
			for _, field := range []string{"Template", "ZoneBalance"} {
				visitOptional("spec."+field, spec.FieldByName(field), func(path string, member reflect.Value) {
					if count++; count == at+1 {
						removed[path] = true
						member.SetZero()
						if image := in.AzureMachinePool.Spec.Template.Image; image != nil && *image == (infrav1.Image{}) {
							return // The schema refuses an image without a source.
						}
						for _, left := range listLeft(t, in) {
							t.Errorf("%s without %s: the scale set keeps %s, and nothing names it", name, path, left)
						}
					}
				})
			}
		}
	}
	for _, path := range []string{"spec.Template.terminateNotificationTimeout", "spec.Template.securityProfile", "spec.Template.osDisk.diskSizeGB",
		"spec.Template.osDisk.diffDiskSettings", "spec.Template.spotVMOptions.maxPrice", "spec.Template.capacityReservationGroupID",
		"spec.Template.vmExtensions[].settings", "spec.Template.dataDisks[].managedDisk.diskEncryptionSet", "spec.ZoneBalance"} {
		if !removed[path] {
			t.Errorf("no golden case has %s: %v", path, removed)
		}
	}
}

// visitOptional calls f for each optional member below value that is set. f may unset it.
func visitOptional(path string, value reflect.Value, f func(string, reflect.Value)) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			visitOptional(path, value.Elem(), f)
			f(path, value)
		}
	case reflect.Struct:
		for i := range value.NumField() {
			name, options, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
			child := value.Field(i)
			here := path
			if name != "" {
				here += "." + name
			}
			if !value.Type().Field(i).IsExported() {
				continue
			}
			visitOptional(here, child, f)
			if kind := child.Kind(); strings.Contains(options, "omitempty") && !child.IsZero() && kind != reflect.Pointer && kind != reflect.Struct {
				f(here, child)
			}
		}
	case reflect.Slice:
		for i := range value.Len() {
			visitOptional(path+"[]", value.Index(i), f)
		}
	}
}

// listLeft returns the settings of the stored scale set that the plan of a new one lacks, and that the plan neither writes nor names.
func listLeft(t *testing.T, in pool.Input) (left []string) {
	t.Helper()
	fixed, err := pool.CheckFixedProperties(in)
	if err != nil {
		t.Fatal(err)
	}
	template, _ := pool.CheckKept(in)
	if named := append(append(fixed, template...), pool.UnsupportedFields(in)...); len(named) > 0 {
		return nil
	}
	body, node := readSentBody(t, in)
	have, err := arm.DecodeBody(in.PoolFacts.ScaleSet)
	if err != nil {
		t.Fatal(err)
	}
	row, err := types.ForID(node.ID)
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, difference := range compare.Diff(compare.Desired{Type: row, Body: any(body), OwnedPaths: node.OwnedPaths}, have) {
		written = append(written, jsonpath.Parse(difference.Path).Pointer())
	}
	fresh := in
	fresh.PoolFacts.ScaleSetExists, fresh.PoolFacts.ScaleSet = false, nil
	wanted, _ := readSentBody(t, fresh)
	kept := namedLeaves(nil, have)
	for _, path := range kept {
		if jsonpath.ParsePointer(path).GetFold(any(wanted)) != nil {
			continue
		}
		isSettled := func(path string) bool {
			return slices.Contains(node.UnremovablePaths, path) || slices.ContainsFunc(written, func(of string) bool {
				return path == of || strings.HasPrefix(path, of+"/") || strings.HasPrefix(of, path+"/")
			})
		}
		settled := strings.Contains(path, "/protectedSettings/") // Azure does not show them, so the webhook refuses to change only them.
		for start, other := range followsOther {
			settled = settled || strings.HasPrefix(path, start) && isSettled(other)
		}
		if !settled && !isSettled(path) {
			left = append(left, path)
		}
	}
	return left
}

// namedLeaves returns the pointers of the values in a body that are no empty ones, with the names of elements.
func namedLeaves(path jsonpath.Path, value any) (out []string) {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			out = append(out, namedLeaves(path.Member(key), member)...)
		}
		return out
	case []any:
		if key := jsonpath.ElementKey(value); key != "" {
			for _, item := range value {
				out = append(out, namedLeaves(path.Element(jsonpath.ElementName(item, key)), item)...)
			}
			return out
		}
	}
	if fmt.Sprint(value) == "[]" || value == false || value == nil {
		return nil
	}
	return append(out, path.Pointer())
}

// TestReset removes settings from a pool whose scale set exists.
func TestReset(t *testing.T) {
	const security, disk = profile + "securityProfile/", profile + "storageProfile/osDisk/"
	for name, test := range map[string]struct {
		reason         string
		before, after  func(*infrav1.AzureMachinePoolMachineTemplate)
		change         func(*pool.Input)
		sent           map[string]string
		unremovable    []string
		sendsNoProfile bool
	}{
		"nothing": {reason: "the body has nothing else"},
		"encryption at host": {reason: "it can be turned off",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(true)}
			},
			after: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SecurityProfile = nil },
			sent:  map[string]string{security + "encryptionAtHost": "false"}},
		"already off": {reason: "Azure shows that it is off",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(false)}
			},
			after: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SecurityProfile = nil }},
		"trusted launch": {reason: "no value of the security type means none, and a virtual TPM belongs to it",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SecurityProfile = &infrav1.SecurityProfile{SecurityType: infrav1.SecurityTypesTrustedLaunch,
					UefiSettings: &infrav1.UefiSettings{VTpmEnabled: new(true)}}
			},
			after:       func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SecurityProfile = nil },
			unremovable: []string{security + "securityType", security + "uefiSettings/vTpmEnabled"}},
		"secure boot": {reason: "the security type stays in the spec",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SecurityProfile = &infrav1.SecurityProfile{SecurityType: infrav1.SecurityTypesTrustedLaunch,
					UefiSettings: &infrav1.UefiSettings{SecureBootEnabled: new(true)}}
			},
			after: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SecurityProfile.UefiSettings = nil },
			sent:  map[string]string{security + "uefiSettings/secureBootEnabled": "false"}},
		"price": {reason: "-1 is the documented default",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SpotVMOptions = &infrav1.SpotVMOptions{MaxPrice: new(resource.MustParse("0.5"))}
			},
			after: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SpotVMOptions = &infrav1.SpotVMOptions{} },
			sent:  map[string]string{profile + "billingProfile/maxPrice": "-1"}},
		"notifications": {reason: "they can be turned off",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.TerminateNotificationTimeout = new(7) },
			after:  func(s *infrav1.AzureMachinePoolMachineTemplate) { s.TerminateNotificationTimeout = nil },
			sent:   map[string]string{profile + "scheduledEventsProfile/terminateNotificationProfile/enable": "false"}},
		"ultra disks": {reason: "the capability can be turned off",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.AdditionalCapabilities = &infrav1.AdditionalCapabilities{UltraSSDEnabled: new(true)}
			},
			after: func(s *infrav1.AzureMachinePoolMachineTemplate) { s.AdditionalCapabilities = nil },
			sent:  map[string]string{"/properties/additionalCapabilities/ultraSSDEnabled": "false"}},
		"disk size": {reason: "the size of the image is not known",
			before:      func(s *infrav1.AzureMachinePoolMachineTemplate) { s.OSDisk.DiskSizeGB = new(int32(256)) },
			after:       func(s *infrav1.AzureMachinePoolMachineTemplate) { s.OSDisk.DiskSizeGB = nil },
			unremovable: []string{disk + "diskSizeGB"}},
		"capacity reservation": {reason: "Azure refuses to end it while VMs run in it",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.CapacityReservationGroupID = new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/capacityReservationGroups/c")
			},
			after:       func(s *infrav1.AzureMachinePoolMachineTemplate) { s.CapacityReservationGroupID = nil },
			unremovable: []string{profile + "capacityReservation/capacityReservationGroup/id"}},
		"held template": {reason: "the scale set keeps its template, and with it the settings",
			before: func(s *infrav1.AzureMachinePoolMachineTemplate) {
				s.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(true)}
			},
			after:  func(s *infrav1.AzureMachinePoolMachineTemplate) { s.SecurityProfile = nil },
			change: func(in *pool.Input) { in.KeepTemplate = true }, sendsNoProfile: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, func(in *pool.Input) {
				if test.before != nil {
					test.before(&in.AzureMachinePool.Spec.Template)
				}
			})
			if test.after != nil {
				test.after(&in.AzureMachinePool.Spec.Template)
			}
			if test.change != nil {
				test.change(&in)
			}
			body, node := readSentBody(t, in)
			for path, want := range test.sent {
				if got := fmt.Sprint(jsonpath.ParsePointer(path).Get(any(body))); got != want {
					t.Errorf("%s: %s is %s, want %s", test.reason, path, got, want)
				}
			}
			if len(test.sent) == 0 && node.PlannedBody != nil && !reflect.DeepEqual(any(body), node.PlannedBody) {
				t.Errorf("%s: the body has more than the plan", test.reason)
			}
			if !slices.Equal(node.UnremovablePaths, test.unremovable) {
				t.Errorf("%s: unremovable are %v, want %v", test.reason, node.UnremovablePaths, test.unremovable)
			}
			planned, _ := node.PlannedBody.(map[string]any)
			for _, path := range armschema.LeafPaths(planned) {
				if _, reset := test.sent[path]; reset {
					t.Errorf("%s: %s stays recorded after its reset", test.reason, path)
				}
			}
			if has := jsonpath.Get(any(body), "properties.virtualMachineProfile") != nil; has == test.sendsNoProfile {
				t.Errorf("%s: the body has a template: %t", test.reason, has)
			}
		})
	}
}
