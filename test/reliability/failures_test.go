package reliability_test

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azureclusteridentity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurejson"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinetemplate"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// call is a kind of request of the manager to the API server.
type call struct{ verb, kind string }

func (c call) String() string { return c.verb + " " + c.kind }

// failing is a world with objects of all kinds, in which one kind of call fails from a stage on.
type failing struct {
	*virtual.Scenario
	mu sync.Mutex
	// calls are those that were made, by stage.
	calls map[string]map[call]bool
	stage string
	// refuse fails from stage since on.
	refuse call
	since  string
	family string

	failures []virtual.Failure
	// warnings are counted by stage and text.
	warnings map[string]map[string]int
	problems map[string]bool
}

// families are the clusters whose objects are tried together.
var families = []string{"self-managed", "aks", "documents"}

// phases are the stages of the objects of a failing world.
var phases = []string{"create", "pause", "resume", "delete"}

// playSequence creates and deletes objects of all kinds while calls of one kind fail. The zero call lets all succeed.
func playSequence(t *testing.T, family string, refuse call, since string) *failing {
	w := &failing{family: family, Scenario: virtual.New(t), calls: map[string]map[call]bool{}, stage: phases[0], refuse: refuse, since: since,
		warnings: map[string]map[string]int{}, problems: map[string]bool{}}
	w.Scenario.Refuse, w.Failed, w.EventRecorded = w.answerCall, w.checkFailure, w.recordEvent
	w.StartManager(w.registerKinds)
	w.createObjects()
	w.playPools(20 * time.Minute)
	w.beginStage("pause")
	w.setPaused(new(true))
	w.playPools(2 * time.Minute)
	w.beginStage("resume")
	w.setPaused(nil)
	w.playPools(12 * time.Minute)
	w.beginStage("delete")
	w.deleteObjects()
	return w
}

func (w *failing) beginStage(stage string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stage = stage
}

// playPools has Cluster API play its part about pools for a time.
func (w *failing) playPools(d time.Duration) {
	player := harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
	for end := time.Now().Add(d); time.Now().Before(end); virtual.WaitForSignal(nil, 15*time.Second) {
		player.PlayOnce(w.T.Context())
	}
}

func (w *failing) registerKinds(ctx context.Context, m *virtual.Manager) error {
	options := controller.Options{SkipNameValidation: new(true)}
	if err := reconcile.NewLocalRunner(m.Services,
		&azureclusteridentity.Kind{Client: m.GetClient(), Identities: m.Gate.Identities}).SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	secrets := &azurejson.Reconciler{Client: m.GetClient(), Recorder: m.Services.Recorder(""), Access: m.Gate, Facts: m.Facts,
		Secrets: m.GetClient(), Now: m.Services.Now}
	if err := secrets.SetupWithManager(ctx, m, options, azurejson.Kinds{Machines: true, Pools: true}); err != nil {
		return err
	}
	templates := &azuremachinetemplate.Reconciler{Client: m.GetClient(), Recorder: m.Services.Recorder(""), Access: m.Gate, Facts: m.Facts}
	if err := templates.SetupWithManager(ctx, m, options); err != nil {
		return err
	}
	return virtual.RegisterControllers(ctx, m)
}

func (w *failing) createObjects() {
	switch w.family {
	case "aks":
		w.ApplyAKSCluster("c1", 1)
		return
	case "documents":
		w.CreateManifests(w.createASOCluster())
		return
	}
	w.ApplyNetwork("c1", nil)
	w.playPools(5 * time.Minute)
	harness.ChangeStatus(w.Stage, w.createCluster("c1"),
		func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "t1"}}
	template.Spec.Template.Spec = w.AzureMachine("c1", "t1").Spec
	w.CreateObject(template)
	w.PlayCluster("c1", template)
	w.ApplyMachine("c1", "m1", harness.ControlPlane)
	azurePool := w.AzureMachinePool("c1", "pool")
	azurePool.Spec.OrchestrationMode = infrav1.UniformOrchestration
	defaults.FillAzureMachinePool(azurePool, "")
	w.CreatePool(azurePool, 1)
}

// createASOCluster returns an AKS cluster of documents that uses the identity. A Secret that the documents name would go before it.
func (w *failing) createASOCluster() *harness.ASOCluster {
	out := w.BuildASOCluster("c1", "pool0")
	out.Infrastructure.Spec.IdentityRef = harness.IdentityRef()
	for _, resources := range [][]runtime.RawExtension{out.Infrastructure.Spec.Resources, out.ControlPlane.Spec.Resources,
		out.Pools[0].Spec.Resources} {
		resources[0].Raw = bytes.ReplaceAll(resources[0].Raw, []byte("serviceoperator.azure.com/credential-from"), []byte("example.com/unused"))
	}
	return out
}

func (w *failing) createCluster(name string) *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func (w *failing) setPaused(paused *bool) {
	harness.ChangeObject(w.Stage, w.createCluster("c1"), func(c *clusterv1.Cluster) { c.Spec.Paused = paused })
}

// deleteObjects deletes everything in the order of Cluster API, whether it goes or not.
func (w *failing) deleteObjects() {
	w.DeleteObjects(w.createCluster("c1"))
	for _, list := range [][]client.ObjectList{
		{&clusterv1.MachineList{}, &clusterv1.MachinePoolList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{},
			&infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedMachinePoolList{}},
		{&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureASOManagedControlPlaneList{}},
		{&infrav1.AzureClusterList{}, &infrav1.AzureManagedClusterList{}, &infrav1.AzureASOManagedClusterList{}},
		{&infrav1.AzureClusterIdentityList{}},
	} {
		for _, each := range list {
			if err := w.Kubernetes.List(w.T.Context(), each, client.InNamespace(w.Namespace)); err != nil {
				w.T.Fatal(err)
			}
			_ = meta.EachListItem(each, func(item runtime.Object) error {
				if object := item.(client.Object); object.GetDeletionTimestamp().IsZero() {
					w.DeleteObjects(object)
				}
				return nil
			})
		}
		w.playPools(10 * time.Minute)
	}
}

// answerCall notes a call of the manager, and refuses those that are to fail.
func (w *failing) answerCall(verb string, object runtime.Object) error {
	gvk, err := w.Kubernetes.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := call{verb, strings.TrimSuffix(gvk.Kind, "List")}
	if w.calls[w.stage] == nil {
		w.calls[w.stage] = map[call]bool{}
	}
	w.calls[w.stage][c] = true
	if c != w.refuse || slices.Index(phases, w.stage) < slices.Index(phases, w.since) {
		return nil
	}
	return apierrors.NewInternalError(fmt.Errorf("refused: %s", c))
}

// checkFailure compares the error at the end of a reconciliation with the conditions of its object.
func (w *failing) checkFailure(f virtual.Failure) {
	if apierrors.IsConflict(f.Err) || f.Kind == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// An object that cannot be read, or whose status cannot be written, shows nothing. Nor does a pool show that the object of a VM cannot
	// be read from the cache: it is read only to see whether the cache is as new as the last write, and no cache of a real manager fails.
	if w.refuse == (call{"get", f.Kind}) || w.refuse == (call{"patch status", f.Kind}) || w.refuse == (call{"get", "AzureMachinePoolMachine"}) {
		return
	}
	w.failures = append(w.failures, f)
	object, err := w.Kubernetes.Scheme().New(infrav1.GroupVersion.WithKind(f.Kind))
	if err != nil {
		w.problems[err.Error()] = true
		return
	}
	if err := w.Kubernetes.Get(context.Background(), f.Object, object.(client.Object)); err != nil {
		return // It is gone.
	}
	conditioned, ok := object.(harness.Conditioned)
	if !ok || strings.HasPrefix(f.Controller, "azurejson") || f.Kind == "AzureMachineTemplate" {
		return // The event is all there is.
	}
	if ready := harness.FindCondition(conditioned, infrav1.ReadyCondition); !strings.Contains(ready.Message, f.Err.Error()) {
		w.problems[fmt.Sprintf("%s %s: Ready is %s, %s, %q after %q", f.Kind, f.Object.Name, ready.Status, ready.Reason, ready.Message,
			f.Err)] = true
	}
}

func (w *failing) recordEvent(event virtual.Event) {
	if event.Type != "Warning" {
		return
	}
	shown := w.showsEvent(event)
	w.mu.Lock()
	defer w.mu.Unlock()
	if shown {
		w.problems[fmt.Sprintf("%s %s: a Warning tells %q, which a condition shows already", event.Kind, event.Name, event.Note)] = true
	}
	if w.warnings[w.stage] == nil {
		w.warnings[w.stage] = map[string]int{}
	}
	w.warnings[w.stage][event.Kind+" "+event.Name+" "+event.Note]++
}

// showsEvent reports whether a stored condition of the object has the error that an event tells.
func (w *failing) showsEvent(event virtual.Event) bool {
	stored, err := w.Kubernetes.Scheme().New(infrav1.GroupVersion.WithKind(event.Kind))
	if err != nil || !strings.Contains(event.Note, "refused: ") {
		return false
	}
	conditioned, ok := stored.(harness.Conditioned)
	if !ok || w.Kubernetes.Get(context.Background(), client.ObjectKey{Namespace: w.Namespace, Name: event.Name},
		stored.(client.Object)) != nil {
		return false
	}
	return slices.ContainsFunc(conditioned.GetConditions(), func(c metav1.Condition) bool { return strings.Contains(c.Message, event.Note) })
}

// mostWarnings bounds how often one Warning is sent in a stage: a reconciliation that does not make the call ends the failure, and the next
// one brings it back, with another Warning.
const mostWarnings = 3

// noteOf returns the note of the Warning about a failure.
func noteOf(f virtual.Failure) string {
	switch {
	case strings.HasPrefix(f.Controller, "azurejson"):
		return "azure.json cannot be written: " + f.Err.Error()
	case f.Kind == "AzureMachineTemplate":
		return "the cluster autoscaler cannot read the properties of a node: " + f.Err.Error()
	}
	return f.Err.Error()
}

// reportFailures reports failures without a Warning, and those with too many.
func (w *failing) reportFailures(t *testing.T) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.failures {
		warned := false
		for stage, warnings := range w.warnings {
			if count := warnings[f.Kind+" "+f.Object.Name+" "+noteOf(f)]; count > mostWarnings {
				w.problems[fmt.Sprintf("%s %s: %d Warnings about %q while objects are to %s", f.Kind, f.Object.Name, count, f.Err, stage)] = true
			}
			for warning := range warnings {
				// A Warning with more of the same error counts as well.
				warned = warned || strings.HasPrefix(warning, f.Kind+" "+f.Object.Name+" ") && strings.Contains(warning, f.Err.Error())
			}
		}
		if !warned {
			w.problems[fmt.Sprintf("%s %s: no Warning about %q", f.Kind, f.Object.Name, f.Err)] = true
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(w.problems)) {
		t.Error(problem)
	}
}

// TestIdentityBeingDeleted lets a cluster of each kind name an identity that is being deleted.
func TestIdentityBeingDeleted(t *testing.T) {
	for family, object := range map[string]harness.Conditioned{
		"self-managed": &infrav1.AzureCluster{}, "aks": &infrav1.AzureManagedControlPlane{}, "documents": &infrav1.AzureASOManagedCluster{},
	} {
		t.Run(family, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &failing{family: family, Scenario: virtual.New(t), warnings: map[string]map[string]int{}, problems: map[string]bool{}}
				w.Failed, w.EventRecorded = w.checkFailure, w.recordEvent
				identity := &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}
				harness.ChangeObject(w.Stage, identity, func(i *infrav1.AzureClusterIdentity) { i.Finalizers = []string{"example.com/keeps"} })
				w.DeleteObjects(identity)
				w.StartManager(w.registerKinds)
				switch family {
				case "self-managed":
					w.ApplyNetwork("c1", nil)
				case "aks":
					w.ApplyAKSCluster("c1", 1)
				case "documents":
					w.CreateManifests(w.createASOCluster())
				}
				w.playPools(10 * time.Minute)
				w.ReadObject(object, "c1")
				ready := harness.FindCondition(object, infrav1.ReadyCondition)
				if ready.Status != metav1.ConditionFalse || ready.Reason != "IdentityBeingDeleted" {
					t.Errorf("Ready is %s, %s, %q", ready.Status, ready.Reason, ready.Message)
				}
				count := 0
				for warning, sent := range w.warnings[w.stage] {
					if strings.Contains(warning, " c1 ") && strings.Contains(warning, "is being deleted, so nothing new can use it") {
						count += sent
					}
				}
				if count != 1 || len(w.failures) > 0 {
					t.Errorf("%d Warnings about it, and %d reconciliations ended with an error: %v", count, len(w.failures), w.warnings)
				}
			})
		})
	}
}

// inSample reports whether a row is one of those that are tried without -every.
func inSample(row string) bool {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(row))
	return hash.Sum32()%12 == 0
}

// TestFailuresAreShown fails each kind of call to the API server that the controllers of all kinds make while objects
// are created, paused, resumed and deleted. Each reconciliation that ends with an error sets Ready, and one Warning
// reports it until it is over. Errors that an AzureMachineTemplate and the controllers of azure.json cannot show in a
// condition are in the Warning alone.
func TestFailuresAreShown(t *testing.T) {
	shown, tried := map[string]bool{}, 0
	for _, family := range families {
		calls := map[string]map[call]bool{}
		synctest.Test(t, func(t *testing.T) {
			w := playSequence(t, family, call{}, "")
			w.reportFailures(t)
			for _, f := range w.failures {
				t.Errorf("%s %s fails although nothing is refused: %v", f.Kind, f.Object.Name, f.Err)
			}
			calls = w.calls
		})
		for _, phase := range phases {
			for _, c := range slices.SortedFunc(maps.Keys(calls[phase]), func(a, b call) int { return strings.Compare(a.String(), b.String()) }) {
				if phase == "resume" || phase == "pause" && !strings.HasPrefix(c.verb, "patch") {
					continue // The other phases make the same calls at the same places.
				}
				row := family + "/" + phase + "/" + c.String()
				if !isWide() && !inSample(row) {
					continue
				}
				tried++
				t.Run(row, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := playSequence(t, family, c, phase)
						w.reportFailures(t)
						for _, f := range w.failures {
							shown[f.Kind+": "+phase+", "+c.String()] = true
						}
					})
				})
			}
		}
	}
	t.Logf("%d kinds of calls failed; %d pairs of a kind of object and a call ended reconciliations with an error", tried, len(shown))
	if !isWide() {
		return
	}
	// An AzureClusterIdentity is reconciled from the cache and a Secret, whose absence is a condition.
	for _, kind := range []string{
		"AzureCluster", "AzureMachine", "AzureMachinePool", "AzureMachineTemplate", "AzureManagedCluster", "AzureManagedControlPlane",
		"AzureManagedMachinePool", "AzureASOManagedCluster", "AzureASOManagedControlPlane", "AzureASOManagedMachinePool",
	} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(shown)), func(key string) bool { return strings.HasPrefix(key, kind+": ") }) {
			t.Errorf("no reconciliation of kind %s ended with an error", kind)
		}
	}
}
