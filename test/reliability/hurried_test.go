package reliability_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// pauses are the possible times between two changes of a user who does not wait.
var pauses = []time.Duration{0, time.Second, 5 * time.Second, 20 * time.Second, time.Minute, 3 * time.Minute, 10 * time.Minute}

// inHurry separates the name of a story from the seed of the pauses.
const inHurry = " hurried by "

// hurriedStories returns the stages of stories. The first stage prepares resources that stay; the last one, which deletes, is not played. In a
// resource group that users bring, resources are deleted one by one.
func hurriedStories() map[string][]stage {
	out := map[string][]stage{"AKS, brought": broughtStages["AKS, brought"].stages}
	for name, story := range allStories() {
		out[name] = append([]stage{{"nothing", func(*world) {}}}, story.stages...)
	}
	for _, name := range []string{"default", "pool"} {
		out[name+", brought"] = append([]stage{broughtStages["brought"].stages[0]}, allStories()[name].stages...)
	}
	return out
}

// TestExploredInHurry lives stories as TestExplored does, with a user who does not wait for anything: each change comes some time after the one
// before, and after some changes everything is deleted, in the order of Cluster API. In the end all objects are gone, and so is everything in Azure.
//
//	go test ./test/reliability -run ExploredInHurry -seed 1 -seeds 100
func TestExploredInHurry(t *testing.T) {
	for name := range hurriedStories() {
		t.Run(name, func(t *testing.T) {
			for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
				t.Run(fmt.Sprint(seed), func(t *testing.T) {
					story := name + inHurry + strconv.FormatUint(seed, 10)
					stages, _ := findLife(t, story)
					explorer := virtual.NewExplorer(seed, virtual.UsualRates())
					// A test that fails in a bubble ends here.
					defer func() {
						if t.Failed() {
							t.Log(describeFailure(t, story, seed, explorer))
						}
					}()
					synctest.Test(t, func(t *testing.T) { playExplored(t, stages, nil, explorer) })
				})
			}
		})
	}
}

// findLife returns the stages of a story, and how they end when nothing goes wrong. A story in a hurry checks its own end.
func findLife(t *testing.T, name string) ([]stage, []ended) {
	t.Helper()
	if of, known := allStories()[name]; known {
		return of.stages, playUndisturbed(t, of.stages)
	}
	of, number, _ := strings.Cut(name, inHurry)
	seed, err := strconv.ParseUint(number, 10, 64)
	stages, known := hurriedStories()[of]
	if err != nil || !known {
		t.Fatalf("there is no story %q", name)
	}
	return []stage{hurriedStage(stages, rand.New(rand.NewPCG(seed, 0)))}, nil
}

// hurriedStage plays the first stage, some of the following ones without waiting for their ends, and deletes everything that came after the first.
func hurriedStage(stages []stage, random *rand.Rand) stage {
	prepare, stages := stages[0], stages[1:]
	changes := 1 + random.IntN(len(stages)-1)
	drawn := make([]time.Duration, 100)
	for i := range drawn {
		drawn[i] = pauses[random.IntN(len(pauses))]
	}
	return stage{fmt.Sprintf("%d hurried changes", changes), func(w *world) {
		prepare.play(w)
		before := w.ReadAzureState()
		next := 0
		w.Hurry = func() time.Duration { next++; return drawn[next%len(drawn)] }
		for _, stage := range stages[:changes] {
			stage.play(w)
		}
		w.Hurry = nil
		w.deleteAll()
		w.waitUntilStable()
		for _, difference := range before.ListDifferences(w.ReadAzureState()) {
			w.T.Error(difference)
		}
	}}
}

// CopyInfrastructure plays Cluster API, which copies the endpoint of a provisioned cluster. If Hurry is set, copyProvisioned does it later.
func (w *world) CopyInfrastructure(name string) {
	w.T.Helper()
	if w.Hurry != nil {
		w.unprovisioned = name
		return
	}
	w.Scenario.CopyInfrastructure(name)
}

// copyProvisioned calls CopyInfrastructure for the cluster for which it was called too early, once that cluster is provisioned.
func (w *world) copyProvisioned() {
	if w.unprovisioned == "" {
		return
	}
	azureCluster := &infrav1.AzureCluster{}
	w.ReadObject(azureCluster, w.unprovisioned)
	if provisioned := azureCluster.Status.Initialization.Provisioned; provisioned != nil && *provisioned {
		w.Scenario.CopyInfrastructure(w.unprovisioned)
		w.unprovisioned = ""
	}
}

// deleteAll deletes everything as Cluster API does for the deletion of a Cluster: first what belongs to machines and pools, then control planes, then
// the infrastructure of clusters.
func (w *world) deleteAll() {
	w.T.Helper()
	w.unprovisioned = ""
	clusters := w.listAll(&clusterv1.ClusterList{})
	w.DeleteObjects(clusters...)
	var members, owners []client.Object
	for _, machine := range w.listAll(&infrav1.AzureMachineList{}) {
		members, owners = append(members, machine), append(owners, &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: machine.GetName()}})
		w.DeleteObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: machine.GetName()}})
	}
	for _, pool := range w.listAll(&infrav1.AzureMachinePoolList{}, &infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedMachinePoolList{}) {
		members, owners = append(members, pool), append(owners, virtual.MachinePool(pool.GetName()))
	}
	w.DeleteObjects(append(owners, members...)...)
	for i, member := range members {
		w.WaitUntilGone(member)
		w.RemoveFinalizers(owners[i])
	}
	// The garbage collector deletes those whose pool is gone.
	for _, vm := range w.listAll(&infrav1.AzureMachinePoolMachineList{}, &clusterv1.MachineList{}) {
		w.DeleteObjects(vm)
		w.WaitUntilGone(vm)
	}
	for _, object := range w.listAll(&infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureASOManagedControlPlaneList{}, &infrav1.AzureClusterList{},
		&infrav1.AzureManagedClusterList{}, &infrav1.AzureASOManagedClusterList{}) {
		w.DeleteObjects(object)
		w.WaitUntilGone(object)
	}
	for _, cluster := range clusters {
		w.RemoveFinalizers(cluster)
		w.WaitUntilGone(cluster)
	}
}

// listAll returns the objects of lists.
func (w *world) listAll(lists ...client.ObjectList) (out []client.Object) {
	w.T.Helper()
	for _, list := range lists {
		err := w.Kubernetes.List(w.T.Context(), list, client.InNamespace(w.Namespace))
		objects, extracted := apimeta.ExtractList(list)
		if err = errors.Join(err, extracted); err != nil {
			w.T.Fatal(err)
		}
		for _, object := range objects {
			out = append(out, object.(client.Object))
		}
	}
	return out
}
