package leftovers_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	computePath    = "resourceGroups/c1/providers/Microsoft.Compute/"
	computeVersion = "2025-04-01"
	diskVersion    = "2025-01-02"
	diskPath       = computePath + "disks/"
	nodes          = "nodes" // name of the machine or the pool
	tagRequest     = "PATCH resourceGroups/c1/Microsoft.Compute/disks/pvc-1/providers/Microsoft.Resources/tags/default"
	disksRequest   = "GET resourceGroups/c1/Microsoft.Compute/disks"
)

// volumeWorld is a cluster in a resource group of the user's with one machine, or a pool of one VM.
type volumeWorld struct {
	*virtual.Scenario
	recorder *events.FakeRecorder
	// mode is the orchestration mode of the pool, "" for a machine.
	mode infrav1.OrchestrationMode
}

func newVolumeWorld(t *testing.T, mode infrav1.OrchestrationMode) *volumeWorld {
	t.Helper()
	w := &volumeWorld{Scenario: virtual.New(t), recorder: events.NewFakeRecorder(1000), mode: mode}
	w.Recorder = w.recorder
	player := &harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
	w.Meanwhile = func() { player.PlayOnce(w.T.Context()) }
	w.StartProvider()
	w.PutAsUser("resourceGroups/c1", "2021-04-01", body{"location": "eastus"})
	w.ApplyNetwork("c1", nil)
	w.WaitReady(&infrav1.AzureCluster{}, "c1")
	w.CopyInfrastructure("c1")
	if mode == "" {
		w.ApplyMachine("c1", nodes, harness.Worker)
		w.WaitMachineProvisioned(nodes)
		return w
	}
	pool := w.AzureMachinePool("c1", nodes)
	pool.Spec.OrchestrationMode = mode
	defaults.FillAzureMachinePool(pool, "")
	w.CreatePool(pool, 1)
	w.WaitUntil("the pool is Ready",
		virtual.ObjectMatches(w.Scenario, &infrav1.AzureMachinePool{}, nodes, func(p *infrav1.AzureMachinePool) bool {
			return harness.IsReady(p) && len(p.Spec.ProviderIDList) == 1
		}))
	return w
}

// resourcePath returns the path of the VM of the machine, or of the scale set of the pool.
func (w *volumeWorld) resourcePath() string {
	if w.mode == "" {
		return computePath + "virtualMachines/" + nodes
	}
	return computePath + "virtualMachineScaleSets/" + nodes
}

// vmPath returns the path of the VM.
func (w *volumeWorld) vmPath() string {
	w.T.Helper()
	if w.mode == "" {
		return w.resourcePath()
	}
	pool := &infrav1.AzureMachinePool{}
	w.ReadObject(pool, nodes)
	return strings.TrimPrefix(pool.Spec.ProviderIDList[0], "azure:///subscriptions/"+w.Azure.SubscriptionID+"/")
}

// sendRequest sends a request of the user's, which has to succeed.
func (w *volumeWorld) sendRequest(method, path, apiVersion string, content body) {
	w.T.Helper()
	if status, answer := w.SendAsUser(method, path, apiVersion, content); status > 299 {
		w.T.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	w.WaitAzureIdle()
}

// createDisk makes a disk, with the tags of the CSI driver unless others are given.
func (w *volumeWorld) createDisk(name string, tags body) {
	w.T.Helper()
	if tags == nil {
		tags = body{"kubernetes.io-created-for-pvc-name": "data", "k8s-azure-created-by": "kubernetes-azure-dd"}
	}
	w.PutAsUser(diskPath+name, diskVersion, body{"location": "eastus", "sku": body{"name": "Premium_LRS"}, "tags": tags,
		"properties": body{"creationData": body{"createOption": "Empty"}, "diskSizeGB": 8}})
}

// attachDisk attaches a disk to a VM, as the CSI driver does.
func (w *volumeWorld) attachDisk(vm, disk string) {
	w.T.Helper()
	w.sendRequest(http.MethodPost, vm+"/attachDetachDataDisks", computeVersion,
		body{"dataDisksToAttach": []any{body{"diskId": "/subscriptions/" + w.Azure.SubscriptionID + "/" + diskPath + disk}}})
}

func (w *volumeWorld) requestDeletion() {
	w.T.Helper()
	harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		c.Annotations[infrav1.DeleteLeftoversAnnotation] = "true"
	})
}

// readDiskTag returns the value of the tag on a disk, "" for none.
func (w *volumeWorld) readDiskTag(disk string) string {
	w.T.Helper()
	_, answer := w.SendAsUser(http.MethodGet, diskPath+disk, diskVersion, nil)
	var shown struct{ Tags map[string]string }
	if err := json.Unmarshal(answer, &shown); err != nil {
		w.T.Fatal(err)
	}
	return shown.Tags[infrav1.VolumeTag]
}

func (w *volumeWorld) listDisks() (out []string) {
	for _, name := range []string{"pvc-1", "pvc-2", "data-1", "kept-1"} {
		if status, _ := w.SendAsUser(http.MethodGet, diskPath+name, diskVersion, nil); status == http.StatusOK {
			out = append(out, name)
		}
	}
	return out
}

// removeNodes deletes the machine or the pool.
func (w *volumeWorld) removeNodes() {
	w.T.Helper()
	var owner, object client.Object = &clusterv1.Machine{}, &infrav1.AzureMachine{}
	if w.mode != "" {
		owner, object = &clusterv1.MachinePool{}, &infrav1.AzureMachinePool{}
	}
	for _, one := range []client.Object{owner, object} {
		one.SetName(nodes)
	}
	w.DeleteObjects(owner)
	// The deletion of the owner causes a sync, which would otherwise come before or after the deletion of the object.
	virtual.WaitForSignal(nil, time.Second)
	w.DeleteObjects(object)
	w.WaitUntilGone(object)
	w.RemoveFinalizers(owner)
}

// deleteCluster deletes the cluster in the order of Cluster API, and returns the last message of LeftoversDeleted.
func (w *volumeWorld) deleteCluster() (said string) {
	w.T.Helper()
	owner, azureCluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	w.DeleteObjects(owner)
	w.removeNodes()
	w.DeleteObjects(azureCluster)
	w.WaitUntil("the cluster is gone", func() bool {
		err := w.Kubernetes.Get(w.T.Context(), client.ObjectKey{Namespace: w.Namespace, Name: "c1"}, azureCluster)
		if message := harness.FindCondition(azureCluster, infrav1.LeftoversCondition).Message; err == nil && message != "" {
			said = message
		}
		return apierrors.IsNotFound(err)
	})
	return said
}

func (w *volumeWorld) readEvents() (out string) {
	for range len(w.recorder.Events) {
		out += <-w.recorder.Events + "\n"
	}
	return out
}

// modes are the kinds of VMs: a machine, and pools of both orchestration modes.
var modes = map[string]infrav1.OrchestrationMode{"machine": "", "uniform pool": infrav1.UniformOrchestration,
	"flexible pool": infrav1.FlexibleOrchestration}

// countRequests returns how often requests begin with a text.
func countRequests(requests []string, start string) (n int) {
	for _, request := range requests {
		if strings.HasPrefix(request+" ", start+" ") {
			n++
		}
	}
	return n
}

// refuseTags makes Azure refuse to tag the disk pvc-1.
func refuseTags(w *volumeWorld, status int, code string, times int) {
	w.T.Helper()
	rule := fault.Rule{Method: http.MethodPatch, ID: "*/disks/pvc-1/providers/microsoft.resources/tags/default", Kind: fault.Status,
		Status: status, Code: code, Count: times}
	if err := w.Azure.AddFault(rule); err != nil {
		w.T.Fatal(err)
	}
}

// TestVolumes deletes a cluster in a group of the user's whose machine has the disk of a volume attached.
func TestVolumes(t *testing.T) {
	for kind, mode := range modes {
		for name, test := range map[string]struct {
			reason string
			asked  bool
			// prepare comes after the disk pvc-1 is attached.
			prepare func(*volumeWorld)
			// want are the disks that stay, warning is in an event.
			want    []string
			warning string
			// tags is how often the tag of pvc-1 is sent.
			tags int
		}{
			"asked":     {"the VM that had it attached was the cluster's", true, nil, nil, "", 1},
			"not asked": {"it is only reported", false, nil, []string{"pvc-1"}, "disks/pvc-1", 0},
			"refused": {"the deletion goes on without the tag", true, func(w *volumeWorld) {
				refuseTags(w, http.StatusForbidden, "AuthorizationFailed", -1)
			}, []string{"pvc-1"}, "Azure refused to tag disks/pvc-1", 1},
			"busy": {"the deletion waits for ten minutes, in which the tag is sent every 15 seconds, and then goes on without it", true,
				func(w *volumeWorld) {
					refuseTags(w, http.StatusServiceUnavailable, "ServiceUnavailable", -1)
				}, []string{"pvc-1"}, "Azure refused to tag disks/pvc-1", 40},
			"refused, and the VM cannot be deleted": {"the tag is sent again when its time has come, and not with each try of the deletion", true,
				func(w *volumeWorld) {
					refuseTags(w, http.StatusForbidden, "AuthorizationFailed", -1)
					if err := w.Azure.AddFault(fault.Rule{Method: http.MethodDelete, ID: "*/" + strings.ToLower(w.resourcePath()), Kind: fault.Status,
						Status: http.StatusConflict, Code: "ScopeLocked", Count: 3}); err != nil {
						w.T.Fatal(err)
					}
				}, []string{"pvc-1"}, "Azure refused to tag disks/pvc-1", 3},
			"busy once": {"it is sent again", true, func(w *volumeWorld) {
				refuseTags(w, http.StatusConflict, "AnotherOperationInProgress", 1)
			}, nil, "", 2},
			"user's disk": {"it does not come from the CSI driver", true,
				func(w *volumeWorld) { w.createDisk("data-1", body{"team": "a"}); w.attachDisk(w.vmPath(), "data-1") }, []string{"data-1"}, "", 1},
			"kept": {"its user has given it up for the provider", true, func(w *volumeWorld) {
				w.createDisk("kept-1", body{"kubernetes.io-created-for-pvc-name": "k", infrav1.ClusterTagKey("c1"): "shared"})
				w.attachDisk(w.vmPath(), "kept-1")
			}, []string{"kept-1"}, "", 1},
			"never attached": {"nothing shows whose it is", true, func(w *volumeWorld) { w.createDisk("pvc-2", nil) }, []string{"pvc-2"},
				"disks/pvc-2",
				1},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newVolumeWorld(t, mode)
					w.createDisk("pvc-1", nil)
					w.attachDisk(w.vmPath(), "pvc-1")
					if test.prepare != nil {
						test.prepare(w)
					}
					if test.asked {
						w.requestDeletion()
					}
					mark := w.Azure.MarkRequests()
					said := w.deleteCluster()
					if diff := cmp.Diff(test.want, w.listDisks()); diff != "" {
						t.Errorf("%s: other disks stay (-want +got):\n%s\n%s\n%s", test.reason, diff, said, strings.Join(w.Azure.RequestsSince(mark), "\n"))
					}
					if events := w.readEvents(); !strings.Contains(events, test.warning) || test.warning != "" &&
						!strings.Contains(events, "Warning "+infrav1.LeftBehindInAzureReason) {
						t.Errorf("%s: no event has %q:\n%s", test.reason, test.warning, events)
					}
					requests := w.Azure.RequestsSince(mark)
					if got := countRequests(requests, tagRequest); got != test.tags {
						t.Errorf("%s: %d requests for tags, want %d", test.reason, got, test.tags)
					}
					if lists := countRequests(requests, disksRequest); !test.asked && lists > 0 {
						t.Errorf("%s: disks are listed %d times", test.reason, lists)
					}
				})
			})
		}
	}
}

// TestVolumesElsewhere gives the disk of a volume the tag of a cluster that is being deleted while the VM of another cluster has it attached.
func TestVolumesElsewhere(t *testing.T) {
	for kind, mode := range modes {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newVolumeWorld(t, mode)
				w.createDisk("pvc-1", nil)
				w.attachDisk(w.vmPath(), "pvc-1")
				w.requestDeletion()
				owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
				w.DeleteObjects(owner)
				w.removeNodes()
				if w.readDiskTag("pvc-1") == "" {
					t.Fatal("the disk has no tag")
				}
				w.PutAsUser(computePath+"virtualMachines/theirs", computeVersion, createForeignVM(w))
				w.attachDisk(computePath+"virtualMachines/theirs", "pvc-1")
				mark := w.Azure.MarkRequests()
				azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
				w.DeleteObjects(azureCluster)
				w.WaitUntilGone(azureCluster)
				if diff := cmp.Diff([]string{"pvc-1"}, w.listDisks()); diff != "" {
					t.Errorf("other disks stay (-want +got):\n%s", diff)
				}
				if slices.ContainsFunc(w.Azure.WritesSince(mark), func(write string) bool { return strings.Contains(write, "disks/pvc-1") }) {
					t.Errorf("the disk is written: %q", w.Azure.WritesSince(mark))
				}
			})
		})
	}
}

// TestVolumesOfReplacedMachine deletes a machine of a cluster that stays: its volumes stay in use, so they get no tag and cost no request.
func TestVolumesOfReplacedMachine(t *testing.T) {
	for kind, mode := range modes {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newVolumeWorld(t, mode)
				w.createDisk("pvc-1", nil)
				w.attachDisk(w.vmPath(), "pvc-1")
				w.requestDeletion()
				mark := w.Azure.MarkRequests()
				w.removeNodes()
				if got := w.readDiskTag("pvc-1"); got != "" {
					t.Errorf("the disk has the tag %q", got)
				}
				if lists := countRequests(w.Azure.RequestsSince(mark), disksRequest); lists > 0 {
					t.Errorf("disks are listed %d times", lists)
				}
			})
		})
	}
}

// createForeignVM returns a VM that is in no cluster.
func createForeignVM(w *volumeWorld) body {
	id := "/subscriptions/" + w.Azure.SubscriptionID + "/"
	w.PutAsUser("resourceGroups/other", "2021-04-01", body{"location": "eastus"})
	const network = "resourceGroups/other/providers/Microsoft.Network/"
	w.PutAsUser(network+"virtualNetworks/net", version,
		body{"location": "eastus", "properties": body{"addressSpace": body{"addressPrefixes": []any{"10.0.0.0/16"}},
			"subnets": []any{body{"name": "nodes", "properties": body{"addressPrefix": "10.0.0.0/24"}}}}})
	w.PutAsUser(network+"networkInterfaces/nic", version,
		body{"location": "eastus",
			"properties": body{"ipConfigurations": []any{body{"name": "ip",
				"properties": body{"subnet": body{"id": id + network + "virtualNetworks/net/subnets/nodes"}}}}}})
	return body{"location": "eastus", "properties": body{
		"hardwareProfile": body{"vmSize": "Standard_D2s_v3"},
		"storageProfile": body{"imageReference": body{"publisher": "Canonical", "offer": "0001-com-ubuntu-server-jammy", "sku": "22_04-lts-gen2",
			"version": "latest"},
			"osDisk": body{"createOption": "FromImage", "managedDisk": body{"storageAccountType": "Premium_LRS"}}},
		"osProfile": body{"computerName": "theirs", "adminUsername": "me",
			"linuxConfiguration": body{"disablePasswordAuthentication": true,
				"ssh": body{"publicKeys": []any{body{"path": "/home/me/.ssh/authorized_keys", "keyData": harness.SSHKey}}}}},
		"networkProfile": body{"networkInterfaces": []any{body{"id": id + network + "networkInterfaces/nic"}}},
	}}
}

// TestVolumesRequests counts the requests for tagging one disk: the requests of a deletion with the annotation beyond those of one
// without it.
func TestVolumesRequests(t *testing.T) {
	for kind, mode := range modes {
		t.Run(kind, func(t *testing.T) {
			deletion := func(asked, volume bool) map[string]int {
				out := map[string]int{}
				synctest.Test(t, func(t *testing.T) {
					w := newVolumeWorld(t, mode)
					if asked {
						w.requestDeletion()
					}
					if volume {
						w.createDisk("pvc-1", nil)
						w.attachDisk(w.vmPath(), "pvc-1")
					}
					w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
					// The deletion of the Cluster causes one more sync of its objects. After a sync period, no run has younger reads than another.
					virtual.WaitForSignal(nil, 15*time.Minute)
					mark := w.Azure.MarkRequests()
					w.removeNodes()
					for _, request := range w.Azure.RequestsSince(mark) {
						if strings.HasPrefix(request, http.MethodDelete) {
							break // What follows polls the deletion.
						}
						out[request]++
					}
				})
				return out
			}
			added := func(volume bool) map[string]int {
				out := deletion(true, volume)
				for request, times := range deletion(false, volume) {
					if out[request] -= times; out[request] == 0 {
						delete(out, request)
					}
				}
				return out
			}
			instances := map[string]int{}
			switch mode {
			case infrav1.UniformOrchestration:
				instances["GET resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/nodes/virtualMachines 200"] = 1
			case infrav1.FlexibleOrchestration:
				instances["GET resourceGroups/c1/Microsoft.Compute/virtualMachines 200"] = 1
			}
			if diff := cmp.Diff(instances, added(false)); diff != "" {
				t.Errorf("without a volume (-want +got):\n%s", diff)
			}
			instances[disksRequest+" 200"], instances[tagRequest+" 200"] = 1, 1
			if diff := cmp.Diff(instances, added(true)); diff != "" {
				t.Errorf("with a volume (-want +got):\n%s", diff)
			}
		})
	}
}
