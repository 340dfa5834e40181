package rollout_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool/rollout"
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestManyModels makes a pool larger by one VM again and again, with other bootstrap data each time, as a bootstrap provider renews tokens.
// Azure refuses an eleventh model of VMs. The pool never gets there, no VM is replaced or restarted, and none falls far behind.
func TestManyModels(t *testing.T) {
	for _, times := range []int{12, 20} {
		t.Run(fmt.Sprintf("%d times", times), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := three
				s.replicas = 1
				w := newWorld(t, s)
				w.startWhole()
				w.rules.endChecks()
				models := w.watchModels()
				mark := w.Azure.MarkRequests()
				boots, sent := map[string]string{}, []string{w.latestModel()}
				for n := range times {
					w.renewBootstrapData(n)
					w.settings.replicas++
					w.resizePool()
					w.waitUntil("the pool is larger", w.isWhole)
					sent = append(sent, w.latestModel())
					for name, boot := range w.listBoots() {
						if before, there := boots[name]; there && before != boot {
							t.Errorf("%s booted anew", name)
						}
						boots[name] = boot
					}
				}
				w.waitUntil("nothing is left to do", w.isWhole)
				asked := countCalls(w.Azure, mark)
				t.Logf("%d scale-ups: at most %d models in use, no VM more than %d models behind at the end: %s", times, models.maxModels(),
					w.countModelsBehind(sent),
					formatFigures(asked))
				if asked["PUT refused"] > 0 || asked["POST refused"] > 0 || asked["POST"] == 0 {
					t.Errorf("VMs are brought to the latest model, and no write is refused: %s", formatFigures(asked))
				}
				if most := models.maxModels(); most >= rollout.MaxModels {
					t.Errorf("VMs were of %d models at a time, and Azure allows %d", most, rollout.MaxModels)
				}
				if behind := w.countModelsBehind(sent); behind >= rollout.MaxModels/2 {
					t.Errorf("a VM is %d models behind at the end", behind)
				}
				if len(boots) != times+1 || len(w.listVMNames()) != times+1 {
					t.Errorf("VMs were replaced: %d were seen, %d exist", len(boots), len(w.listVMNames()))
				}
				if !models.hasReported() {
					t.Error("no condition reported that VMs were brought to the latest model")
				}
			})
		})
	}
}

// TestManyModelsAtRest makes a pool larger with other bootstrap data twelve times, as TestManyModels does, and leaves it alone after each time.
// So the manager brings VMs to the latest model before the next change, and a plan of that step has the same writes.
func TestManyModelsAtRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := three
		s.replicas = 1
		w := newWorld(t, s)
		w.startWhole()
		w.rules.endChecks()
		models := w.watchModels()
		mark := w.Azure.MarkRequests()
		for n := range 12 {
			w.renewBootstrapData(n)
			w.settings.replicas++
			w.resizePool()
			w.waitUntil("the pool is larger", w.isWhole)
			rested := time.Now().Add(time.Hour)
			w.waitUntil("an hour is over", func() bool { return time.Now().After(rested) })
		}
		asked := countCalls(w.Azure, mark)
		t.Logf("12 scale-ups with an hour between: at most %d models in use: %s", models.maxModels(), formatFigures(asked))
		if asked["PUT refused"] > 0 || asked["POST refused"] > 0 || asked["POST"] == 0 {
			t.Errorf("VMs are brought to the latest model, and no write is refused: %s", formatFigures(asked))
		}
	})
}

// TestManyTemplates makes a pool larger again and again, with another template each time that VMs get only when they are made anew. Azure
// refuses an eleventh model of VMs. VMs of the oldest models are replaced before that, within the limits of the rollout.
func TestManyTemplates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := three
		w := newWorld(t, s)
		w.startWhole()
		models := w.watchModels()
		mark := w.Azure.MarkRequests()
		for n := range 12 {
			harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
				func(p *infrav1.AzureMachinePool) {
					p.Spec.Template.Diagnostics = &infrav1.Diagnostics{Boot: &infrav1.BootDiagnostics{
						StorageAccountType: infrav1.UserManagedDiagnosticsStorage,
						UserManaged:        &infrav1.UserManagedBootDiagnostics{StorageAccountURI: fmt.Sprintf("https://logs%d.blob.core.windows.net/", n)},
					}}
				})
			w.renewBootstrapData(n)
			w.rules.endChecks()
			w.settings.replicas++
			w.resizePool()
			w.waitUntil("the pool is larger", w.hasGrown)
			w.rules.beginChecks()
			w.waitUntil("no VM is of a model too many", w.isWhole)
			w.rules.checkRollout(fmt.Sprintf("template %d", n))
		}
		asked := countCalls(w.Azure, mark)
		t.Logf("12 templates: at most %d models in use: %s", models.maxModels(), formatFigures(asked))
		if asked["PUT refused"] > 0 || models.maxModels() >= rollout.MaxModels {
			t.Errorf("VMs were of %d models at a time, and Azure allows %d: %s", models.maxModels(), rollout.MaxModels, formatFigures(asked))
		}
		if names := w.listVMNames(); slices.Contains(names, poolName+"-0") || !slices.Contains(names, poolName+"-14") {
			t.Errorf("the oldest VM has to be replaced, and few others: %v", names)
		}
	})
}

// TestTemplatesDuringRollout changes the template 15 times while VMs are still replaced because of the first change, and no VM may be missing
// meanwhile. Models with several VMs each pile up. The pool holds the template back before Azure refuses one, and ends with the last one.
func TestTemplatesDuringRollout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{replicas: 24,
			strategy: infrav1.MachineRollingUpdateDeployment{MaxSurge: new(intstr.FromInt32(2)), MaxUnavailable: new(intstr.FromInt32(0))}})
		w.startWhole()
		models := w.watchModels()
		mark := w.Azure.MarkRequests()
		var size int32
		for n := range 15 {
			size = int32(64 + n)
			harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
				func(p *infrav1.AzureMachinePool) { p.Spec.Template.OSDisk.DiskSizeGB = new(size) })
			w.renewBootstrapData(n)
			changed := time.Now()
			w.waitUntil("two VMs are of the template and Ready, or it waits", func() bool {
				return w.readyWith(int(size)) >= 2 || time.Since(changed) > 6*time.Minute
			})
			if w.isWhole() {
				t.Fatalf("the rollout of template %d is over already", n)
			}
		}
		w.waitUntil("all VMs are of the last template", w.isWhole)
		w.rules.checkRollout("templates")
		for _, line := range w.Azure.RequestsSince(mark) {
			// 412 means that the scale set was written since the manager read it, by a deletion of VMs that has just ended.
			if parts := strings.Fields(line); parts[0] != "GET" && parts[2] >= "400" && parts[2] != "412" {
				t.Errorf("a write was refused: %s", line)
			}
		}
		asked := countCalls(w.Azure, mark)
		t.Logf("15 templates: at most %d models in use: %s", models.maxModels(), formatFigures(asked))
		if most := models.maxModels(); most >= rollout.MaxModels {
			t.Errorf("VMs were of %d models at a time: no model was left in reserve of the %d that Azure allows", most, rollout.MaxModels)
		}
		if !models.isHeld() {
			t.Error("no condition reported that a new template waits")
		}
		for name, vm := range w.rules.listInstances() {
			if got := diskOf(vm); got != int(size) {
				t.Errorf("%s has a disk of %d GB, and the last template one of %d", name, got, size)
			}
		}
		mark = w.Azure.MarkRequests()
		later := time.Now().Add(30 * time.Minute)
		w.waitUntil("half an hour is over", func() bool { return time.Now().After(later) })
		if asked := countCalls(w.Azure, mark); asked["PUT"]+asked["POST"]+asked["PATCH"] > 0 {
			t.Errorf("writes to a pool that is as wanted: %s", formatFigures(asked))
		}
	})
}

// readyWith returns how many Ready VMs have a disk of this size.
func (w *world) readyWith(size int) (count int) {
	w.rules.mu.Lock()
	defer w.rules.mu.Unlock()
	ready := w.rules.listStaying(w.t.Context())
	for name, vm := range w.rules.listInstances() {
		if ready[name] && diskOf(vm) == size {
			count++
		}
	}
	return count
}

// hasGrown reports whether there are as many Ready VMs as are wanted, or more.
func (w *world) hasGrown() bool {
	vms := &infrav1.AzureMachinePoolMachineList{}
	if err := w.Kubernetes.List(w.t.Context(), vms); err != nil {
		w.t.Fatal(err)
	}
	ready := 0
	for _, vm := range vms.Items {
		if vm.Status.Ready && vm.DeletionTimestamp.IsZero() {
			ready++
		}
	}
	return ready >= int(w.settings.replicas)
}

// renewBootstrapData gives the VMs that come next other bootstrap data.
func (w *world) renewBootstrapData(n int) {
	w.t.Helper()
	harness.ChangeObject(w.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: poolName}}, func(s *corev1.Secret) {
		s.Data = map[string][]byte{"value": fmt.Appendf(nil, "#cloud-config token %d", n)}
	})
}

// resizePool gives the MachinePool the replicas of the settings.
func (w *world) resizePool() {
	w.t.Helper()
	harness.ChangeObject(w.Stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
		func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(w.settings.replicas) })
}

// countModelsBehind is by how many of the models the oldest model of a VM is behind the last one.
func (w *world) countModelsBehind(models []string) (most int) {
	for _, vm := range w.rules.listInstances() {
		most = max(most, len(models)-1-slices.Index(models, modelOf(vm)))
	}
	return most
}

// latestModel returns the model of the scale set.
func (w *world) latestModel() string {
	for _, resource := range w.Sim.State() {
		if strings.HasSuffix(body.String(resource, "id"), "/virtualMachineScaleSets/"+poolName) {
			return modelOf(resource)
		}
	}
	return ""
}

// modelOf tells apart the models of VMs whose templates differ in bootstrap data and the size of the disk only.
func modelOf(resource body.Object) string {
	return fmt.Sprint(body.String(resource, "tags."+infrav1.CustomDataHashTag), " ", diskOf(resource))
}

// diskOf returns the size of the disk of a VM, or of those that a scale set makes.
func diskOf(resource body.Object) int {
	return cmp.Or(body.Int(resource, "properties.storageProfile.osDisk.diskSizeGB"),
		body.Int(resource, "properties.virtualMachineProfile.storageProfile.osDisk.diskSizeGB"))
}

// listBoots returns the boots of the VMs.
func (w *world) listBoots() map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, guest := range w.listGuests() {
		out[guest.VMID] = guest.BootID
	}
	return out
}

// listGuests returns the VMs as the hypervisor has them.
func (w *world) listGuests() []server.Guest {
	w.t.Helper()
	recorder := httptest.NewRecorder()
	w.Sim.Handler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/_sim/guests", nil))
	var page struct{ Guests []server.Guest }
	if err := json.Unmarshal(recorder.Body.Bytes(), &page); err != nil {
		w.t.Fatalf("guests: %v: %s", err, recorder.Body)
	}
	return page.Guests
}

// models watches of how many models the VMs are.
type models struct {
	mu    sync.Mutex
	count int
	// shown is set if a condition reported that VMs are brought to the latest model, waited if one reported that a new template waits.
	shown, waited bool
}

func (m *models) maxModels() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count
}

func (m *models) hasReported() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.shown
}

func (m *models) isHeld() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.waited
}

// watchModels looks after each write to Azure.
func (w *world) watchModels() *models {
	m, written := &models{}, w.Written
	w.Written = func(request *http.Request) {
		written(request)
		var hashes []string
		for _, vm := range w.rules.listInstances() {
			if hash := modelOf(vm); !slices.Contains(hashes, hash) {
				hashes = append(hashes, hash)
			}
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.count = max(m.count, len(hashes))
	}
	w.meanwhile = func() {
		azurePool := &infrav1.AzureMachinePool{}
		if w.Kubernetes.Get(w.t.Context(), client.ObjectKey{Namespace: w.Namespace, Name: poolName}, azurePool) != nil {
			return
		}
		condition := harness.FindCondition(azurePool, infrav1.ScaleSetModelUpdatedCondition)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.shown = m.shown || condition.Reason == infrav1.ScaleSetModelLimitReason && condition.Status == metav1.ConditionTrue &&
			condition.Message != ""
		m.waited = m.waited || condition.Reason == infrav1.ScaleSetModelLimitReason &&
			strings.Contains(condition.Message, "The new template is applied once VMs of the oldest model are gone")
	}
	return m
}
