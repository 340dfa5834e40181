// Package admission simulates how an API server admits an object of this provider before it stores it: it applies the defaults of the
// CRD's schema, has the webhooks of the manager fill in defaults, validates the object against the schema and its rules, and calls the
// validating webhooks.
//
// Its promise: an API server stores an object that is admitted here, byte for byte the same, and refuses an object that is refused here,
// with the same fields. One exception: the package does not simulate that an update may keep values that were invalid before. It writes
// nothing.
package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	webhooks "sigs.k8s.io/cluster-api-provider-azure/internal/webhook"
)

// Server admits objects.
type Server struct {
	reader  client.Reader
	scheme  *runtime.Scheme
	schemas map[string]*Schema
	hooks   map[string]*admission.Webhook
}

// New returns one for the kinds whose schemas are given. The webhooks read from reader.
func New(reader client.Reader, scheme *runtime.Scheme, features plan.Features, schemas map[string]*Schema) (*Server, error) {
	s := &Server{reader: reader, scheme: scheme, schemas: schemas, hooks: map[string]*admission.Webhook{}}
	return s, webhooks.SetupWithManager(registry{server: s}, features, false)
}

// AdmitObject changes the object into the one that an API server stores, or returns the error with which it is refused. old is the stored
// object, nil if there is none.
func (s *Server) AdmitObject(ctx context.Context, old, object client.Object) error {
	stored, err := s.AdmitManifest(ctx, old, object)
	if err != nil {
		return err
	}
	// Fields that the stored object no longer has must not stay.
	reflect.ValueOf(object).Elem().Set(reflect.ValueOf(stored).Elem())
	return nil
}

// AdmitManifest returns the stored form of an object, which may be an unstructured one: a typed object has a value for fields that its
// manifest leaves out, and the schema fills in none for them.
func (s *Server) AdmitManifest(ctx context.Context, old, object client.Object) (client.Object, error) {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return nil, err
	}
	rules := s.schemas[gvk.Kind]
	if rules == nil {
		return nil, fmt.Errorf("there is no schema of %s", gvk.Kind)
	}
	raw, err := encodeObject(object, gvk)
	if err != nil {
		return nil, err
	}
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "admission", Kind: metav1.GroupVersionKind(gvk), Name: object.GetName(), Namespace: object.GetNamespace(),
		Operation: admissionv1.Create,
	}}
	var before map[string]any
	if old != nil {
		was, err := encodeObject(old, gvk)
		if err != nil {
			return nil, err
		}
		if err := utiljson.Unmarshal(was, &before); err != nil {
			return nil, err
		}
		request.Operation, request.OldObject.Raw = admissionv1.Update, was
	}
	if raw, err = rules.fillDefaults(raw); err != nil {
		return nil, err
	}
	path := "-" + strings.ReplaceAll(gvk.Group, ".", "-") + "-" + gvk.Version + "-" + strings.ToLower(gvk.Kind)
	if raw, err = s.runMutatingWebhook(ctx, "/mutate"+path, request, raw); err != nil {
		return nil, err
	}
	if raw, err = rules.fillDefaults(raw); err != nil {
		return nil, err
	}
	var content map[string]any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	if errs := rules.object.validate(ctx, content, before); len(errs) > 0 {
		return nil, apierrors.NewInvalid(gvk.GroupKind(), object.GetName(), errs)
	}
	if hook := s.hooks["/validate"+path]; hook != nil {
		request.Object.Raw = raw
		if response := hook.Handle(ctx, request); !response.Allowed {
			return nil, &apierrors.StatusError{ErrStatus: *response.Result}
		}
	}
	stored, err := s.scheme.New(gvk)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, stored); err != nil {
		return nil, err
	}
	return stored.(client.Object), nil
}

// CheckStatus returns the error with which an API server refuses a new status of a stored object. It ignores the rest of the object, which a
// write of the status leaves as it is. Webhooks are not asked about a status.
func (s *Server) CheckStatus(ctx context.Context, old, object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, s.scheme)
	if err != nil {
		return err
	}
	rules := s.schemas[gvk.Kind]
	if rules == nil {
		return fmt.Errorf("there is no schema of %s", gvk.Kind)
	}
	if rules.status == nil {
		return nil
	}
	var states [2]map[string]any
	for i, state := range []client.Object{old, object} {
		raw, err := json.Marshal(state)
		if err != nil {
			return err
		}
		var parts struct {
			Status json.RawMessage `json:"status"`
		}
		if err := json.Unmarshal(raw, &parts); err != nil {
			return err
		}
		if len(parts.Status) == 0 {
			continue
		}
		if err := utiljson.Unmarshal(parts.Status, &states[i]); err != nil {
			return err
		}
		rules.status.pruneAndDefault(states[i])
	}
	if states[1] == nil {
		return nil
	}
	if errs := rules.status.validate(ctx, states[1], states[0]); len(errs) > 0 {
		return apierrors.NewInvalid(gvk.GroupKind(), object.GetName(), errs)
	}
	return nil
}

// runMutatingWebhook has a webhook fill in defaults.
func (s *Server) runMutatingWebhook(ctx context.Context, path string, request admission.Request, raw []byte) ([]byte, error) {
	hook := s.hooks[path]
	if hook == nil {
		return raw, nil
	}
	request.Object.Raw = raw
	response := hook.Handle(ctx, request)
	if !response.Allowed {
		return nil, &apierrors.StatusError{ErrStatus: *response.Result}
	}
	if len(response.Patch) == 0 {
		return raw, nil
	}
	patch, err := jsonpatch.DecodePatch(response.Patch)
	if err != nil {
		return nil, err
	}
	return patch.Apply(raw)
}

// fillDefaults returns an object with the defaults of its schema.
func (s *Schema) fillDefaults(raw []byte) ([]byte, error) {
	var content map[string]any
	if err := utiljson.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	s.object.pruneAndDefault(content)
	return json.Marshal(content)
}

// encodeObject returns an object as it is sent.
func encodeObject(object client.Object, gvk schema.GroupVersionKind) ([]byte, error) {
	copied := object.DeepCopyObject()
	copied.GetObjectKind().SetGroupVersionKind(gvk)
	return json.Marshal(copied)
}

// registry is a manager that keeps webhooks instead of serving them.
type registry struct {
	// Manager and Server are nil: only the methods below are called.
	ctrlmanager.Manager
	webhook.Server
	server *Server
}

// Register implements webhook.Server.
func (r registry) Register(path string, hook http.Handler) {
	if of, is := hook.(*admission.Webhook); is {
		r.server.hooks[path] = of
	}
}

// GetAPIReader implements manager.Manager, as do the following.
func (r registry) GetAPIReader() client.Reader      { return r.server.reader }
func (r registry) GetScheme() *runtime.Scheme       { return r.server.scheme }
func (r registry) GetConfig() *rest.Config          { return &rest.Config{} }
func (r registry) GetLogger() logr.Logger           { return logr.Discard() }
func (r registry) GetWebhookServer() webhook.Server { return r }
func (r registry) WebhookMux() *http.ServeMux       { return nil }
func (r registry) Start(context.Context) error      { return nil }
func (r registry) NeedLeaderElection() bool         { return false }
