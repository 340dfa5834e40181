package kubeapi

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	inmemoryclient "sigs.k8s.io/cluster-api/test/infrastructure/inmemory/pkg/runtime/client"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// call is one request for objects of a kind.
type call struct {
	api         *API
	cluster     Cluster
	resource    *resource
	subresource string
	request     *http.Request
	client      inmemoryclient.Client
	// key names the object, or the namespace alone for requests about many.
	key client.ObjectKey
}

// maxBody is how much of a request's body is read, as in kube-apiserver.
const maxBody = 3 << 20

func (c *call) serveVerb(verb string, rw http.ResponseWriter) error {
	switch verb {
	case "get":
		return c.serveGet(rw)
	case "list":
		return c.serveList(rw)
	case "watch":
		return c.serveWatch(rw)
	case "create":
		return c.serveCreate(rw)
	case "update":
		return c.serveUpdate(rw)
	case "patch":
		return c.servePatch(rw)
	case "delete":
		return c.serveDelete(rw)
	case "deletecollection":
		return c.deleteCollection(rw)
	}
	return apierrors.NewMethodNotSupported(c.resource.groupResource(), verb)
}

func (c *call) serveGet(rw http.ResponseWriter) error {
	obj, err := c.readStored()
	if err != nil {
		return err
	}
	if wantsTable(c.request) {
		table := newTable(c.resource)
		table.Rows = []metav1.TableRow{tableRow(obj)}
		WriteJSON(rw, http.StatusOK, table)
		return nil
	}
	WriteJSON(rw, http.StatusOK, obj)
	return nil
}

func (c *call) serveList(rw http.ResponseWriter) error {
	s, err := readSelection(c.request)
	if err != nil {
		return err
	}
	objects, version, err := c.readAll()
	if err != nil {
		return err
	}
	objects = slices.DeleteFunc(objects, func(o client.Object) bool { return !s.matchesObject(o) })
	slices.SortFunc(objects, func(x, y client.Object) int {
		return cmp.Or(cmp.Compare(x.GetNamespace(), y.GetNamespace()), cmp.Compare(x.GetName(), y.GetName()))
	})
	if wantsTable(c.request) {
		table := newTable(c.resource)
		table.ResourceVersion = version
		for _, o := range objects {
			table.Rows = append(table.Rows, tableRow(o))
		}
		WriteJSON(rw, http.StatusOK, table)
		return nil
	}
	if objects == nil {
		objects = []client.Object{}
	}
	WriteJSON(rw, http.StatusOK, objectList{
		TypeMeta: metav1.TypeMeta{APIVersion: c.resource.groupVersion().String(), Kind: c.resource.kind + "List"},
		ListMeta: metav1.ListMeta{ResourceVersion: version}, Items: objects,
	})
	return nil
}

type objectList struct {
	metav1.TypeMeta
	metav1.ListMeta `json:"metadata"`
	Items           []client.Object `json:"items"`
}

func (c *call) serveCreate(rw http.ResponseWriter) error {
	obj, err := c.readBody(rw)
	if err != nil {
		return err
	}
	if c.key.Name != "" || c.subresource != "" {
		return apierrors.NewMethodNotSupported(c.resource.groupResource(), "create")
	}
	if c.resource.namespaced {
		obj.SetNamespace(c.key.Namespace)
	}
	if obj.GetName() == "" && obj.GetGenerateName() != "" {
		obj.SetName(obj.GetGenerateName() + utilrand.String(5))
	}
	if obj.GetName() == "" {
		return apierrors.NewBadRequest("metadata.name is empty. Set it, or metadata.generateName.")
	}
	obj.SetUID(NewUID())
	obj.SetResourceVersion("")
	obj.SetDeletionTimestamp(nil)
	if err := c.storeObject(nil, obj); err != nil {
		return err
	}
	WriteJSON(rw, http.StatusCreated, obj)
	return nil
}

func (c *call) serveUpdate(rw http.ResponseWriter) error {
	sent, err := c.readBody(rw)
	if err != nil {
		return err
	}
	if sent.GetName() != c.key.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("metadata.name is %q, but the path names %q", sent.GetName(), c.key.Name))
	}
	// Without a resourceVersion nothing conflicts: the object replaces the stored one.
	return c.changeStored(rw, sent.GetResourceVersion() == "", func(before client.Object) (client.Object, error) {
		after := sent.DeepCopyObject().(client.Object)
		if c.resource.namespaced {
			after.SetNamespace(c.key.Namespace)
		}
		if after.GetResourceVersion() == "" {
			after.SetResourceVersion(before.GetResourceVersion())
		}
		if c.subresource == "status" {
			changed := before.DeepCopyObject().(client.Object)
			changed.SetResourceVersion(after.GetResourceVersion())
			copyStatus(changed, after)
			return changed, nil
		}
		copyStatus(after, before)
		return after, nil
	})
}

// copyStatus gives an object the status of another one of its kind, if the kind has one.
func copyStatus(to, from client.Object) {
	target := reflect.ValueOf(to).Elem().FieldByName("Status")
	if target.IsValid() {
		target.Set(reflect.ValueOf(from).Elem().FieldByName("Status"))
	}
}

// changeStored changes the stored object. It begins again when another client was faster and the change does not name a version.
func (c *call) changeStored(rw http.ResponseWriter, unconditional bool, change func(before client.Object) (client.Object, error)) error {
	for tries := 0; ; tries++ {
		before, err := c.readStored()
		if err != nil {
			return err
		}
		after, err := change(before)
		if err != nil {
			return err
		}
		err = c.storeObject(before, after)
		if apierrors.IsConflict(err) && unconditional && tries < 10 {
			continue
		}
		if err != nil {
			return err
		}
		WriteJSON(rw, http.StatusOK, after)
		return nil
	}
}

// storeObject creates the object, or replaces the one that existed before. It ends objects whose last finalizer is gone.
func (c *call) storeObject(before, obj client.Object) error {
	if before != nil {
		obj.SetUID(before.GetUID())
	}
	unlock, err := c.admitObject(before, obj)
	if err != nil {
		return err
	}
	defer unlock()
	ctx := c.request.Context()
	switch {
	case c.request.URL.Query().Has("dryRun"):
		return nil
	case before == nil:
		return c.client.Create(ctx, obj)
	}
	if err := c.client.Update(ctx, obj); err != nil {
		return err
	}
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return client.IgnoreNotFound(c.client.Delete(ctx, obj.DeepCopyObject().(client.Object)))
	}
	return nil
}

func (c *call) serveDelete(rw http.ResponseWriter) error {
	raw, err := io.ReadAll(http.MaxBytesReader(rw, c.request.Body, maxBody))
	if err != nil {
		return err
	}
	obj, err := c.readStored()
	if err != nil {
		return err
	}
	if len(raw) > 0 {
		if err := c.checkPreconditions(raw, obj); err != nil {
			return err
		}
	}
	if err := c.removeObject(obj); err != nil {
		return err
	}
	// An object with finalizers is shown as it waits for them.
	if left, err := c.readStored(); err == nil && left.GetUID() == obj.GetUID() {
		WriteJSON(rw, http.StatusOK, left)
		return nil
	}
	details := &metav1.StatusDetails{Name: c.key.Name, Group: c.resource.group, Kind: c.resource.plural, UID: obj.GetUID()}
	WriteJSON(rw, http.StatusOK, metav1.Status{TypeMeta: statusMeta, Status: metav1.StatusSuccess, Details: details})
	return nil
}

func (c *call) checkPreconditions(raw []byte, obj client.Object) error {
	kind := corev1.SchemeGroupVersion.WithKind("DeleteOptions") // kubectl names none
	decoded, _, err := c.api.lenient.Decode(raw, &kind, nil)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	options, ok := decoded.(*metav1.DeleteOptions)
	if !ok || options.Preconditions == nil {
		return nil
	}
	p := options.Preconditions
	if (p.UID != nil && *p.UID != obj.GetUID()) || (p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion()) {
		return apierrors.NewConflict(c.resource.groupResource(), obj.GetName(), fmt.Errorf("the preconditions of the deletion do not hold"))
	}
	return nil
}

func (c *call) deleteCollection(rw http.ResponseWriter) error {
	s, err := readSelection(c.request)
	if err != nil {
		return err
	}
	objects, _, err := c.readAll()
	if err != nil {
		return err
	}
	for _, o := range objects {
		if s.matchesObject(o) {
			if err := c.removeObject(o); err != nil {
				return err
			}
		}
	}
	WriteJSON(rw, http.StatusOK, metav1.Status{TypeMeta: statusMeta, Status: metav1.StatusSuccess})
	return nil
}

func (c *call) removeObject(obj client.Object) error {
	if c.request.URL.Query().Has("dryRun") || obj.GetDeletionTimestamp() != nil {
		return nil
	}
	return client.IgnoreNotFound(c.client.Delete(c.request.Context(), obj))
}

// readBody reads the object that the client sent.
func (c *call) readBody(rw http.ResponseWriter) (client.Object, error) {
	raw, err := io.ReadAll(http.MaxBytesReader(rw, c.request.Body, maxBody))
	if err != nil {
		return nil, apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	return c.decodeObject(raw)
}

// decodeObject reads an object in any encoding of Kubernetes. Fields that its kind does not have are an error if the client wants to know.
func (c *call) decodeObject(raw []byte) (client.Object, error) {
	decoder := c.api.lenient
	if c.request.URL.Query().Get("fieldValidation") == metav1.FieldValidationStrict {
		decoder = c.api.strict
	}
	gvk := c.resource.groupVersionKind()
	decoded, kind, err := decoder.Decode(raw, &gvk, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.GroupVersion(), gvk.Kind,
			err))
	}
	obj, ok := decoded.(client.Object)
	if !ok || *kind != gvk {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object is a %s, but the path is that of a %s", kind, gvk))
	}
	obj.GetObjectKind().SetGroupVersionKind(gvk)
	return obj, nil
}

// readStored reads the object that the request names.
func (c *call) readStored() (client.Object, error) {
	o, err := c.api.scheme.New(c.resource.groupVersionKind())
	if err != nil {
		return nil, err
	}
	obj := o.(client.Object)
	if err := c.client.Get(c.request.Context(), c.key, obj); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, apierrors.NewNotFound(c.resource.groupResource(), c.key.Name)
		}
		return nil, err
	}
	return obj, nil
}

// readAll reads all objects of the kind in the namespace, and the version of the whole.
func (c *call) readAll() (objects []client.Object, version string, err error) {
	return c.api.listObjects(c.request.Context(), c.client, c.resource, c.key.Namespace)
}

func (a *API) listObjects(ctx context.Context, from inmemoryclient.Client, r *resource, namespace string) (objects []client.Object, version string,
	err error) {
	o, err := a.scheme.New(r.groupVersion().WithKind(r.kind + "List"))
	if err != nil {
		return nil, "", err
	}
	list := o.(client.ObjectList)
	if err := from.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return nil, "", err
	}
	err = meta.EachListItem(list, func(o runtime.Object) error {
		obj := o.(client.Object)
		obj.GetObjectKind().SetGroupVersionKind(r.groupVersionKind())
		objects = append(objects, obj)
		return nil
	})
	return objects, list.GetResourceVersion(), err
}

// versionOf returns a resource version as a number; 0 if it is none of ours.
func versionOf(text string) uint64 {
	n, _ := strconv.ParseUint(text, 10, 64)
	return n
}

// NewUID returns the UID of a new object.
func NewUID() types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rand.Uint32(), rand.IntN(1<<16), rand.IntN(1<<12), rand.IntN(1<<12),
		rand.Uint64N(1<<48)))
}
