package crd_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// row is one rule and an object that keeps or breaks it.
type row struct {
	reason string
	// spec is a merge patch, in YAML, of the smallest spec that is taken.
	spec string
	// change is a merge patch of that spec as it was stored, for rules of updates; without one the rule is one of creation.
	change string
	// want lists every error of the API server: "path below the spec: part of the message", or ": part" for the spec itself. It is
	// empty for a spec that is accepted.
	want []string
	// webhook is true if the webhook refuses it; everything else is in the schema, which holds while the manager is down.
	webhook bool
}

// kind is a kind whose rules are tested.
type kind struct {
	name string
	// spec is the smallest spec that is taken, in YAML.
	spec string
	// path is the path of the spec that rows change.
	path []string
	// beside is the rest of the object, in YAML.
	beside string
}

var (
	template = []string{"spec", "template", "spec"}

	azureCluster = kind{name: "AzureCluster", path: []string{"spec"},
		spec: "{location: westeurope, subscriptionID: s, identityRef: {kind: AzureClusterIdentity, name: identity}}"}
	azureClusterTemplate = kind{name: "AzureClusterTemplate", path: template, spec: "{location: westeurope, subscriptionID: s}"}
	azureMachine         = kind{name: "AzureMachine", path: []string{"spec"},
		spec: "{vmSize: Standard_D2s_v5, osDisk: {}, sshPublicKey: " + sshPublicKey + "}"}
	azureMachineTemplate = kind{name: "AzureMachineTemplate", path: template, spec: azureMachine.spec}
)

// sshPublicKey is the base64 of an ed25519 key without an owner; without one, every machine takes the time to make one.
const sshPublicKey = "c3NoLWVkMjU1MTkgQUFBQUMzTnphQzFsWkRJMU5URTVBQUFBSUFFQ0F3UUZCZ2NJQ1FvTERBME9EeEFSRWhNVUZSWVhHQmthR3h3ZEhoOGcgY2FweiBub2JvZHkK"

// rows counts the objects of rows.
var rows atomic.Int32

// newObject returns an object of the kind with an unused name.
func (k kind) newObject(t *testing.T, patches ...string) *unstructured.Unstructured {
	t.Helper()
	spec := map[string]any{}
	for _, patch := range append([]string{k.spec}, patches...) {
		mergePatch(spec, parseObject(t, patch))
	}
	obj := &unstructured.Unstructured{Object: parseObject(t, k.beside)}
	if err := unstructured.SetNestedField(obj.Object, spec, k.path...); err != nil {
		t.Fatal(err)
	}
	obj.SetGroupVersionKind(infrav1.GroupVersion.WithKind(k.name))
	obj.SetNamespace("default")
	obj.SetName(fmt.Sprintf("row-%d", rows.Add(1)))
	return obj
}

// sendRow returns the error with which the API server answers a row.
func (k kind) sendRow(t *testing.T, r row) error {
	t.Helper()
	obj := k.newObject(t, r.spec)
	if r.change == "" {
		return environment.Client.Create(t.Context(), obj, client.DryRunAll)
	}
	createObject(t, obj)
	patch := map[string]any{}
	if err := unstructured.SetNestedField(patch, parseObject(t, r.change), k.path...); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		t.Fatal(err)
	}
	return environment.Client.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, raw), client.DryRunAll)
}

// checkRows tries every row.
func (k kind) checkRows(t *testing.T, table map[string]row) {
	t.Helper()
	for name, r := range table {
		t.Run(name, func(t *testing.T) {
			compareCauses(t, r, strings.Join(k.path, ".")+".", k.sendRow(t, r))
		})
	}
}

// compareCauses compares the causes of a refusal with those that a row wants. Paths in the row begin after the prefix.
func compareCauses(t *testing.T, r row, prefix string, err error) {
	t.Helper()
	if err != nil && !apierrors.IsInvalid(err) {
		t.Fatalf("%s, and the error is of another kind: %v", r.reason, err)
	}
	causes := listCauses(err)
	for _, want := range r.want {
		path, part, _ := strings.Cut(want, ": ")
		path = strings.TrimSuffix(prefix+path, ".")
		found := false
		for i, cause := range causes {
			if cause.Field == path && strings.Contains(cause.Message, part) {
				causes, found = append(causes[:i:i], causes[i+1:]...), true
				break
			}
		}
		if !found {
			t.Errorf("%s, so %s should be refused with %q: %v", r.reason, path, part, err)
		}
	}
	for _, cause := range causes {
		t.Errorf("%s, but it is refused, too, for %s: %s", r.reason, cause.Field, cause.Message)
	}
	if err != nil && strings.Contains(err.Error(), "admission webhook") != r.webhook {
		t.Errorf("%s, and another rule refuses it: want the webhook %v: %v", r.reason, r.webhook, err)
	}
}

// listCauses returns the causes of a refusal.
func listCauses(err error) (out []metav1.StatusCause) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	for _, cause := range status.Status().Details.Causes {
		if !strings.Contains(cause.Message, "some validation rules were not checked") {
			out = append(out, cause)
		}
	}
	return out
}

func parseObject(t *testing.T, text string) map[string]any {
	t.Helper()
	out := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return out
}

// mergePatch is a JSON merge patch: objects are merged, null takes away, everything else replaces.
func mergePatch(into, patch map[string]any) {
	for key, value := range patch {
		below, isObject := value.(map[string]any)
		if value == nil {
			delete(into, key)
			continue
		}
		if !isObject {
			into[key] = value
			continue
		}
		if _, ok := into[key].(map[string]any); !ok {
			into[key] = map[string]any{}
		}
		mergePatch(into[key].(map[string]any), below)
	}
}
