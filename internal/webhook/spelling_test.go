package webhook

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestDefaultsKeepSpelling sends manifests with values that Go writes in another way. A second request, with the result
// of the first one, changes nothing.
func TestDefaultsKeepSpelling(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		answer func(t *testing.T, manifest string) string
		sent   string
		path   string
		want   any
		filled string
	}{
		"quantity": {"a price is not 40m to its user", applyDefaults(machineTemplates(random{})),
			`{"spec":{"template":{"spec":{"vmSize":"s","sshPublicKey":"c3NoLXJzYQ==","osDisk":{},"spotVMOptions":{"maxPrice":"0.04"}}}}}`,
			"spec.template.spec.spotVMOptions.maxPrice", "0.04", "spec.template.spec.networkInterfaces"},
		"number": {"users write quantities as numbers, which schemas refuse", applyDefaults(managedMachinePoolKind(managedLookup{})),
			`{"metadata":{"name":"p"},"spec":{"mode":"User","sku":"s","spotMaxPrice":0.05}}`,
			"spec.spotMaxPrice", "0.05", "spec.osType"},
		"deep": {"at any depth", applyDefaults(azureClusterKind(plan.Features{})),
			`{"metadata":{"name":"c"},"spec":{"location":"l","cloudProviderConfigOverrides":{"backOffs":{"cloudProviderBackoffExponent":"1.2"}}}}`,
			"spec.cloudProviderConfigOverrides.backOffs.cloudProviderBackoffExponent", "1.2", "spec.resourceGroup"},
		"in a list": {"an item that is completed keeps the rest", applyDefaults(machineTemplates(random{})),
			`{"spec":{"template":{"spec":{"vmSize":"s","sshPublicKey":"c3NoLXJzYQ==","osDisk":{},"dataDisks":[{"nameSuffix":"d","diskSizeGB":4,"future":"1.0"}]}}}}`,
			"spec.template.spec.dataDisks.0.future", "1.0", "spec.template.spec.dataDisks.0.cachingType"},
		"unknown": {"a field of a later version stays", applyDefaults(azureClusterKind(plan.Features{})),
			`{"metadata":{"name":"c"},"spec":{"location":"l","future":{"a":1}}}`,
			"spec.future.a", float64(1), "spec.resourceGroup"},
	} {
		t.Run(name, func(t *testing.T) {
			once := test.answer(t, test.sent)
			if got := fieldAt(t, once, test.path); got != test.want {
				t.Errorf("%s: %s is %v, want %v", test.reason, test.path, got, test.want)
			}
			if fieldAt(t, once, test.filled) == nil {
				t.Errorf("%s has no default", test.filled)
			}
			// As a second apply of the manifest is merged into the object.
			merged, err := jsonpatch.MergePatch([]byte(once), []byte(test.sent))
			if err != nil {
				t.Fatal(err)
			}
			if again := test.answer(t, string(merged)); !jsonpatch.Equal([]byte(again), []byte(once)) {
				t.Errorf("%s: the second request changes\n%s\nto\n%s", test.reason, once, again)
			}
		})
	}
}

// applyDefaults answers a request to create an object and returns the object that the API server makes of the answer.
func applyDefaults[T client.Object](k kind[T]) func(*testing.T, string) string {
	return func(t *testing.T, manifest string) string {
		t.Helper()
		return applyRequest(t, k, admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(manifest)}})
	}
}

// applyRequest returns the object of a request as the mutating webhook of a kind changes it.
func applyRequest[T client.Object](t *testing.T, k kind[T], request admissionv1.AdmissionRequest) string {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	response := mutation[T]{kind: k, scheme: scheme}.Handle(t.Context(), admission.Request{AdmissionRequest: request})
	if !response.Allowed {
		t.Fatalf("refused: %v", response.Result)
	}
	if len(response.Patches) == 0 {
		return string(request.Object.Raw)
	}
	operations, err := json.Marshal(response.Patches)
	if err != nil {
		t.Fatal(err)
	}
	patch, err := jsonpatch.DecodePatch(operations)
	if err != nil {
		t.Fatal(err)
	}
	out, err := patch.Apply(request.Object.Raw)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestUpdatesKeepStoredLists updates objects that were stored without defaults. A list that the update leaves as it is gets none: the API
// server would take all its elements for new ones.
func TestUpdatesKeepStoredLists(t *testing.T) {
	const stored = `{"spec":{"location":"l","template":{"vmSize":"s","osDisk":{},"dataDisks":[{"nameSuffix":"a","diskSizeGB":2}],"spotVMOptions":{}}}}`
	const cluster = `{"spec":{"networkSpec":{"nodeOutboundLB":{"frontendIPsCount":1,"frontendIPs":[{"name":"f"}]}}}}`
	pools, clusters := applyUpdate(machinePools(nil, random{})), applyUpdate(azureClusterKind(plan.Features{}))
	for name, test := range map[string]struct {
		reason string
		got    string
		path   string
		want   any
	}{
		"other change": {"the disks stay as they are stored", pools(t, stored, strings.Replace(stored, `"l"`, `"m"`, 1)),
			"spec.template.dataDisks.0.lun", nil},
		"other default": {"fields outside of lists get defaults", pools(t, stored, stored), "spec.template.spotVMOptions.evictionPolicy",
			"Deallocate"},
		"changed list": {"disks of a new list get defaults", pools(t, stored, strings.Replace(stored, `2}`, `2},{"nameSuffix":"b"}`, 1)),
			"spec.template.dataDisks.1.lun", float64(1)},
		"default of another field": {"the count decides the number of frontends",
			clusters(t, cluster, strings.Replace(cluster, `:1,`, `:2,`, 1)), "spec.networkSpec.nodeOutboundLB.frontendIPs.1.name", "-frontEnd-2"},
	} {
		if got := fieldAt(t, test.got, test.path); got != test.want {
			t.Errorf("%s: %s: %s is %v, want %v: %s", name, test.reason, test.path, got, test.want, test.got)
		}
	}
}

// applyUpdate returns a function that answers the update of a stored object as the mutating webhook of a kind does.
func applyUpdate[T client.Object](k kind[T]) func(t *testing.T, stored, manifest string) string {
	return func(t *testing.T, stored, manifest string) string {
		t.Helper()
		return applyRequest(t, k, admissionv1.AdmissionRequest{Operation: admissionv1.Update,
			Object: runtime.RawExtension{Raw: []byte(manifest)}, OldObject: runtime.RawExtension{Raw: []byte(stored)}})
	}
}

// fieldAt returns the value at a dotted path of a document; nil when there is none.
func fieldAt(t *testing.T, document, path string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(document), &value); err != nil {
		t.Fatal(err)
	}
	return valueAt(value, path)
}

func valueAt(value any, path string) any {
	key, rest, deeper := strings.Cut(path, ".")
	switch v := value.(type) {
	case map[string]any:
		value = v[key]
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i >= len(v) {
			return nil
		}
		value = v[i]
	default:
		return nil
	}
	if deeper {
		return valueAt(value, rest)
	}
	return value
}
