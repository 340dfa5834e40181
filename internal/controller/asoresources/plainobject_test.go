package asoresources

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	plan "sigs.k8s.io/cluster-api-provider-azure/internal/plan/asoresource"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
)

func TestPlainObjectReadiness(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, status, message string
		ready                   bool
	}{
		"nothing": {"a kind may have no status", "", "", true},
		"seen":    {"its controller sets no more fields", "status: {observedGeneration: 3}", "", true},
		"unseen": {"its controller has not reported yet", "status: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}",
			"its controller has not observed it yet", false},
		"ready": {"its condition is True",
			"status: {conditions: [{type: Synced, status: 'False'}, {type: Ready, status: 'True', observedGeneration: 3}]}", "", true},
		"ready of old": {"its condition is about an earlier spec", "status: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}",
			"its controller has not observed it yet", false},
		"not ready": {"with its own words", "status: {conditions: [{type: Ready, status: 'False', message: is busy}]}",
			"is not ready: is busy", false},
		"unknown":        {"its condition is Unknown", "status: {conditions: [{type: Ready, status: Unknown}]}", "is not ready: ", false},
		"not as is used": {"other kinds have conditions of other forms", "status: {conditions: {Ready: 'True'}}", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			raw, err := yaml.YAMLToJSON([]byte("apiVersion: example.com/v1\nkind: Widget\nmetadata: {generation: 3}\n" + tc.status))
			if err == nil {
				err = o.UnmarshalJSON(raw)
			}
			if err != nil {
				t.Fatal(err)
			}
			if ready, _, message := readReadiness(o); ready != tc.ready || message != tc.message {
				t.Errorf("%s: ready %t, %q, want %t, %q", tc.reason, ready, message, tc.ready, tc.message)
			}
		})
	}
}

// TestParsePlainObjectName reads the annotation about plain objects, which users can write: kinds that manifests cannot create are not
// believed.
func TestParsePlainObjectName(t *testing.T) {
	for text, want := range map[string]bool{
		"Widget.v1.example.com/w": true, "Secret.v1./s": false, "Secret.v1/s": false, "Role.v1.rbac.authorization.k8s.io/r": false,
		"Cluster.v1beta2.cluster.x-k8s.io/c": false, "Widget.v1.example.com": false, "w": false, "": false,
	} {
		kind, name, ok := parsePlainObjectName(text)
		if ok != want || ok && plainObjectName(kind, name) != text {
			t.Errorf("%q: %v %q %t, want %t", text, kind, name, ok, want)
		}
	}
}

func TestValidFor(t *testing.T) {
	late, there := []infrav1.ASOResourceStatus{{Ready: true}, {}}, []infrav1.ASOResourceStatus{{Ready: true}}
	for name, tc := range map[string]struct {
		plain       []infrav1.ASOResourceStatus
		holds, want time.Duration
	}{
		"until resync": {there, 0, 0}, "as it is": {there, time.Hour, time.Hour}, "late": {late, 0, plainRetryInterval},
		"sooner": {late, time.Hour, plainRetryInterval}, "soon already": {late, time.Second, time.Second},
	} {
		if got := ValidFor(tc.plain, tc.holds); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// TestPlainObjectsFromCreationToDeletion walks through the life of an object with what else must not be touched.
func TestPlainObjectsFromCreationToDeletion(t *testing.T) {
	group := schema.GroupVersion{Group: "example.com", Version: "v1"}
	scheme, mapper := runtime.NewScheme(), meta.NewDefaultRESTMapper([]schema.GroupVersion{group})
	for kind, scope := range map[string]meta.RESTScope{"Widget": meta.RESTScopeNamespace, "Realm": meta.RESTScopeRoot} {
		scheme.AddKnownTypeWithName(group.WithKind(kind), &unstructured.Unstructured{})
		mapper.Add(group.WithKind(kind), scope)
	}
	if err := infrav1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	widget := func(name string) *unstructured.Unstructured {
		out := &unstructured.Unstructured{}
		out.SetGroupVersionKind(group.WithKind("Widget"))
		out.SetNamespace("ns")
		out.SetName(name)
		return out
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).WithObjects(widget("theirs")).Build()
	there := func(name string) bool {
		err := c.Get(t.Context(), client.ObjectKey{Namespace: "ns", Name: name}, widget(name))
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		return err == nil
	}
	owner := &infrav1.AzureASOManagedCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", UID: "u"}}
	document := func(kind, name string) plan.PlainObject {
		return plan.PlainObject{GroupVersionKind: group.WithKind(kind), Name: name, Object: map[string]any{
			"apiVersion": group.String(), "kind": kind, "metadata": map[string]any{"name": name}, "spec": map[string]any{"size": 1.0},
		}}
	}
	const ours = "Widget.v1.example.com/w"
	look := func(documents ...plan.PlainObject) []string {
		t.Helper()
		stored := func(context.Context) error {
			if remembered := owner.Annotations[infrav1.PlainObjectsAnnotation]; there("w") || remembered != ours {
				t.Errorf("%q is stored, and it must be before there is an object", remembered)
			}
			return nil
		}
		statuses, err := ReconcilePlainObjects(t.Context(), c, reconcile.Session{Store: stored}, owner, plan.Input{PlainObjects: documents})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range statuses {
			out = append(out, strings.TrimSpace(s.Resource.Kind+" "+s.Resource.Name+" "+s.Reason))
		}
		return out
	}
	expect := func(what string, got, want []string, remembers string) {
		t.Helper()
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if remembered := owner.Annotations[infrav1.PlainObjectsAnnotation]; remembered != remembers {
			t.Errorf("%s: remembered %q, want %q", what, remembered, remembers)
		}
		if !there("theirs") {
			t.Errorf("%s: an object of another owner is gone", what)
		}
	}
	all := []plan.PlainObject{document("Widget", "w"), document("Widget", "theirs"), document("Realm", "r"), document("Gadget", "g")}
	expect("each in its own way", look(all...),
		[]string{"Widget w", "Widget theirs ResourceExistsNotOwned", "Realm r InvalidConfiguration", "Gadget g Waiting"}, ours)
	have := widget("w")
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(have), have); err != nil || !metav1.IsControlledBy(have, owner) {
		t.Errorf("the object is not its owner's: %v, %v", have.GetOwnerReferences(), err)
	}
	owner.Annotations[infrav1.PlainObjectsAnnotation] = ours + ";Widget.v1.example.com/theirs;Secret.v1./s;Realm.v1.example.com/r"
	expect("the document goes", look(), []string{"Widget w Deleting"}, ours)
	expect("it is gone", look(), nil, "")
}
