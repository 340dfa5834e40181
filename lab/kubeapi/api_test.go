package kubeapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
	inmemory "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime"
)

// newServer serves one empty cluster.
func newServer(t *testing.T) *rest.Config {
	t.Helper()
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	manager := inmemory.NewManager(scheme)
	if err := manager.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	manager.AddResourceGroup("demo")
	api, err := New(manager, func(string) (string, error) { return "demo", nil })
	if err != nil {
		t.Fatal(err)
	}
	cluster := Cluster{Group: "demo", ServiceSubnets: []string{"10.96.0.0/16", "fd00:96::/112"}}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { api.ServeAdmin(cluster, rw, r) }))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

func newClient(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(newServer(t))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestEveryKind takes an object of each kind through its life, as the clients that discover the kind do it.
func TestEveryKind(t *testing.T) {
	config := newServer(t)
	typed, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	// Cluster API asks for this to see whether a cluster can be reached.
	if err := typed.Discovery().RESTClient().Get().AbsPath("/").Do(t.Context()).Error(); err != nil {
		t.Errorf("GET /: %v", err)
	}
	_, lists, err := typed.Discovery().ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	discovered := 0
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list.APIResources {
			if findResource(gv.Group, gv.Version, r.Name) == nil {
				continue // a subresource
			}
			discovered++
			t.Run(gv.String()+" "+r.Name, func(t *testing.T) {
				var c dynamic.ResourceInterface = dynamicClient.Resource(gv.WithResource(r.Name))
				if r.Namespaced {
					c = dynamicClient.Resource(gv.WithResource(r.Name)).Namespace("default")
				}
				checkLifecycle(t, c, gv.WithKind(r.Kind))
			})
		}
	}
	if discovered != len(resources) {
		t.Errorf("%d kinds are discovered, want %d", discovered, len(resources))
	}
}

func checkLifecycle(t *testing.T, c dynamic.ResourceInterface, gvk schema.GroupVersionKind) {
	t.Helper()
	w, err := c.Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	obj.SetGenerateName("a-")
	obj, err = c.Create(t.Context(), obj, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if obj.GetUID() == "" || obj.GetName() == "a-" {
		t.Errorf("created with name %q and UID %q, want both made up", obj.GetName(), obj.GetUID())
	}
	uid := obj.GetUID()
	patched, err := c.Patch(t.Context(), obj.GetName(), types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`),
		metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Update(t.Context(), obj, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("update of an old version: %v, want a conflict", err)
	}
	patched.SetAnnotations(map[string]string{"c": "d"})
	if _, err = c.Update(t.Context(), patched, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := c.List(t.Context(), metav1.ListOptions{LabelSelector: "a=b", FieldSelector: "metadata.name=" + obj.GetName()})
	if err != nil || len(list.Items) != 1 || list.Items[0].GetUID() != uid || list.Items[0].GetAnnotations()["c"] != "d" {
		t.Errorf("list: %v, %v, want the object with UID %s", list, err, uid)
	}
	if err := c.Delete(t.Context(), obj.GetName(),
		metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: new(types.UID("other"))}}); !apierrors.IsConflict(err) {
		t.Errorf("deletion of another UID: %v, want a conflict", err)
	}
	if err := c.Delete(t.Context(), obj.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), obj.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get after the deletion: %v, want not found", err)
	}
	for _, want := range []watch.EventType{watch.Added, watch.Modified, watch.Modified, watch.Deleted} {
		if got := nextEvent(t, w); got.Type != want {
			t.Fatalf("event %s %v, want %s", got.Type, got.Object, want)
		}
	}
}

// TestDeleteOptions checks what clients send with a deletion.
func TestDeleteOptions(t *testing.T) {
	c := newClient(t)
	for name, body := range map[string]string{
		"kubectl":   `{"propagationPolicy":"Background"}`,
		"typed":     `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{}}`,
		"of group":  `{"kind":"DeleteOptions","apiVersion":"coordination.k8s.io/v1"}`,
		"no option": ``,
	} {
		if _, err := c.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if err := c.CoreV1().RESTClient().Delete().
			Namespace("default").Resource("secrets").Name("a").Body([]byte(body)).Do(t.Context()).Error(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nextEvent(t *testing.T, w watch.Interface) watch.Event {
	t.Helper()
	select {
	case e, ok := <-w.ResultChan():
		if !ok {
			t.Fatal("the watch has ended")
		}
		return e
	case <-time.After(30 * time.Second):
		t.Fatal("no event")
		return watch.Event{}
	}
}

// TestFinalizers checks that watchers of an object that waits for a finalizer see it until that is gone. Cloud providers remove the load
// balancer of a Service then.
func TestFinalizers(t *testing.T) {
	services := newClient(t).CoreV1().Services("default")
	const finalizer = "service.kubernetes.io/load-balancer-cleanup"
	s, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Finalizers: []string{finalizer}}},
		metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := services.Watch(t.Context(), metav1.ListOptions{ResourceVersion: s.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := services.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e := nextEvent(t, w)
	if deleting, ok := e.Object.(*corev1.Service); e.Type != watch.Modified || !ok || deleting.DeletionTimestamp == nil {
		t.Fatalf("event %s %v, want the Service modified with a deletion timestamp", e.Type, e.Object)
	}
	if _, err := services.Get(t.Context(), "web", metav1.GetOptions{}); err != nil {
		t.Errorf("get before the finalizer is gone: %v", err)
	}
	if _, err := services.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
		metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := nextEvent(t, w); e.Type != watch.Deleted {
		t.Errorf("event %s, want deleted", e.Type)
	}
	if _, err := services.Get(t.Context(), "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get without finalizers: %v, want not found", err)
	}
}

// TestWatch checks the first events of a watch, which depend on the resource version that the client names.
func TestWatch(t *testing.T) {
	c := newClient(t)
	leases := c.CoordinationV1().Leases("default")
	var versions []string
	for i := range 3 {
		l, err := leases.Create(t.Context(),
			&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("l", i), Labels: map[string]string{"n": fmt.Sprint(i)}}},
			metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, l.ResourceVersion)
	}
	for name, tc := range map[string]struct {
		reason  string
		options metav1.ListOptions
		want    []string
	}{
		"from the beginning": {reason: "nothing is known", want: []string{"ADDED l0", "ADDED l1", "ADDED l2"}},
		"since a version": {reason: "newer objects are missing", options: metav1.ListOptions{ResourceVersion: versions[1]},
			want: []string{"ADDED l2"}},
		"again with initial events": {
			reason: "the client replaces all it has by what comes before the bookmark",
			options: metav1.ListOptions{ResourceVersion: versions[1], SendInitialEvents: new(true),
				ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan, AllowWatchBookmarks: true},
			want: []string{"ADDED l0", "ADDED l1", "ADDED l2", "BOOKMARK "},
		},
		"selected": {reason: "the others are nothing to this client", options: metav1.ListOptions{LabelSelector: "n=1"},
			want: []string{"ADDED l1"}},
	} {
		t.Run(name, func(t *testing.T) {
			w, err := leases.Watch(t.Context(), tc.options)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			var got []string
			for range tc.want {
				e := nextEvent(t, w)
				got = append(got, string(e.Type)+" "+e.Object.(*coordinationv1.Lease).Name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}

	t.Run("an object is selected no longer", func(t *testing.T) {
		w, err := leases.Watch(t.Context(), metav1.ListOptions{LabelSelector: "n=0", ResourceVersion: versions[2]})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		if _, err := leases.Patch(t.Context(), "l0", types.MergePatchType, []byte(`{"metadata":{"labels":{"n":"9"}}}`),
			metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		if e := nextEvent(t, w); e.Type != watch.Deleted {
			t.Errorf("event %s, want deleted", e.Type)
		}
	})

	t.Run("too old", func(t *testing.T) {
		if err := leases.Delete(t.Context(), "l2", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, version := range []string{versions[2], "1000000"} {
			if _, err := leases.Watch(t.Context(), metav1.ListOptions{ResourceVersion: version}); !apierrors.IsResourceExpired(err) {
				t.Errorf("watch since version %s, before a deletion or of another life of the server: %v, want expired", version, err)
			}
		}
	})
}

// TestStatus checks that an update of the object leaves its status alone, and the other way round.
func TestStatus(t *testing.T) {
	nodes := newClient(t).CoreV1().Nodes()
	n, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n.Spec.ProviderID, n.Status.Phase = "azure:///a", corev1.NodeRunning
	if n, err = nodes.Update(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if n.Spec.ProviderID != "azure:///a" || n.Status.Phase != "" {
		t.Errorf("update of the object: provider ID %q, phase %q, want the provider ID only", n.Spec.ProviderID, n.Status.Phase)
	}
	n.Spec.ProviderID, n.Status.Phase = "azure:///b", corev1.NodeRunning
	if n, err = nodes.UpdateStatus(t.Context(), n, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if n.Spec.ProviderID != "azure:///a" || n.Status.Phase != corev1.NodeRunning {
		t.Errorf("update of the status: provider ID %q, phase %q, want the phase only", n.Spec.ProviderID, n.Status.Phase)
	}
}

// TestValidation checks the documents by which kubectl leaves validation to the server, and the validation.
func TestValidation(t *testing.T) {
	c := newClient(t)
	root := openapi3.NewRoot(c.Discovery().OpenAPIV3())
	for _, r := range resources {
		document, err := root.GVSpec(r.groupVersion())
		if err != nil {
			t.Fatalf("%s: %v", r.groupVersionKind(), err)
		}
		path := pathOf(r.groupVersion()) + "/" + r.plural + "/{name}"
		if r.namespaced {
			path = pathOf(r.groupVersion()) + "/namespaces/{namespace}/" + r.plural + "/{name}"
		}
		described := document.Paths.Paths[path]
		if described == nil || described.Patch == nil {
			t.Errorf("%s: no PATCH %s", r.groupVersionKind(), path)
			continue
		}
		var kind map[string]string
		if err := described.Patch.Extensions.GetObject("x-kubernetes-group-version-kind", &kind); err != nil || kind["kind"] != r.kind {
			t.Errorf("PATCH %s: kind %v, %v", path, kind, err)
		}
		if described.Patch.Parameters[0].Name != "fieldValidation" || described.Patch.Parameters[0].In != "query" {
			t.Errorf("PATCH %s has no parameter fieldValidation", path)
		}
	}
	for validation, refused := range map[string]bool{metav1.FieldValidationStrict: true, metav1.FieldValidationIgnore: false} {
		body := []byte(
			`{"apiVersion":"v1","kind":"Service","metadata":{"name":"a` + fmt.Sprint(len(validation)) + `"},"spec":{"prots":[{"port":80}]}}`)
		err := c.CoreV1().RESTClient().Post().Namespace("default").Resource("services").Param("fieldValidation",
			validation).Body(body).Do(t.Context()).Error()
		if apierrors.IsBadRequest(err) != refused {
			t.Errorf("a misspelt field with validation %s: %v, want refused %t", validation, err, refused)
		}
	}
}
