package requests_test

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/engine"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurejson"
	"sigs.k8s.io/cluster-api-provider-azure/internal/facts"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

var swept = flag.Int("swept", 4, "how many machines are made and deleted of which nothing is to be kept")

// TestNothingIsKept makes clusters with machines and deletes them, three times. What the manager keeps then is no more than after the
// first two times, of which one may have read something that the other had not to read: in all maps, lists and slices that live as long as it does, in goroutines, and in the label sets of its metrics.
//
//	go test ./test/integration/requests -run NothingIsKept -swept 1000 -v
func TestNothingIsKept(t *testing.T) {
	playUnmanaged(t, func(w *world) {
		m := w.StartManager(func(ctx context.Context, m *virtual.Manager) error {
			secrets := &azurejson.Reconciler{Client: m.GetClient(), Recorder: &events.FakeRecorder{}, Access: m.Gate, Facts: m.Facts,
				Secrets: m.GetClient(), Now: m.Services.Now}
			if err := secrets.SetupWithManager(ctx, m, controller.Options{SkipNameValidation: new(true)},
				azurejson.Kinds{Machines: true}); err != nil {
				return err
			}
			return virtual.RegisterControllers(ctx, m)
		})
		w.comeAndGo(m, "first", *swept)
		once, goroutines, series := m.CountElements(), runtime.NumGoroutine(), labelSets(t)
		w.comeAndGo(m, "second", *swept)
		for name, size := range m.CountElements() {
			once[name] = max(once[name], size)
		}
		w.comeAndGo(m, "third", *swept)
		// The pacer keeps eight durations for each type of operation whose end a check met, which may be another one than before.
		once["operate.pacer.recent"] += 2
		once["operate.pacer.recent[]"] = 8 * once["operate.pacer.recent"]
		// The compressor keeps a dictionary for each type of which one body was old enough, which may be others than before.
		once["observe.Compressor.dictionaries"] = len(types.TableRows())
		for name, size := range m.CountElements() {
			if size > once[name] {
				t.Errorf("%s has %d elements after %d machines have come and gone three times, and %d at most after the first two times", name, size, *swept, once[name])
			}
		}
		if now := runtime.NumGoroutine(); now > goroutines {
			t.Errorf("%d goroutines, and %d after the first time", now, goroutines)
		}
		// A result that was not seen before makes one, what names objects one for each.
		if now := labelSets(t); now >= series+*swept {
			t.Errorf("%d label sets of metrics, and %d after the first time", now, series)
		}
		t.Logf("%d kinds of maps, lists and slices, %d goroutines, %d label sets", len(once), goroutines, series)
	})
}

// comeAndGo makes a cluster of each kind, the first with so many machines, and deletes them. Then it waits until the entries that are
// kept for a limited time have expired.
func (w *world) comeAndGo(m *virtual.Manager, name string, machines int) {
	w.T.Helper()
	w.BuildCluster(name, machines-3)
	// Each secret of an identity is another principal with budgets of its own.
	for _, secret := range []string{"expired-" + name, w.Azure.ClientSecret} {
		harness.ChangeObject(w.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(o *corev1.Secret) {
			o.Data = map[string][]byte{"clientSecret": []byte(secret)}
		})
		virtual.WaitForSignal(nil, 2*time.Minute)
	}
	var all []string
	for i := range 3 {
		all = append(all, fmt.Sprintf("%s-control-plane-%d", name, i))
	}
	for i := range machines - 3 {
		all = append(all, fmt.Sprintf("%s-md-0-%d", name, i))
	}
	for _, machine := range all {
		object := &clusterv1.Machine{}
		object.Name = machine
		azure := &infrav1.AzureMachine{}
		azure.Name = machine
		w.DeleteObjects(object, azure)
	}
	for _, machine := range all {
		azure := &infrav1.AzureMachine{}
		azure.Name, azure.Namespace = machine, w.Namespace
		w.WaitUntilGone(azure)
	}
	cluster, azureCluster := &clusterv1.Cluster{}, &infrav1.AzureCluster{}
	cluster.Name, azureCluster.Name = name, name
	w.DeleteObjects(cluster, azureCluster)
	w.WaitUntilGone(azureCluster)

	documents := w.BuildASOCluster(name+"-documents", "pool0")
	w.CreateASOCluster(documents)
	w.DeleteManifests(documents)
	credential := &corev1.Secret{}
	credential.Name = harness.OperatorSecret
	w.DeleteObjects(credential)

	w.BuildAKSCluster(name+"-aks", 1)
	pool, controlPlane, managed, owner := &infrav1.AzureManagedMachinePool{}, &infrav1.AzureManagedControlPlane{},
		&infrav1.AzureManagedCluster{}, &clusterv1.Cluster{}
	pool.Name, controlPlane.Name, managed.Name, owner.Name = name+"-aks-pool0", name+"-aks", name+"-aks", name+"-aks"
	w.DeleteObjects(owner, virtual.MachinePool(pool.Name), pool)
	w.WaitUntilGone(pool)
	w.DeleteObjects(controlPlane)
	w.WaitUntilGone(controlPlane)
	w.DeleteObjects(managed)
	w.WaitUntilGone(managed)

	// Entries that may still be needed are kept for three hours at most. They are dropped when another entry is read.
	opened, err := m.Gate.Open(w.T.Context(), access.RequestForAzureCluster(w.AzureCluster(name)))
	if err != nil {
		w.T.Fatal(err)
	}
	virtual.WaitForSignal(nil, 4*time.Hour)
	nothing := arm.ResourceGroupID(w.Azure.SubscriptionID, "nothing")
	if _, err := m.Engine.Observe(w.T.Context(), opened.Client, []arm.ID{nothing}, true, engine.ReadOptions{}); err != nil {
		w.T.Fatal(err)
	}
	if err := m.Facts.RunUnlessFailed(w.T.Context(), facts.Caller{Client: opened.Client}, "nothing", func(context.Context) error { return nil }); err != nil {
		w.T.Fatal(err)
	}
	synctest.Wait()
}

// labelSets counts those of the manager's metrics.
func labelSets(t *testing.T) (count int) {
	t.Helper()
	gatherer, ok := ctrlmetrics.Registry.(prometheus.Gatherer)
	if !ok {
		t.Fatal("the metrics cannot be gathered")
	}
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		count += len(family.GetMetric())
	}
	return count
}
