package rights_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// withheld are actions that the provider's role does not have until a condition names them. So each is withheld once,
// at the request that first needs it; the story stops there, names the action in a condition, and continues when the
// action is granted.
type withheld struct {
	stage *harness.Stage
	// given are the actions of the role, missing those that it gets yet, and named those that it got because of a condition.
	given, missing, named []string
	// stuck are the objects that report a missing action.
	stuck map[types.UID]client.Object
}

// withholdActions starts a story without these actions, and with those. It returns what ends it and tells which actions were named.
func withholdActions(stage *harness.Stage, with, without []string) (end func() []string) {
	stage.T.Helper()
	w := &withheld{stage: stage, given: slices.Clone(with), missing: slices.Clone(without), stuck: map[types.UID]client.Object{}}
	grantActions(stage, w.given)
	if len(without) == 0 {
		return func() []string { return nil }
	}
	ctx, cancel := context.WithCancel(stage.T.(*testing.T).Context())
	events, ended := w.watchEvents(ctx), make(chan struct{})
	go func() { defer close(ended); w.grantNamedActions(ctx, events) }()
	return func() []string {
		cancel()
		<-ended
		return w.named
	}
}

// watchEvents returns those of the objects whose conditions people look at.
func (w *withheld) watchEvents(ctx context.Context) <-chan watch.Event {
	w.stage.T.Helper()
	out := make(chan watch.Event)
	for _, list := range []client.ObjectList{
		&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{},
		&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureManagedClusterList{},
		&infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureASOManagedMachinePoolList{},
	} {
		watcher, err := w.stage.Client.Watch(ctx, list, client.InNamespace(w.stage.Namespace))
		if err != nil {
			w.stage.T.Fatal(err)
		}
		go func() {
			defer watcher.Stop()
			for event := range watcher.ResultChan() {
				select {
				case out <- event:
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return out
}

// again is how often objects are looked at that still report a missing action which was granted: a request may have been
// refused just before.
const again = time.Second

// grantNamedActions gives what conditions name, one action at a time, and has the controllers look again.
func (w *withheld) grantNamedActions(ctx context.Context, events <-chan watch.Event) {
	ticker := time.NewTicker(again)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.wakeControllers(ctx)
		case event := <-events:
			object, ok := event.Object.(client.Object)
			if !ok {
				continue
			}
			names := missingIn(object)
			delete(w.stuck, object.GetUID())
			if event.Type == watch.Deleted || len(names) == 0 {
				continue
			}
			w.stuck[object.GetUID()] = object
			if at := slices.IndexFunc(w.missing, func(m string) bool { return slices.Contains(names, m) }); at >= 0 {
				w.named, w.given = append(w.named, w.missing[at]), append(w.given, w.missing[at])
				w.missing = slices.Delete(w.missing, at, at+1)
				grantActions(w.stage, w.given)
				w.wakeControllers(ctx)
			}
		}
	}
}

// wakeControllers has the controllers reconcile stuck objects, as they do by themselves in a minute.
func (w *withheld) wakeControllers(ctx context.Context) {
	if len(w.stuck) == 0 {
		return
	}
	w.stage.AdvanceClock(2 * time.Minute)
	for _, object := range w.stuck {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"integration-test/woken":"`+uuid.NewString()+`"}}}`))
		// One that has gone meanwhile needs it no more.
		_ = w.stage.Client.Patch(ctx, object.DeepCopyObject().(client.Object), patch)
	}
}

// action is one in the words of Azure's refusal, in which several are separated by commas.
var action = regexp.MustCompile(`Microsoft\.[A-Za-z.]+/[A-Za-z/]+`)

// refusal is the code of Azure's error if one is missing.
var refusal = regexp.MustCompile(`AuthorizationFailed`)

// missingIn returns the actions that conditions of an object name as missing.
func missingIn(object client.Object) []string {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil
	}
	var parsed struct {
		Status struct{ Conditions []metav1.Condition }
	}
	if json.Unmarshal(raw, &parsed) != nil {
		return nil
	}
	var out []string
	for _, condition := range parsed.Status.Conditions {
		if condition.Status != metav1.ConditionTrue && refusal.MatchString(condition.Message) {
			out = append(out, action.FindAllString(condition.Message, -1)...)
		}
	}
	return out
}
