package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// objectPath matches the path of one object, with or without its status.
var objectPath = regexp.MustCompile(`^/(?:api|apis/([^/]+))/([^/]+)(?:/namespaces/([^/]+))?/([^/]+)/([^/]+)(?:/status)?$`)

// patchable says whether servePatch takes the request. Server-side apply stays with the in-memory
// server, which refuses it.
func patchable(r *http.Request) bool {
	if r.Method != http.MethodPatch {
		return false
	}
	switch patchType(r) {
	case types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType:
		return objectPath.MatchString(r.URL.Path)
	}
	return false
}

func patchType(r *http.Request) types.PatchType {
	t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return types.PatchType(t)
}

// servePatch patches an object as kube-apiserver does. The in-memory server has no JSON patch, takes
// strategic for plain merge patches, and keeps the result in a form that its typed lists, among them
// etcd's member list, cannot read any more.
func (w *workload) servePatch(rw http.ResponseWriter, r *http.Request) {
	m := objectPath.FindStringSubmatch(r.URL.Path)
	gvk, ok := w.fleet.kinds[schema.GroupVersionResource{Group: m[1], Version: m[2], Resource: m[4]}]
	if !ok {
		writeStatus(rw, http.StatusNotFound, metav1.StatusReasonNotFound, "the server could not find the requested resource "+m[4])
		return
	}
	patch, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, 3<<20))
	if err != nil {
		writeError(rw, err)
		return
	}
	key := client.ObjectKey{Namespace: m[3], Name: m[5]}
	// A patch without a resourceVersion never conflicts: it is applied to whatever is there.
	for range 10 {
		var obj client.Object
		if obj, err = w.patch(r, gvk, key, patch); err == nil {
			writeJSON(rw, http.StatusOK, obj)
			return
		}
		if !apierrors.IsConflict(err) || strings.Contains(string(patch), `"resourceVersion"`) {
			break
		}
	}
	writeError(rw, err)
}

func (w *workload) patch(r *http.Request, gvk schema.GroupVersionKind, key client.ObjectKey, patch []byte) (client.Object, error) {
	obj, err := w.newObject(gvk)
	if err != nil {
		return nil, err
	}
	if err := w.client.Get(r.Context(), key, obj); err != nil {
		return nil, err
	}
	before, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch patchType(r) {
	case types.StrategicMergePatchType:
		after, err = strategicpatch.StrategicMergePatch(before, patch, obj)
	case types.JSONPatchType:
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(patch); err == nil {
			after, err = operations.Apply(before)
		}
	default:
		after, err = jsonpatch.MergePatch(before, patch)
	}
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	patched, err := w.newObject(gvk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(after, patched); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return patched, w.client.Update(r.Context(), patched)
}

func (w *workload) newObject(gvk schema.GroupVersionKind) (client.Object, error) {
	o, err := w.fleet.manager.GetScheme().New(gvk)
	if err != nil {
		return nil, err
	}
	obj, ok := o.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object with metadata", gvk)
	}
	return obj, nil
}

// kindsByResource names the kind of each resource a scheme knows.
func kindsByResource(scheme *runtime.Scheme) map[schema.GroupVersionResource]schema.GroupVersionKind {
	kinds := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for gvk, t := range scheme.AllKnownTypes() {
		if _, ok := t.FieldByName("ObjectMeta"); !ok {
			continue
		}
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		kinds[plural] = gvk
	}
	return kinds
}

func writeError(rw http.ResponseWriter, err error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		s.TypeMeta = statusMeta
		writeJSON(rw, int(s.Code), s)
		return
	}
	writeStatus(rw, http.StatusInternalServerError, metav1.StatusReasonInternalError, err.Error())
}
