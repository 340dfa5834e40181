package stopped_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	"sigs.k8s.io/cluster-api/core/reconcilers/machinehealthcheck"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// world has a self-managed cluster c1 with a control-plane machine, a worker, a uniform and a flexible pool, an AKS cluster aks1, and an AKS
// cluster c2 of resource manifests. A MachineHealthCheck selects all Machines of c1.
type world struct {
	*virtual.Scenario
	documents *harness.ASOCluster
	health    *machinehealthcheck.Reconciler
	// checked is when Nodes and Machines were last checked.
	checked time.Time
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Scenario: virtual.New(t)}
	w.documents = w.BuildASOCluster("c2", "pool0")
	w.health = &machinehealthcheck.Reconciler{Client: w.Kubernetes, ClusterCache: &workload{world: w}}
	player := &harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
	w.Meanwhile = func() {
		player.PlayOnce(w.T.Context())
		w.playCluster()
		w.playNodes()
	}
	return w
}

// recordWarnings records the Warnings from now on, and returns a function that returns them.
func (w *world) recordWarnings() func() []string {
	var mu sync.Mutex
	var out []string
	w.EventRecorded = func(event virtual.Event) {
		mu.Lock()
		defer mu.Unlock()
		if event.Type == corev1.EventTypeWarning {
			out = append(out, fmt.Sprintf("%s %s: %s: %s", event.Kind, event.Name, event.Reason, event.Note))
		}
	}
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(out)
	}
}

// apply applies all objects, and waits until they are Ready.
func (w *world) apply() {
	w.T.Helper()
	w.ApplyNetwork("c1", nil)
	w.ApplyMachine("c1", "m1", harness.ControlPlane)
	w.ApplyMachine("c1", "m2", harness.Worker)
	w.ApplyPool("c1", "uniform", 2)
	w.applyFlexiblePool("flexible", 2)
	w.ApplyAKSCluster("aks1", 1)
	w.CreateManifests(w.documents)
	w.waitReady(metav1.ConditionTrue)
	if err := w.Kubernetes.Create(w.T.Context(), &clusterv1.MachineHealthCheck{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "all"},
		Spec: clusterv1.MachineHealthCheckSpec{ClusterName: "c1",
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{clusterv1.ClusterNameLabel: "c1"}},
			Checks: clusterv1.MachineHealthCheckChecks{UnhealthyNodeConditions: []clusterv1.UnhealthyNodeCondition{
				{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, TimeoutSeconds: new(int32(300))},
				{Type: corev1.NodeReady, Status: corev1.ConditionFalse, TimeoutSeconds: new(int32(300))},
			}}},
	}); err != nil {
		w.T.Fatal(err)
	}
}

// applyFlexiblePool applies a pool whose VMs are resources of their own.
func (w *world) applyFlexiblePool(name string, replicas int32) {
	w.T.Helper()
	pool := w.AzureMachinePool("c1", name)
	pool.Spec.OrchestrationMode = infrav1.FlexibleOrchestration
	defaults.FillAzureMachinePool(pool, "")
	w.CreatePool(pool, replicas)
}

// playCluster copies the state of the infrastructure to Cluster c1, as Cluster API does.
func (w *world) playCluster() {
	owner, azureCluster := &clusterv1.Cluster{}, &infrav1.AzureCluster{}
	key := client.ObjectKey{Namespace: w.Namespace, Name: "c1"}
	if w.Kubernetes.Get(w.T.Context(), key, owner) != nil || w.Kubernetes.Get(w.T.Context(), key, azureCluster) != nil {
		return
	}
	if azureCluster.Status.Initialization.Provisioned != nil && owner.Status.Initialization.InfrastructureProvisioned == nil {
		w.CopyInfrastructure(owner.Name)
	}
}

// playNodes gives each Machine whose VM exists a Node that is Ready while the VM runs, and has Cluster API check the Machines.
func (w *world) playNodes() {
	if time.Since(w.checked) < 10*time.Second {
		return
	}
	w.checked = time.Now()
	for _, machine := range w.machines() {
		name := machine.Name
		ready := w.power(machine) == "running"
		status := map[bool]metav1.ConditionStatus{true: metav1.ConditionTrue, false: metav1.ConditionUnknown}[ready]
		if machine.Status.NodeRef.Name == "" && !ready {
			continue
		}
		was := harness.FindCondition(&machine, clusterv1.MachineNodeReadyCondition)
		if machine.Status.NodeRef.Name != "" && was.Status == status {
			continue
		}
		harness.ChangeStatus(w.Stage, &machine, func(m *clusterv1.Machine) {
			m.Status.NodeRef.Name = name
			setCondition(m, clusterv1.MachineNodeReadyCondition, status)
		})
	}
	if _, err := w.health.Reconcile(w.T.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: w.Namespace, Name: "all"}}); err != nil {
		w.T.Errorf("MachineHealthCheck: %v", err)
	}
}

// machines returns the Machines.
func (w *world) machines() []clusterv1.Machine {
	w.T.Helper()
	list := &clusterv1.MachineList{}
	if err := w.Kubernetes.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
		w.T.Fatal(err)
	}
	return list.Items
}

// power returns the power state of the VM of a Machine, "" if there is none.
func (w *world) power(machine clusterv1.Machine) string {
	vm, err := arm.ParseID(w.providerID(machine))
	if err != nil {
		return ""
	}
	return w.readPower(vm)
}

// providerID returns the ID of the VM of a Machine, "" if there is none yet.
func (w *world) providerID(machine clusterv1.Machine) string {
	key := client.ObjectKey{Namespace: w.Namespace, Name: machine.Spec.InfrastructureRef.Name}
	if machine.Spec.InfrastructureRef.Kind == "AzureMachinePoolMachine" {
		vm := &infrav1.AzureMachinePoolMachine{}
		if w.Kubernetes.Get(w.T.Context(), key, vm) != nil {
			return ""
		}
		return vm.Spec.ProviderID
	}
	azureMachine := &infrav1.AzureMachine{}
	if w.Kubernetes.Get(w.T.Context(), key, azureMachine) != nil || azureMachine.Spec.ProviderID == nil {
		return ""
	}
	return *azureMachine.Spec.ProviderID
}

// workload is the connection to the cluster c1. It is down while the control-plane VM does not run.
type workload struct {
	clustercache.ClusterCache
	world *world
}

func (w *workload) Watch(context.Context, client.ObjectKey, clustercache.Watcher) error { return nil }

func (w *workload) GetClient(context.Context, client.ObjectKey) (client.Client, error) {
	machines := w.world.machines()
	if !slices.ContainsFunc(machines, func(m clusterv1.Machine) bool { return m.Name == "m1" && w.world.power(m) == "running" }) {
		return nil, clustercache.ErrClusterNotConnected
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	builder := fake.NewClientBuilder().WithScheme(scheme)
	for _, machine := range machines {
		if machine.Status.NodeRef.Name == "" {
			continue
		}
		ready := harness.FindCondition(&machine, clusterv1.MachineNodeReadyCondition)
		builder = builder.WithObjects(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: machine.Status.NodeRef.Name},
			Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady,
				Status: corev1.ConditionStatus(ready.Status), LastTransitionTime: ready.LastTransitionTime}}}})
	}
	return builder.Build(), nil
}

// readPower returns the power state of a VM, "" if there is none. It asks the simulator itself, which counts and throttles no such request.
func (w *world) readPower(vm arm.ID) string {
	recorder := httptest.NewRecorder()
	w.Sim.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/_sim/guests", nil))
	var answer struct{ Guests []server.Guest }
	if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
		w.T.Fatalf("guests: %v: %s", err, recorder.Body)
	}
	for _, guest := range answer.Guests {
		if vm.Equal(arm.ID(guest.VMID)) {
			return guest.PowerState
		}
	}
	return ""
}

// setCondition sets a condition of a Machine.
func setCondition(machine *clusterv1.Machine, conditionType string, status metav1.ConditionStatus) {
	conditions.Set(machine, metav1.Condition{Type: conditionType, Status: status, Reason: "Played"})
}

// objects returns the objects whose VMs can be stopped.
func (w *world) objects() []harness.Conditioned {
	w.T.Helper()
	read := func(object harness.Conditioned, name string) harness.Conditioned {
		w.ReadObject(object.(client.Object), name)
		return object
	}
	return []harness.Conditioned{
		read(&infrav1.AzureMachine{}, "m1"), read(&infrav1.AzureMachine{}, "m2"), read(&infrav1.AzureMachinePool{}, "uniform"),
		read(&infrav1.AzureMachinePool{}, "flexible"),
		read(&infrav1.AzureManagedControlPlane{}, "aks1"), read(&infrav1.AzureASOManagedControlPlane{}, "c2"),
	}
}

// waitReady waits until Ready of all objects has a status.
func (w *world) waitReady(status metav1.ConditionStatus) {
	w.T.Helper()
	w.WaitUntil("Ready of all objects is "+string(status), func() bool {
		return !slices.ContainsFunc(w.objects(), func(object harness.Conditioned) bool {
			return harness.FindCondition(object, infrav1.ReadyCondition).Status != status
		})
	}, w.describe)
}

// waitStopped waits until all objects have the condition Stopped with a status; "" waits until none has it.
func (w *world) waitStopped(status metav1.ConditionStatus) {
	w.T.Helper()
	w.WaitUntil("Stopped of all objects is "+string(status), func() bool {
		return !slices.ContainsFunc(w.objects(), func(object harness.Conditioned) bool {
			return harness.FindCondition(object, infrav1.StoppedCondition).Status != status
		})
	}, w.describe)
}

// describe describes the conditions of all objects.
func (w *world) describe() string {
	var out strings.Builder
	for _, object := range w.objects() {
		for _, condition := range object.GetConditions() {
			fmt.Fprintf(&out, "%T %s %s %s %s %s\n", object, object.GetName(), condition.Type, condition.Status, condition.Reason, condition.Message)
		}
	}
	return out.String()
}

// annotate sets the annotation on the Clusters; "" removes it.
func (w *world) annotate(name, value string) {
	w.T.Helper()
	for _, cluster := range []string{"c1", "aks1", "c2"} {
		harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}, func(c *clusterv1.Cluster) {
			setAnnotation(c, name, value)
		})
	}
}

func setAnnotation(object client.Object, name, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	if annotations[name] = value; value == "" {
		delete(annotations, name)
	}
	object.SetAnnotations(annotations)
}
