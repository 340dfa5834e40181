package transitions_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/admission"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// life is that of a cluster whose specs change.
type life struct {
	kinds map[string]kind
	// objects have a spec that is taken, in the order in which they are made.
	objects []object
	// cluster is the name of the Cluster.
	cluster string
	// before creates prerequisites of the objects, as the cluster that their defaults depend on; nil if there are none.
	// create creates the cluster from objects that are admitted.
	before func(w *world)
	create func(w *world, admitted map[string]client.Object)
	// add makes an object that comes later, and remove deletes one and waits until it is gone; false is that it has to stay. They are nil where
	// no object comes and goes.
	add    func(w *world, admitted client.Object)
	remove func(w *world, name string) bool
	// whole reports whether no work is left beside the work that conditions report; nil if conditions report all of it.
	whole   func(w *world) bool
	excused []excuse

	load    sync.Once
	schemas map[string]*admission.Schema
}

type kind struct {
	plural string
	hints  hints
}

type object struct {
	name, kind string
	base       map[string]any
	// comes means that the object comes and goes, late that it does not exist from the begin.
	comes, late bool
}

// apply is a manifest that is applied, and how long nothing else is, in seconds: 0 is until everything is quiet. An object without a spec goes.
type apply struct {
	Object  string         `json:"object"`
	Spec    map[string]any `json:"spec"`
	Seconds int            `json:"seconds,omitempty"`
}

// loadSchema is that of a kind.
func (l *life) loadSchema(t *testing.T, kind string) *admission.Schema {
	t.Helper()
	l.load.Do(func() {
		l.schemas = map[string]*admission.Schema{}
		for name, kind := range l.kinds {
			schema, err := admission.LoadSchema(kind.plural)
			if err != nil {
				t.Fatal(err)
			}
			l.schemas[name] = schema
		}
	})
	return l.schemas[kind]
}

// world is one in which a life is lived.
type world struct {
	*virtual.Scenario
	life     *life
	admitter *admission.Server
	// manifests are those that were taken last.
	manifests map[string]map[string]any
	// player plays Cluster API about the VMs of pools; nil is that there are none.
	player *harness.PoolPlayer
}

// end is where a life led.
type end struct {
	cloud virtual.State
	// manifests are those that were taken last.
	manifests map[string]map[string]any
	// messages are the messages of objects that differ from their spec.
	messages map[string]string
	// refused are the answers to refused manifests, wrong those that name no field.
	refused, wrong []string
	// gaps are properties in Azure that the states before and after a change have and that were missing between them.
	gaps []string
	// states is how many states Azure had.
	states int
}

// applyManifests applies manifests. The first ones are those that the cluster is made of.
func (l *life) applyManifests(t *testing.T, made map[string]map[string]any, then []apply) (out end) {
	t.Helper()
	return l.liveIn(t, virtual.New, made, then)
}

// liveIn is live in a world that newWorld makes.
func (l *life) liveIn(t *testing.T, newWorld func(*testing.T) *virtual.Scenario, made map[string]map[string]any, then []apply) (out end) {
	t.Helper()
	l.loadSchema(t, "") // before time is virtual
	synctest.Test(t, func(t *testing.T) {
		w := &world{Scenario: newWorld(t), life: l, manifests: made}
		history := w.RecordHistory()
		w.StartProvider()
		var err error
		if w.admitter, err = admission.New(w.Kubernetes, w.Kubernetes.Scheme(), plan.Features{ASOAPI: true}, l.schemas); err != nil {
			t.Fatal(err)
		}
		if err := w.createCluster(); err != nil {
			out.wrong = append(out.wrong, fmt.Sprintf("a manifest that was accepted as a change is refused as a new object: %v", err))
			return
		}
		w.manifests = map[string]map[string]any{}
		for name, spec := range made {
			w.manifests[name] = spec
		}
		w.waitUntilStable()
		// accepted is the last state that was as its spec; nil means that the state now is not known to be so.
		accepted := w.acceptedMoment(history)
		for _, each := range then {
			switch err := w.applyManifest(each); {
			case err == nil && each.Spec == nil:
				delete(w.manifests, each.Object)
			case err == nil:
				w.manifests[each.Object] = each.Spec
			case len(refusedFields(err)) == 0:
				out.wrong = append(out.wrong, fmt.Sprintf("%s: a refusal that tells no field: %v", each.Object, err))
			default:
				out.refused = append(out.refused, fmt.Sprintf("%s: %v", each.Object, err))
				continue
			}
			if each.Seconds == 0 {
				w.waitUntilStable()
				now := w.acceptedMoment(history)
				if accepted != nil && now != nil {
					for _, gap := range history.FindGaps(*accepted, *now) {
						out.gaps = append(out.gaps, fmt.Sprintf("%s: missing for a time although the states before and after have it: %s", each.Object, gap))
					}
				}
				accepted = now
				continue
			}
			accepted = nil
			w.waitFor(time.Duration(each.Seconds) * time.Second)
		}
		w.waitUntilStable()
		out.cloud, out.manifests, out.messages, out.states = w.ReadAzureState(), w.manifests, w.conditionMessages(), history.CountStates()
	})
	return out
}

// refusedFields returns the fields that a refusal tells.
func refusedFields(err error) (out []string) {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return nil
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		if strings.HasPrefix(cause.Field, "spec") {
			out = append(out, cause.Field)
		}
	}
	return out
}

// kindOf is that of an object.
func (w *world) kindOf(name string) string {
	return w.life.objects[slices.IndexFunc(w.life.objects, func(o object) bool { return o.name == name })].kind
}

// createCluster makes the cluster.
func (w *world) createCluster() error {
	if w.life.before != nil {
		w.life.before(w)
	}
	admitted := map[string]client.Object{}
	for _, each := range w.life.objects {
		if w.manifests[each.name] == nil {
			continue
		}
		object, err := w.admitNew(each.name, w.manifests[each.name])
		if err != nil {
			return fmt.Errorf("%s: %w", each.name, err)
		}
		admitted[each.name] = object
	}
	w.life.create(w, admitted)
	return nil
}

// admitNew returns a new object.
func (w *world) admitNew(name string, spec map[string]any) (client.Object, error) {
	object := w.life.newObject(w.kindOf(name))
	object.SetNamespace(w.Namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{clusterv1.ClusterNameLabel: w.life.cluster})
	if err := fillSpec(object, spec); err != nil {
		return nil, err
	}
	return object, w.admitter.AdmitObject(w.T.Context(), nil, object)
}

// readStored returns an object as it is.
func (w *world) readStored(name string) client.Object {
	w.T.Helper()
	object := w.life.newObject(w.kindOf(name))
	w.ReadObject(object, name)
	return object
}

// applyManifest applies a manifest like kubectl: values of the last manifest that this one lacks are removed, and
// values of others stay.
func (w *world) applyManifest(each apply) error {
	w.T.Helper()
	switch {
	case each.Spec == nil:
		if w.manifests[each.Object] != nil && !w.life.remove(w, each.Object) {
			return apierrors.NewInvalid(schema.GroupKind{Kind: w.kindOf(each.Object)}, each.Object,
				field.ErrorList{field.Forbidden(field.NewPath("spec"), "has to stay")})
		}
		return nil
	case w.manifests[each.Object] == nil:
		object, err := w.admitNew(each.Object, each.Spec)
		if err == nil {
			w.life.add(w, object)
		}
		return err
	}
	current := w.readStored(each.Object)
	was, err := json.Marshal(current)
	if err != nil {
		w.T.Fatal(err)
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(encodeManifest(w.manifests[each.Object]), encodeManifest(each.Spec), was)
	if err != nil {
		w.T.Fatal(err)
	}
	next, err := mergePatch(w.life.newObject(w.kindOf(each.Object)), current, patch)
	if err != nil {
		w.T.Fatal(err)
	}
	if err := w.admitter.AdmitObject(w.T.Context(), current, next); err != nil {
		return err
	}
	if err := w.Kubernetes.Patch(w.T.Context(), next, client.MergeFrom(current)); err != nil {
		w.T.Fatal(err)
	}
	return nil
}

// quiet is the time after which no further write follows the last one. It is less than the time for which objects in
// order are left alone.
const quiet = 2 * time.Minute

// waitUntilStable waits until every object matches its spec and no operation is running, or until the differences are
// final.
func (w *world) waitUntilStable() {
	for end := time.Now().Add(time.Hour); time.Now().Before(end); {
		w.waitFor(quiet)
		if len(w.conditionMessages()) == 0 && (w.life.whole == nil || w.life.whole(w)) &&
			!slices.ContainsFunc(w.Sim.Operations(), func(op *store.Operation) bool { return op.Ended.IsZero() }) {
			return
		}
	}
}

// acceptedMoment returns the state of Azure now if all objects are as their spec, else nil.
func (w *world) acceptedMoment(history *virtual.History) *virtual.Moment {
	if len(w.conditionMessages()) > 0 {
		return nil
	}
	return new(history.CurrentMoment())
}

// waitFor lets time go by.
func (w *world) waitFor(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		virtual.WaitForSignal(nil, min(10*time.Second, time.Until(end)))
		if w.player != nil {
			w.player.PlayOnce(w.T.Context())
		}
	}
}

// stays are messages of conditions with status True about objects that work and do not change any more.
var stays = []string{"the spec has other values: ", "Azure cannot unset these fields, which the spec no longer sets"}

// waitUntilGone waits until an object is.
func (w *world) waitUntilGone(object client.Object) {
	w.T.Helper()
	for end := time.Now().Add(time.Hour); !apierrors.IsNotFound(w.Kubernetes.Get(w.T.Context(), client.ObjectKeyFromObject(object),
		object)); w.waitFor(10 * time.Second) {
		if time.Now().After(end) {
			w.T.Fatalf("%T %s stays", object, object.GetName())
		}
	}
}

// conditionMessages returns the messages of objects that differ from their spec.
func (w *world) conditionMessages() map[string]string {
	out := map[string]string{}
	for _, each := range w.life.objects {
		if w.manifests[each.name] == nil {
			continue
		}
		object := w.readStored(each.name).(harness.Conditioned)
		if is := harness.FindCondition(object, infrav1.ReadyCondition); is.Status != metav1.ConditionTrue ||
			is.ObservedGeneration != object.GetGeneration() {
			out[each.name] = fmt.Sprintf("%s: %s", is.Reason, is.Message)
		}
		for _, condition := range object.GetConditions() {
			if condition.Status == metav1.ConditionTrue &&
				slices.ContainsFunc(stays, func(text string) bool { return strings.Contains(condition.Message, text) }) {
				out[each.name] = fmt.Sprintf("%s: %s", condition.Reason, condition.Message)
			}
		}
	}
	return out
}
