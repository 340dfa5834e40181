package rights_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestWithheldActions runs the stories of every feature set with a role from which every action is missing until a condition
// names it. So each action is taken away once, at the request that first needs it; the story stands still there, says which
// action it is, and goes on when it is given.
func TestWithheldActions(t *testing.T) {
	t.Parallel()
	for name, f := range features {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			named := map[string]bool{}
			for story, live := range f.stories {
				t.Run(story, func(t *testing.T) {
					stage := newStage(t)
					w := &withheld{stage: stage, missing: readRole(t, name).Actions}
					grant(stage, nil)
					for action := range f.unnamed {
						w.give(action)
					}
					w.slowDown()
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { defer close(ended); w.watch(ctx) }()
					live(stage)
					cancel()
					<-ended
					for _, action := range w.given {
						named[action] = true
					}
					t.Logf("%d actions were given one after the other", len(w.given)-len(f.unnamed))
				})
			}
			for _, action := range readRole(t, name).Actions {
				if !named[action] && !t.Failed() {
					t.Errorf("no story needed to be given %s", action)
				}
			}
		})
	}
}

// withheld are the actions that the provider's role does not have yet.
type withheld struct {
	stage          *harness.Stage
	missing, given []string
}

// give adds an action to the role.
func (w *withheld) give(action string) {
	w.given = append(w.given, action)
	w.missing = slices.DeleteFunc(w.missing, func(m string) bool { return m == action })
	grant(w.stage, w.given)
}

// watch gives what conditions name, one action at a time, and has everything looked at again. It does the latter once a second
// in any case: a request may have been refused after its action was given and before the look, and an operation's URL is
// asked when its time has come.
func (w *withheld) watch(ctx context.Context) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for tick := 1; ; tick++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		objects := w.objects(ctx)
		again := tick%20 == 0
		for _, object := range objects {
			if action := w.named(object); action != "" {
				w.give(action)
				again = true
				break
			}
		}
		if again {
			w.stage.Advance(2 * time.Minute)
			w.wake(ctx, objects)
		}
	}
}

// slow are types whose first operation takes so long that its URL is asked, which is an action of its own.
var slow = map[string]string{
	"Microsoft.Network/virtualNetworks": "PUT", "Microsoft.Network/networkInterfaces": "DELETE", "Microsoft.Network/privateDnsZones": "PUT",
	"Microsoft.Compute/virtualMachines": "PUT", "Microsoft.Compute/disks": "DELETE", "Microsoft.Resources/resourceGroups": "DELETE",
	"Microsoft.ContainerService/managedClusters": "PUT", "Microsoft.KubernetesConfiguration/extensions": "PUT",
}

func (w *withheld) slowDown() {
	w.stage.T.Helper()
	for typ, method := range slow {
		if err := w.stage.Azure.AddFault(fault.Rule{Kind: fault.Slow, Method: method, Type: typ, Count: 1, Seconds: 6}); err != nil {
			w.stage.T.Fatal(err)
		}
	}
}

// action is one in the words of Azure's refusal, in which several are separated by commas.
var action = regexp.MustCompile(`Microsoft\.[A-Za-z.]+/[A-Za-z/]+`)

// named is an action that is missing and that a condition of the object names, or "".
func (w *withheld) named(object client.Object) string {
	raw, err := json.Marshal(object)
	if err != nil {
		return ""
	}
	var parsed struct {
		Status struct {
			Conditions []struct{ Message string } `json:"conditions"`
		} `json:"status"`
	}
	if json.Unmarshal(raw, &parsed) != nil {
		return ""
	}
	for _, condition := range parsed.Status.Conditions {
		for _, name := range action.FindAllString(condition.Message, -1) {
			if slices.Contains(w.missing, name) {
				return name
			}
		}
	}
	return ""
}

// objects are those whose conditions people look at.
func (w *withheld) objects(ctx context.Context) []client.Object {
	var out []client.Object
	in := client.InNamespace(w.stage.Namespace)
	clusters, machines := &infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}
	controlPlanes, pools, managed := &infrav1.AzureManagedControlPlaneList{}, &infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureManagedClusterList{}
	for _, list := range []client.ObjectList{clusters, machines, controlPlanes, pools, managed} {
		// What cannot be read now is read at the next look.
		_ = w.stage.Client.List(ctx, list, in)
	}
	for i := range clusters.Items {
		out = append(out, &clusters.Items[i])
	}
	for i := range machines.Items {
		out = append(out, &machines.Items[i])
	}
	for i := range controlPlanes.Items {
		out = append(out, &controlPlanes.Items[i])
	}
	for i := range pools.Items {
		out = append(out, &pools.Items[i])
	}
	for i := range managed.Items {
		out = append(out, &managed.Items[i])
	}
	return out
}

// wake has the controllers look at the objects again. One that has gone meanwhile needs it no more.
func (w *withheld) wake(ctx context.Context, objects []client.Object) {
	for _, object := range objects {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"integration-test/woken":"`+uuid.NewString()+`"}}}`))
		_ = w.stage.Client.Patch(ctx, object, patch)
	}
}
