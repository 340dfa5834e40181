package kubeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// servePatch changes an object by a JSON, merge or strategic merge patch. Server-side apply is refused with the status by which clients choose
// another way. Unlike in a kube-apiserver, a patch of the object changes its status too: people set the conditions of Nodes that way.
func (c *call) servePatch(rw http.ResponseWriter) error {
	mediaType, _, _ := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	kind := types.PatchType(mediaType)
	switch kind {
	case types.MergePatchType, types.StrategicMergePatchType, types.JSONPatchType:
	default:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
			Message: fmt.Sprintf("patches of type %q are not supported: use a JSON, merge or strategic merge patch", mediaType),
		}}
	}
	patch, err := io.ReadAll(http.MaxBytesReader(rw, c.request.Body, maxBody))
	if err != nil {
		return apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	// A patch without a resourceVersion never conflicts: it is applied to the stored object.
	return c.changeStored(rw, !strings.Contains(string(patch), `"resourceVersion"`), func(before client.Object) (client.Object, error) {
		return c.applyPatch(before, kind, patch)
	})
}

func (c *call) applyPatch(obj client.Object, kind types.PatchType, patch []byte) (client.Object, error) {
	before, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	var after []byte
	switch kind {
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
	return c.decodeObject(after)
}
