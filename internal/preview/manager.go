package preview

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	ctrlmanager "sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/kubernetes"
)

// manager is passed to controllers in place of a controller manager. It starts nothing: the plan calls the controllers one by one.
type manager struct {
	// Manager is nil: other methods than those below are not called.
	ctrlmanager.Manager

	server      *kubernetes.Server
	cache       *readingCache
	events      *eventLog
	controllers []controller
}

// controller reconciles the objects of one kind.
type controller struct {
	kind string
	reconcile.Reconciler
}

func newManager(server *kubernetes.Server) *manager {
	return &manager{server: server, cache: &readingCache{FakeInformers: &informertest.FakeInformers{Scheme: server.Scheme()}, Reader: server},
		events: &eventLog{server: server}}
}

// readingCache is a cache that always returns the current objects of the server.
type readingCache struct {
	*informertest.FakeInformers
	client.Reader
}

// Get implements client.Reader, as does List.
func (c *readingCache) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	return c.Reader.Get(ctx, key, object, options...)
}

// List implements client.Reader.
func (c *readingCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	return c.Reader.List(ctx, list, options...)
}

// Add implements manager.Manager, as do the following.
func (m *manager) Add(runnable ctrlmanager.Runnable) error {
	reconciler, is := runnable.(interface {
		reconcile.Reconciler
		GetLogger() logr.Logger
	})
	if !is {
		return nil // The engine drops expired reads in the background, which a plan does not need.
	}
	sink, _ := reconciler.GetLogger().GetSink().(kindSink)
	if sink.kind == "" {
		return nil // The controller of credentials keeps finalizers of Secrets and asks nothing of Azure.
	}
	m.controllers = append(m.controllers, controller{kind: sink.kind, Reconciler: reconciler})
	return nil
}

func (m *manager) GetClient() client.Client       { return m.server }
func (m *manager) GetAPIReader() client.Reader    { return m.server }
func (m *manager) GetCache() cache.Cache          { return m.cache }
func (m *manager) GetScheme() *runtime.Scheme     { return m.server.Scheme() }
func (m *manager) GetRESTMapper() meta.RESTMapper { return m.server.RESTMapper() }
func (m *manager) GetLogger() logr.Logger         { return logr.New(kindSink{}) }
func (m *manager) GetControllerOptions() config.Controller {
	return config.Controller{SkipNameValidation: new(true)}
}
func (m *manager) GetEventRecorder(string) events.EventRecorder { return m.events }

// kindSink drops all messages. It keeps the kind of objects that controller-runtime gives the logger of a controller.
type kindSink struct{ kind string }

// Init implements logr.LogSink, as do the following.
func (kindSink) Init(logr.RuntimeInfo)          {}
func (kindSink) Enabled(int) bool               { return false }
func (kindSink) Info(int, string, ...any)       {}
func (kindSink) Error(error, string, ...any)    {}
func (s kindSink) WithName(string) logr.LogSink { return s }
func (s kindSink) WithValues(v ...any) logr.LogSink {
	for i := 0; i+1 < len(v); i += 2 {
		if v[i] == "controllerKind" {
			s.kind = fmt.Sprint(v[i+1])
		}
	}
	return s
}

// Event is a message of a controller about an object.
type Event struct {
	Kind, Namespace, Name string
	Type, Reason, Note    string
}

// eventLog records events.
type eventLog struct {
	server *kubernetes.Server
	events []Event
}

// Eventf implements events.EventRecorder.
func (l *eventLog) Eventf(regarding, _ runtime.Object, eventType, reason, _, note string, args ...any) {
	event := Event{Type: eventType, Reason: reason, Note: fmt.Sprintf(note, args...)}
	if object, ok := regarding.(client.Object); ok {
		event.Namespace, event.Name = object.GetNamespace(), object.GetName()
		if kind, err := l.server.GroupVersionKindFor(object); err == nil {
			event.Kind = kind.Kind
		}
	}
	l.events = append(l.events, event)
}
